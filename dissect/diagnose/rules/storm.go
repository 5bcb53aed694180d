package rules

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Thresholds of storms of metadata requests.
var (
	stormRepeats = diagnose.Threshold{Name: "requests of a client about the same file", Value: 100, Unit: "requests",
		Reason: "a client that has cached a file need not ask again; find and ls ask once for each file"}
	stormRate = diagnose.Threshold{Name: "of them in a second", Value: 5, Unit: "requests",
		Reason: "less does not load a server"}
	stormWarning = diagnose.Threshold{Name: "requests about the same file, for a warning", Value: 1000, Unit: "requests",
		Reason: "then the client does little else"}
	stormJobRate = diagnose.Threshold{Name: "requests of a job in a second, for 10 s", Value: 1000, Unit: "requests",
		Reason: "an MDT serves some ten thousand in a second for all; a single ls -lR or find stays below it"}
	stormJobShare = diagnose.Threshold{Name: "share of a job in all such requests", Value: 50, Unit: "%",
		Reason: "else the load comes from many"}

	stormThresholds = []*diagnose.Threshold{&stormRepeats, &stormRate, &stormWarning, &stormJobRate, &stormJobShare}
)

// stormPause ends a series of requests about the same file, and stormWindow is how
// long requests of a job are counted, in nanoseconds.
const (
	stormPause  = int64(30e9)
	stormWindow = int64(10e9)
	maxStorms   = 1 << 13 // files, and jobs
)

// stormMeaning ends the description of each of these rules.
const stormMeaning = " The rule counts the requests of a client about the same file, and those of each job in all. Many requests of a job about many different files are a note only, as a find or a backup makes them, too."

// storm counts metadata requests of a kind, by file and by job.
type storm struct {
	report *diagnose.Reporter
	what   string // that is asked for, as in "the attributes of"
	noun   string // of a request
	is     func(*track.RPC, *dissect.Message) bool

	files  *fifo.Map[stormFile, stormCount]
	jobs   *fifo.Map[stormJob, stormCount]
	seed   maphash.Seed
	window int64 // its number
	all    int64 // requests in it
}

// stormFile is a file that a client asks about.
type stormFile struct {
	client lnet.NID
	file   track.FID
	name   uint64 // hash of the name in the directory file, 0: none
}

// stormJob is a job, or a client that sends none.
type stormJob struct {
	job    [32]byte
	client lnet.NID
}

// stormCount counts requests.
type stormCount struct {
	count       int64
	first, last track.Point
}

// startStorm starts a rule about metadata requests.
func startStorm(r *diagnose.Reporter, what, noun string, is func(*track.RPC, *dissect.Message) bool, opcodes ...uint32) diagnose.Hooks {
	s := &storm{report: r, what: what, noun: noun, is: is, files: fifo.NewMap[stormFile, stormCount](maxStorms), jobs: fifo.NewMap[stormJob, stormCount](maxStorms), seed: maphash.MakeSeed()}
	return diagnose.Hooks{Opcodes: opcodes, Sent: s.sent}
}

func (s *storm) sent(r *track.RPC, m *dissect.Message) {
	if r.Sends != 1 || r.Replay() || !s.is(r, m) {
		return
	}
	at := r.Requested()
	s.job(r, at)
	if !r.HasFID {
		return
	}
	k := stormFile{client: r.Client, file: r.FID}
	if name := r.Name(); len(name) > 0 {
		k.name = maphash.Bytes(s.seed, name)
	}
	c, _ := s.files.Get(k)
	if c.count == 0 || at.Time-c.last.Time > stormPause {
		c = stormCount{first: at}
	}
	c.count++
	c.last = at
	s.files.Put(k, c)
	if n := int64(stormRepeats.Value); c.count < n || c.count%n != 0 || float64(c.count)*1e9 < stormRate.Value*float64(at.Time-c.first.Time) {
		return
	}
	s.repeated(r, &c)
}

// repeated reports requests about the same file.
func (s *storm) repeated(r *track.RPC, c *stormCount) {
	of := fidText(r.FID)
	if name := r.Name(); len(name) > 0 {
		of = string(schema.AppendText(nil, name)) + " in " + of
	}
	f := diagnose.Finding{Subject: targetOf(r).subject(), First: c.first.Time, Last: c.last.Time, Count: c.count}
	f.Client, f.Job = r.Client, string(r.Job())
	f.Detail += of
	f.Text = fmt.Sprintf("%s%s asked %d times in %s for %s %s.", r.Client, jobOfRPC(r), c.count, duration(c.last.Time-c.first.Time), s.what, of)
	f.Prove(c.first, "the first of these requests")
	f.Prove(c.last, "the last of them so far")
	if float64(c.count) < stormWarning.Value {
		f.Severity = diagnose.Note
	}
	s.report.Report(f)
}

// job counts the requests of a job in a window.
func (s *storm) job(r *track.RPC, at track.Point) {
	if w := at.Time / stormWindow; w != s.window {
		s.window, s.all = w, 0
	}
	s.all++
	var k stormJob
	if copy(k.job[:], r.Job()) == 0 {
		k.client = r.Client
	}
	c, _ := s.jobs.Get(k)
	if c.count == 0 || c.first.Time/stormWindow != s.window {
		c = stormCount{first: at}
	}
	c.count++
	c.last = at
	s.jobs.Put(k, c)
	most := int64(stormJobRate.Value) * stormWindow / 1e9
	if c.count < most || c.count%most != 0 || 100*float64(c.count) < stormJobShare.Value*float64(s.all) {
		return
	}
	who, job := "Job "+string(r.Job()), string(r.Job())
	if job == "" {
		who = r.Client.String()
	}
	f := diagnose.Finding{Severity: diagnose.Note, Subject: diagnose.Subject{Job: job, Client: k.client}, First: c.first.Time, Last: c.last.Time, Count: c.count}
	f.Text = fmt.Sprintf("%s sent %d %ss in %s, %.0f %% of all in that time.", who, c.count, s.noun, duration(c.last.Time-c.first.Time), 100*float64(c.count)/float64(s.all))
	f.Prove(c.first, "the first of these requests")
	f.Prove(c.last, "the last of them so far")
	s.report.Report(f)
}

// jobOfRPC returns the job of an RPC in parentheses after a space, empty without one.
func jobOfRPC(r *track.RPC) string {
	if len(r.Job()) == 0 {
		return ""
	}
	return jobsText([]string{string(r.Job())})
}

// hasIntent reports whether an RPC is a request for a lock with one of some intents.
func hasIntent(r *track.RPC, prefixes ...string) bool {
	if r.Opcode != opcodes.LDLM_ENQUEUE || r.Variant == nil {
		return false
	}
	for _, p := range prefixes {
		if strings.HasPrefix(r.Variant.Name, p) {
			return true
		}
	}
	return false
}
