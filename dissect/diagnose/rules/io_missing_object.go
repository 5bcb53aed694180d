package rules

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var missingRequests = diagnose.Threshold{Name: "requests for the size of the same object", Value: 2, Unit: "requests",
	Reason: "the first may be for a file that another client has just removed; the second shows that its name is still there"}

var _ = add(diagnose.Rule{
	Code:     "io.missing_object",
	Severity: diagnose.Error,
	Noun:     "missing object",
	Summary:  "An OST does not have objects of files that are still there.",
	Meaning: "The layout of a file on the MDT names its objects on OSTs. When an OST has lost such an object, requests about it fail with ENOENT, and applications get \"No such file or directory\" for a file that ls shows. " +
		"The rule looks for OSTs that answer with ENOENT to requests of clients which change or lock an object, or ask for its size repeatedly.",
	Limits:     "A file that another client removes at the same moment may look like this once, so a single request is a warning.",
	Next:       "lfs getstripe FILE shows the objects. Find out whether the OST was formatted anew, restored from a backup or repaired (lost+found). lctl lfsck_start -t layout on the MDS finds files without objects.",
	Thresholds: []*diagnose.Threshold{&missingRequests},
	Samples:    []string{"missing_objects.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := &missingObjects{report: r, targets: fifo.NewMap[targetKey, *missing](maxTargets), asked: fifo.NewMap[missingObject, int64](maxResources)}
		return diagnose.Hooks{Opcodes: []uint32{opcodes.LDLM_ENQUEUE, opcodes.OST_SETATTR, opcodes.OST_GETATTR, opcodes.OST_READ, opcodes.OST_WRITE, opcodes.OST_PUNCH, opcodes.OST_SYNC, opcodes.OST_FALLOCATE},
			Answered: x.answered}
	},
})

// missingObjects finds objects that OSTs do not have.
type missingObjects struct {
	report  *diagnose.Reporter
	targets *fifo.Map[targetKey, *missing]
	asked   *fifo.Map[missingObject, int64] // requests for the size
}

type missingObject struct {
	target targetKey
	object track.FID
}

// missing counts the requests about objects that a target does not have.
type missing struct {
	tally
	objects []string
	more    map[track.FID]bool // objects, and files
}

func (x *missingObjects) answered(r *track.RPC, _ *dissect.Message) {
	if r.Status != eNoEntry || !r.HasRequest || r.Replay() { // recovery.replay counts those that are replayed
		return
	}
	key := targetOf(r)
	if r.Opcode == opcodes.LDLM_ENQUEUE {
		if r.Variant == nil || r.Variant.Name != "extent" && r.Variant.Name != "glimpse" {
			return
		}
		if r.Variant.Name == "glimpse" {
			k := missingObject{key, r.FID}
			n, _ := x.asked.Get(k)
			x.asked.Put(k, n+1)
			if float64(n+1) < missingRequests.Value {
				return
			}
		}
	}
	m, ok := x.targets.Get(key)
	if !ok {
		m = &missing{more: make(map[track.FID]bool)}
		x.targets.Put(key, m)
	}
	at := r.Replied()
	m.add(r, at)
	m.prove(at, "the reply to a request of %s says ENOENT", r.Client)
	if r.HasFID && len(m.more) < maxResources && !m.more[r.FID] {
		m.more[r.FID] = true
		if len(m.objects) < maxNamedFiles {
			m.objects = append(m.objects, fidText(r.FID))
		}
	}
	f := diagnose.Finding{Subject: key.subject(), First: m.first, Last: m.last, Count: m.count, Evidence: slices.Clone(m.proofs)}
	f.Text = fmt.Sprintf("%s does not have objects of files that are still there: it answered %s of %s with ENOENT.", key, m.operationsText(), m.senders())
	if n := len(m.more); n > 0 {
		names := m.objects
		if n > len(names) {
			names = append(slices.Clone(names[:maxNamedFiles-1]), fmt.Sprintf("%d others", n-maxNamedFiles+1))
		}
		f.Text += " They were about " + list(names) + "."
	}
	if m.count < 2 {
		f.Severity = diagnose.Warning
	}
	x.report.Report(f)
}
