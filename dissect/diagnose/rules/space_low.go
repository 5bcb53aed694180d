package rules

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

var leastFree = diagnose.Threshold{Name: "free space or objects", Value: 5, Unit: "%",
	Reason: "file systems become slow in their last few percent, and clients get less grant, so that their writes are no longer cached"}

var _ = add(diagnose.Rule{
	Code:       "space.low",
	Severity:   diagnose.Warning,
	Summary:    "A target is nearly out of space or of objects.",
	Meaning:    "Clients and MDTs ask each target for its space with a statfs. The rule compares what is available, and how many objects can still be made, with the total.",
	Limits:     "An MDT sees less space available than clients do: what was promised to clients for writes that they have cached is not available for new objects. A target that nobody asks is not judged.",
	Next:       "lfs df and lfs df -i; remove or migrate files, or add targets, before writes fail with ENOSPC.",
	Thresholds: []*diagnose.Threshold{&leastFree},
	Samples:    []string{"full_ost.pcap.zst", "quota_space.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		l := &lowSpace{report: r, spaces: newSpaces(), targets: fifo.NewMap[targetKey, *lowTarget](maxTargets)}
		return diagnose.Hooks{Opcodes: statfsOpcodes, Answered: l.answered}
	},
})

// lowSpace finds targets that are nearly full.
type lowSpace struct {
	report  *diagnose.Reporter
	spaces  spaces
	targets *fifo.Map[targetKey, *lowTarget]
}

// lowTarget is a target that is nearly full.
type lowTarget struct {
	tally
	least spaceReply // with the least space or objects
}

// left returns the smaller share that is left, of the space and of the objects.
func (s *spaceReply) left() float64 {
	left := float64(s.Available) / float64(s.Size)
	if s.Objects > 0 {
		left = min(left, float64(s.FreeObjects)/float64(s.Objects))
	}
	return left
}

func (l *lowSpace) answered(r *track.RPC, m *dissect.Message) {
	k, space, ok := l.spaces.answered(r, m)
	if !ok || 100*space.left() >= leastFree.Value {
		return
	}
	if !k.isKnown() {
		k = l.sameTarget(k, &space)
	}
	x, known := l.targets.Get(k)
	if !known {
		x = &lowTarget{least: space}
		l.targets.Put(k, x)
	}
	x.add(r, space.at)
	if space.left() < x.least.left() {
		x.least = space
	}
	f := diagnose.Finding{Subject: k.subject(), First: x.first, Last: x.last, Count: x.count}
	f.Text = k.String() + " is nearly full. It reported to " + nodes(x.clients) + ": " + x.least.freeText() + "."
	f.Prove(x.least.at, "the reply with the least space")
	l.report.Report(f)
}

// sameTarget returns an earlier target of the same server that reported exactly the same:
// several connections may lead to a target whose name is unknown.
func (l *lowSpace) sameTarget(k targetKey, space *spaceReply) targetKey {
	l.targets.All(func(other targetKey, x *lowTarget) bool {
		if other.server == k.server && !other.isKnown() && x.least.Size == space.Size && x.least.Available == space.Available && x.least.FreeObjects == space.FreeObjects {
			k = other
			return false
		}
		return true
	})
	return k
}
