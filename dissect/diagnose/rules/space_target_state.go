package rules

import (
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var readOnlyFor = diagnose.Threshold{Name: "time for which a target is read-only", Value: 5, Unit: "s",
	Reason: "a target that is being stopped says that it is read-only, too, for a moment"}

var _ = add(diagnose.Rule{
	Code:     "space.target_state",
	Severity: diagnose.Warning,
	Summary:  "A target says that it is degraded, read-only, full, or takes no new objects.",
	Meaning: "The reply to a statfs has flags about the state of the target: its RAID is rebuilding (DEGRADED), it is read-only, it is out of space or of inodes, or it takes no new objects (NOCREATE), which an administrator sets. MDTs avoid such targets for new files. " +
		"NOCREATE alone is a note.",
	Limits:     "A target that is being stopped is read-only for a moment, so READONLY counts when it lasts. DEGRADED is set by hand or by a monitor of the RAID, and may be out of date. A target that nobody asks is not judged.",
	Next:       "On the server: lctl get_param obdfilter.*.degraded obdfilter.*.no_create, the state of its disks, and its console log.",
	Thresholds: []*diagnose.Threshold{&readOnlyFor},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := &targetStates{report: r, spaces: newSpaces(), targets: fifo.NewMap[targetKey, *targetState](maxTargets)}
		return diagnose.Hooks{Opcodes: statfsOpcodes, Answered: s.answered}
	},
})

// targetStates finds targets that are not in order.
type targetStates struct {
	report  *diagnose.Reporter
	spaces  spaces
	targets *fifo.Map[targetKey, *targetState]
}

type targetState struct {
	tally
	states   uint64
	readOnly int64 // time of the first reply that says so
}

// unwelcome are the states that are reported, in words.
var unwelcome = []struct {
	bit  uint64
	text string
}{
	{readOnlyState, "is read-only (READONLY)"},
	{opcodes.ObdStatfsState.Bit("ENOSPC"), "is out of space (ENOSPC)"},
	{opcodes.ObdStatfsState.Bit("ENOINO"), "is out of inodes (ENOINO)"},
	{opcodes.ObdStatfsState.Bit("DEGRADED"), "has a degraded RAID (DEGRADED)"},
	{noCreate, "takes no new objects (NOCREATE)"},
}

var (
	readOnlyState = opcodes.ObdStatfsState.Bit("READONLY")
	noCreate      = opcodes.ObdStatfsState.Bit("NOCREATE")
)

func (s *targetStates) answered(r *track.RPC, m *dissect.Message) {
	k, space, ok := s.spaces.answered(r, m)
	if !ok {
		return
	}
	var found uint64
	for _, u := range unwelcome {
		found |= space.State & u.bit
	}
	if found == 0 {
		return
	}
	x := fifo.GetOrNew(s.targets, k)
	if found&readOnlyState != 0 && x.states&readOnlyState == 0 {
		switch {
		case x.readOnly == 0:
			x.readOnly = space.at.Time
			fallthrough
		case space.at.Time-x.readOnly < readOnlyFor.Nanoseconds():
			found &^= readOnlyState
		}
	}
	if found == 0 {
		return
	}
	if found&^x.states != 0 {
		x.prove(space.at, "reply to a statfs of %s", r.Client)
	}
	x.states |= found
	x.add(r, space.at)
	f := diagnose.Finding{Subject: k.subject(), First: x.first, Last: x.last, Count: x.count, Evidence: x.proofs}
	if x.states == noCreate {
		f.Severity = diagnose.Note
	}
	var words []string
	for _, u := range unwelcome {
		if x.states&u.bit != 0 {
			words = append(words, u.text)
		}
	}
	f.Text = k.String() + " says that it " + strings.Join(words, ", and ") + "."
	s.report.Report(f)
}
