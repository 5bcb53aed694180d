package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var (
	glimpsesOfObject = diagnose.Threshold{Name: "glimpses of an object", Value: 5, Unit: "times",
		Reason: "a single ls -l asks once for each object"}
	glimpsesForWarning = diagnose.Threshold{Name: "glimpses a second, for a warning", Value: 100, Unit: "times",
		Reason: "each interrupts the client that writes; below it, the writer does not notice"}
	glimpsePause = diagnose.Threshold{Name: "time between two of them", Value: 30, Unit: "s",
		Reason: "longer pauses are another use of the file"}
)

var _ = add(diagnose.Rule{
	Code:     "lock.glimpse_storm",
	Severity: diagnose.Warning,
	Summary:  "Clients ask again and again for the size of files that another client is writing, as ls -l does.",
	Meaning: "The size of a file that is being written is known to the client that writes it. When another one asks for it (stat, ls -l, tail -f), the OST sends the writer a glimpse callback for each object, and waits for the answer. " +
		"The rule counts the glimpse callbacks about an object to the client that has it locked. It is a note unless they are many in a second.",
	Limits: "Who asked is named where the requests are in the capture: glimpses of the same object by other clients.",
	Next:   "Find what polls the files: monitoring scripts, ls -l or du in a loop, tail -f. They can use lfs find with lazy sizes, or poll less often.",
	Thresholds: []*diagnose.Threshold{
		&glimpsesOfObject, &glimpsesForWarning, &glimpsePause,
	},
	Samples: []string{"lock_contention.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		g := &glimpses{report: r, objects: fifo.NewMap[lockSubject, *glimpsed](maxResources), askers: fifo.NewMap[lockSubject, *tally](maxResources)}
		return diagnose.Hooks{Opcodes: []uint32{opcodes.LDLM_GL_CALLBACK, opcodes.LDLM_ENQUEUE}, Sent: g.sent}
	},
})

// glimpses counts the glimpse callbacks about objects.
type glimpses struct {
	report  *diagnose.Reporter
	objects *fifo.Map[lockSubject, *glimpsed] // with the client that has the lock
	askers  *fifo.Map[lockSubject, *tally]    // without a client: who asked for the size
}

// glimpsed is an object that is glimpsed at.
type glimpsed struct {
	target      targetKey
	count       int64
	first, last int64
	second      int64 // the second that inSecond counts
	inSecond    int64
	most        int64 // in a second
	proofs      []diagnose.Evidence
}

func (g *glimpses) sent(r *track.RPC, m *dissect.Message) {
	if r.Sends != 1 || m.Msg == nil {
		return
	}
	if r.Opcode == opcodes.LDLM_ENQUEUE {
		if opcodes.IsGlimpse(m.Msg) {
			g.asked(r, m)
		}
		return
	}
	d, ok := opcodes.LockDescOf(m.Msg)
	if !ok || d.Kind != opcodes.ExtentLock && d.Kind != opcodes.InodeLock {
		return
	}
	key := lockSubject{r.Server, r.Client, d.Kind, d.Name}
	x, known := g.objects.Get(key)
	if !known || m.Time-x.last > glimpsePause.Nanoseconds() && float64(x.count) < glimpsesOfObject.Value {
		x = &glimpsed{first: m.Time}
		g.objects.Put(key, x)
	}
	if x.target.name == "" {
		x.target = namedTarget(r.Target(), r.TargetIndex(), r.Client)
	}
	x.count++
	x.last = m.Time
	if s := m.Time / 1e9; s != x.second {
		x.second, x.inSecond = s, 0
	}
	x.inSecond++
	x.most = max(x.most, x.inSecond)
	if x.count <= maxProofs {
		var f diagnose.Finding
		f.Prove(r.Requested(), "glimpse callback to %s", r.Server)
		x.proofs = append(x.proofs, f.Evidence...)
	}
	if float64(x.count) >= glimpsesOfObject.Value {
		g.report.Report(g.finding(key, x, &d))
	}
}

// asked notes who asks for the size of an object.
func (g *glimpses) asked(r *track.RPC, m *dissect.Message) {
	d, ok := opcodes.LockDescOf(m.Msg)
	if !ok {
		return
	}
	key := lockSubject{server: r.Server, kind: d.Kind, name: d.Name}
	t := fifo.GetOrNew(g.askers, key)
	t.add(r, r.Requested())
}

func (g *glimpses) finding(key lockSubject, x *glimpsed, d *opcodes.LockDesc) diagnose.Finding {
	f := diagnose.Finding{Subject: x.target.subject(), First: x.first, Last: x.last, Count: x.count, Evidence: x.proofs}
	f.Client, f.Detail = key.client, string(d.AppendResource(nil))
	f.Text = fmt.Sprintf("%s was asked %d times in %s for the size of %s, which it has locked for writing", key.client, x.count, duration(x.last-x.first), f.Detail)
	key = lockSubject{server: key.server, kind: key.kind, name: key.name}
	if t, ok := g.askers.Get(key); ok && len(t.clients) > 0 {
		f.Text += ", on behalf of " + t.senders()
	}
	f.Text += "."
	if float64(x.most) < glimpsesForWarning.Value {
		f.Severity = diagnose.Note
	} else {
		f.Text += fmt.Sprintf(" There were up to %d in a second.", x.most)
	}
	return f
}
