package rules

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
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
	stormJobRate = diagnose.Threshold{Name: "requests of a job in 10 s", Value: 500, Unit: "requests",
		Reason: "fewer do not matter to an MDT, which serves some thousand in a second"}
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
const stormMeaning = " The rule counts the requests of a client about the same file, and those of each job in all. Many requests of a " +
	"job about many different files are a note only, as a find or a backup makes them, too. What a client asks for ahead of a program " +
	"(statahead) is counted by its thread (ll_sa)."

// storm counts metadata requests of a kind, by file and by job.
type storm struct {
	report *diagnose.Reporter
	what   string // that is asked for, as in "the attributes of"
	noun   string // of a request
	is     func(*track.RPC, *dissect.Message) bool

	files *fifo.Map[stormFile, *run]
	jobs  *fifo.Map[stormJob, *jobStorm]
	seed  maphash.Seed
	all   int64 // requests

	lastJob stormJob // of the last request
	last    *jobStorm
}

// stormFile is a file that a client asks about.
type stormFile struct {
	client lnet.NID
	file   track.FID
	name   uint64 // hash of the name in the directory file, 0: none
}

// stormJob is a job, or a client where a job has no name or is a thread of the kernel.
type stormJob struct {
	job    [32]byte
	client lnet.NID
}

// jobStorm counts the requests of a job.
type jobStorm struct {
	run
	operations operationCounts
	clients    []lnet.NID
	window     int64 // when it began
	inWindow   int64 // requests in it
	before     int64 // requests of all before it
	most       int64 // of them, in a window in which they were many
	share      float64
	reported   int64
}

// addStorm registers a rule about metadata requests of some operations that are of a kind.
func addStorm(rule diagnose.Rule, what, noun string, is func(*track.RPC, *dissect.Message) bool, opcodes ...uint32) bool {
	rule.Severity, rule.Thresholds = diagnose.Warning, stormThresholds
	rule.Meaning += stormMeaning
	rule.Start = func(r *diagnose.Reporter) diagnose.Hooks {
		s := &storm{report: r, what: what, noun: noun, is: is, files: fifo.NewMap[stormFile, *run](maxStorms),
			jobs: fifo.NewMap[stormJob, *jobStorm](maxStorms), seed: maphash.MakeSeed()}
		return diagnose.Hooks{Opcodes: opcodes, Sent: s.sent, Tick: func(int64) { s.end() }, End: s.end}
	}
	return add(rule)
}

func (s *storm) sent(r *track.RPC, m *dissect.Message) {
	if r.Sends != 1 || r.Replay() || !s.is(r, m) {
		return
	}
	at := r.Requested()
	s.job(r, m, at)
	if !r.HasFID {
		return
	}
	k := stormFile{client: r.Client, file: r.FID}
	if name := r.Name(); len(name) > 0 {
		k.name = maphash.Bytes(s.seed, name)
	}
	c := fifo.GetOrNew(s.files, k)
	if at.Time-c.last.Time > stormPause {
		*c = run{}
	}
	c.add(at)
	if n := int64(stormRepeats.Value); c.count < n || c.count%n != 0 || float64(c.count)*1e9 < stormRate.Value*float64(at.Time-c.first.Time) {
		return
	}
	s.repeated(r, c)
}

// repeated reports requests about the same file.
func (s *storm) repeated(r *track.RPC, c *run) {
	of := fidText(r.FID)
	if name := r.Name(); len(name) > 0 {
		of = string(schema.AppendText(nil, name)) + " in " + of
	}
	f := c.finding(targetOf(r).subject(), "the first of these requests", "the last of them so far")
	f.Client, f.Job = r.Client, string(r.Job())
	suspect(&f, byApplication)
	f.Detail += of
	f.Text = fmt.Sprintf("%s%s asked %d times in %s for %s %s.", r.Client, jobText(f.Job), c.count, duration(c.last.Time-c.first.Time), s.what,
		of)
	f.Compare(&stormRepeats, float64(c.count))
	f.Compare(&stormRate, float64(c.count)*1e9/float64(max(c.last.Time-c.first.Time, 1)))
	f.Compare(&stormWarning, float64(c.count))
	if float64(c.count) < stormWarning.Value {
		f.Severity = diagnose.Note
	}
	s.report.Report(f)
}

// stataheadJob is the thread that asks for attributes ahead of a program that lists a directory.
const stataheadJob = "ll_sa"

// job counts the requests of a job.
func (s *storm) job(r *track.RPC, m *dissect.Message, at track.Point) {
	n := int64(1)
	if r.Opcode == opcodes.MDS_BATCH && m.Msg != nil {
		n = opcodes.BatchSize(m.Msg)
	}
	var k stormJob
	if copy(k.job[:], r.Job()) == 0 || isStatahead(string(r.Job())) {
		k.client = r.Client
	}
	if s.last == nil || s.lastJob != k {
		s.last, s.lastJob = fifo.GetOrNew(s.jobs, k), k
	}
	c := s.last
	if c.count == 0 || at.Time-c.last.Time > stormPause {
		s.tell(k, c)
		*c = jobStorm{run: run{first: at}, operations: make(operationCounts)}
	}
	if at.Time-c.window > stormWindow {
		c.window, c.inWindow, c.before = at.Time, 0, s.all
	}
	s.all += n
	c.count += n
	c.inWindow += n
	c.operations[r.Opcode] += n
	c.last = at
	c.clients = withNew(c.clients, r.Client, maxTallied)
	if share := 100 * float64(c.inWindow) / float64(s.all-c.before); float64(c.inWindow) >= stormJobRate.Value &&
		share >= stormJobShare.Value {
		c.share, c.most = max(c.share, share), max(c.most, c.inWindow)
	}
}

func jobName(job [32]byte) string { return strings.TrimRight(string(job[:]), "\x00") }

func isStatahead(job string) bool { return strings.HasPrefix(job, stataheadJob) }

// end reports the jobs with many requests.
func (s *storm) end() {
	for k, c := range fifo.All(s.jobs) {
		s.tell(k, c)
	}
}

// tell reports the requests of a job if they are many.
func (s *storm) tell(k stormJob, c *jobStorm) {
	if c.share > 0 && c.count != c.reported {
		c.reported = c.count
		s.report.Report(s.manyOf(jobName(k.job), k.client, c))
	}
}

// manyOf describes the requests of a job.
func (s *storm) manyOf(job string, client lnet.NID, c *jobStorm) diagnose.Finding {
	f := c.run.finding(diagnose.Subject{Job: job, Client: client}, "the first of these requests", "the last of them so far")
	f.Severity = diagnose.Note
	suspect(&f, byApplication)
	f.Compare(&stormJobRate, float64(c.most))
	f.Compare(&stormJobShare, c.share)
	took := max(c.last.Time-c.first.Time, 1)
	f.Text = fmt.Sprintf("%s%s sent %d %ss in %s, %.0f in a second (%s): %.0f %% of all in the busiest ten seconds.", nodes(c.clients),
		jobText(job), c.count, s.noun, duration(took), float64(c.count)*1e9/float64(took), c.operations.text(operationText), c.share)
	if isStatahead(job) {
		f.Text += " That is statahead: the client asks ahead of a program that goes through directories."
		if program := s.programOf(client); program != "" {
			f.Text += " Of the programs there, " + program + " asked most itself."
		}
	}
	return f
}

// programOf returns the job of a client that sent most requests itself.
func (s *storm) programOf(client lnet.NID) (job string) {
	most := int64(0)
	for k, c := range fifo.All(s.jobs) {
		name := jobName(k.job)
		if name != "" && !isStatahead(name) && c.count > most && slices.Contains(c.clients, client) {
			most, job = c.count, name
		}
	}
	return job
}

var _ = addStorm(diagnose.Rule{
	Code:    "metadata.stat_storm",
	Noun:    "stat request",
	Summary: "A client or a job asks for attributes of files again and again.",
	Meaning: "A client caches the attributes of a file together with a lock, and asks the MDT again only when somebody else has changed " +
		"the file, or when it had to drop the lock. " +
		"Many requests for the attributes of the same file therefore show a program that polls a file which others change, or a lock that is " +
		"lost each time.",
	Limits: "Attributes that the client has cached are not asked for.",
	Next: "Find what polls: scripts that wait for a file, tail -f, a library that calls stat for each record. See lock.ping_pong and " +
		"lock.lru_churn for why the client has to ask again.",
	Samples: []string{"stat_storm.pcap.zst"},
}, "the attributes of", "stat request", func(r *track.RPC, _ *dissect.Message) bool {
	return r.Opcode != opcodes.LDLM_ENQUEUE || r.Does(opcodes.Stats|opcodes.LooksUp)
}, opcodes.LDLM_ENQUEUE, opcodes.MDS_GETATTR, opcodes.MDS_GETATTR_NAME, opcodes.MDS_BATCH)

var _ = addStorm(diagnose.Rule{
	Code:    "metadata.open_storm",
	Noun:    "open",
	Summary: "A client or a job opens files again and again.",
	Meaning: "Each open and close of a file is a request to the MDT, unless the client keeps an open lock. Programs that open a file " +
		"for each record that they read or append spend their time there.",
	Limits: "Opens that the client answers itself, with an open lock, are not seen.",
	Next: "Find out whether the program can keep the file open. For programs that cannot be changed, lctl set_param " +
		"llite.*.opencache_threshold_count=1 lets the client keep open locks.",
}, "an open of", "open", func(r *track.RPC, _ *dissect.Message) bool {
	return r.Opcode == opcodes.LDLM_ENQUEUE && r.Does(opcodes.Opens)
},
	opcodes.LDLM_ENQUEUE)

var _ = addStorm(diagnose.Rule{
	Code:    "metadata.change_storm",
	Noun:    "change",
	Summary: "A job makes, renames, changes or removes many files or directories.",
	Meaning: "Each file or directory that is made, renamed or removed, and each change of its attributes, is a transaction of the MDT " +
		"that it has to write to disk.",
	Limits: "Files that are made by an open with O_CREAT are counted as opens.",
	Next: "Find out whether the job needs so many files and directories: archives (tar), databases (HDF5) or a local disk hold small files " +
		"better. lctl get_param mdt.*.job_stats on the MDS has the share of each job; directories striped over MDTs (lfs mkdir -c) divide the load.",
	Samples: []string{"mkdir_storm.pcap.zst"},
}, "a change of", "change", func(*track.RPC, *dissect.Message) bool { return true }, opcodes.MDS_REINT)

var _ = addStorm(diagnose.Rule{
	Code:    "metadata.readdir_storm",
	Noun:    "read of a directory",
	Summary: "A client or a job reads directories again and again.",
	Meaning: "A client caches the pages of a directory together with a lock, and reads them again when somebody has changed the directory. " +
		"A program that lists a directory in which others create or remove files reads all of it each time. " +
		"The rule counts the requests that begin at the start of a directory.",
	Limits: "Listings that the client answers from its cache are not seen.",
	Next:   "Find what lists the directory: scripts that wait for files to appear, globs in loops, monitoring. Spool directories can be split.",
}, "the entries of", "listing", func(_ *track.RPC, m *dissect.Message) bool {
	return m.Msg != nil && opcodes.ReadsFromStart(m.Msg)
}, opcodes.MDS_READPAGE)

var (
	deniedRequests = &diagnose.Threshold{Name: "denied requests", Value: 5, Unit: "requests",
		Reason: "a user without the right to a directory tries once or twice"}
	deniedShare = &diagnose.Threshold{Name: "share of the requests of the client meanwhile", Value: 80, Unit: "%",
		Reason: "else its users have the right to other files: that is a matter of permissions"}
)

var _ = add(diagnose.Rule{
	Code:     "metadata.denied",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "denied request",
	Summary:  "An MDT denies everything to all users of one client.",
	Meaning: "Permissions of files deny some files to some users. Where an MDT answers nearly all requests of a client with EACCES or EPERM, whoever " +
		"sends them, also root, it is the client that it does not trust: its nodemap has deny_unknown or does not map these users, or the " +
		"server does not find their groups (identity_upcall). The rule counts such replies to requests for names and attributes, and to opens.",
	Limits: "That other clients get the same files is only known where their requests are in the capture. Logs have the user at the end of the name of " +
		"the job only, as in cp.1001.",
	Next: "On the MGS: lctl nodemap_test_nid NID of the client, lctl get_param nodemap.*.{deny_unknown,admin_nodemap,trusted_nodemap,idmap}, and what was " +
		"changed before the first denied request. On the MDS: lctl get_param mdt.*.identity_upcall.",
	Thresholds: []*diagnose.Threshold{deniedRequests, deniedShare},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		d := &denials{r, fifo.NewMap[targetClient, *denied](maxDenied)}
		operations := []uint32{opcodes.LDLM_ENQUEUE, opcodes.MDS_GETATTR, opcodes.MDS_REINT}
		return diagnose.Hooks{Opcodes: operations, Answered: func(r *track.RPC, _ *dissect.Message) {
			if r.HasRequest && (r.Opcode != opcodes.LDLM_ENQUEUE || r.Does(opcodes.Opens|opcodes.Creates|opcodes.Stats)) {
				d.answered(r, targetOf(r))
			}
		}, Unseen: onlyLogged(operations, func(r *track.RPC) { // an MDT denies a lock with these errors only along with what it is asked for
			isServer := strings.HasSuffix(r.Connection.ClientUUID, "_UUID")
			if strings.HasPrefix(r.Log.Server.Process, "mdt") && !isServer {
				d.answered(r, namedTarget("", "", r.Server)) // which has the name only of some requests
			}
		})}
	},
})

// denials are the requests for files that MDTs denied to clients.
type denials struct {
	report  *diagnose.Reporter
	clients *fifo.Map[targetClient, *denied]
}

// denied counts what a client was denied, and what it was not since the first of these.
type denied struct {
	tally
	server  lnet.NID
	errno   int32
	users   []uint32
	granted int64
	share   float64 // of the requests up to the last one that was denied, in percent
	told    bool
	other   lnet.NID // that was served meanwhile
	at      track.Point
}

func (d *denials) answered(r *track.RPC, target targetKey) {
	key, at := targetClient{r.Client, target}, r.Replied()
	errno := hasError(r, opcodes.EACCES, opcodes.EPERM)
	if errno == 0 {
		if r.Failed() {
			return
		}
		for k, x := range fifo.All(d.clients) {
			switch {
			case k == key:
				x.granted++
			case (k.target == key.target || x.server == r.Server && !(k.target.IsKnown() && key.target.IsKnown())) && at.Time > x.first && at.Time < x.last+inFlight:
				isNew := x.other.Len == 0
				if x.other, x.at = r.Client, at; isNew && x.told { // what logs have comes behind the capture
					d.tell(k, x)
				}
			}
		}
		return
	}
	x := fifo.GetOrNew(d.clients, key)
	x.server = r.Server
	x.add(r, at)
	x.prove(at, "a request of %s is denied with %s", r.Client, errorName(errno))
	if uid, ok := userOf(r); ok {
		x.users = withNew(x.users, uid, maxTallied)
	}
	x.errno = errno
	if x.share = 100 * float64(x.count) / float64(x.count+x.granted); float64(x.count) >= deniedRequests.Value && x.share >= deniedShare.Value && len(x.users) > 1 {
		d.tell(key, x)
	}
}

func (d *denials) tell(key targetClient, x *denied) {
	x.told = true
	f := x.finding(key.target.subject())
	f.Client = key.client
	f.Text = fmt.Sprintf("%s denied %s of %s with %s, those of all %d users there.", key.target, x.operationsText(), x.senders(), errorName(x.errno), len(x.users))
	f.Compare(deniedRequests, float64(x.count))
	f.Compare(deniedShare, x.share)
	suspect(&f, atConfig(key.client), byAdmin, byApplication)
	if x.other.Len > 0 {
		exclude(&f, byApplication, x.at, x.other.String()+" was served meanwhile")
		f.Text += " It served " + x.other.String() + " meanwhile."
	}
	f.Brief = f.Text + " Look at the nodemap of this client on the MGS, not at the files or the servers."
	d.report.Report(f)
}

// maxDenied is how many clients are followed that were denied something.
const maxDenied = 64

// userOf returns the user of a request. Servers do not log it, but by default it is at the end of the name of the job.
func userOf(r *track.RPC) (uid uint32, ok bool) {
	if r.HasUser {
		return r.UID, true
	}
	job := string(r.Job())
	n, err := strconv.ParseUint(job[strings.LastIndexByte(job, '.')+1:], 10, 32)
	return uint32(n), err == nil && r.Connection.IsLog() && strings.Contains(job, ".")
}
