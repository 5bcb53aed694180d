package rules

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

// uncorrected are words of lines about hardware that could not correct an error.
var uncorrected = []string{" ue ", "uncorrect", "fatal", "recoverable", "machine check exception"}

var _ = addLines(diagnose.Rule{
	Code:        "node.fault",
	Severity:    diagnose.Error,
	Noun:        "machine fault",
	CountsLines: true,
	Summary:     "The kernel of a node reports a fault of its machine or of itself.",
	Meaning:     "Panics, failed assertions, CPUs that are stuck, memory that is used up or damaged, and network links that are down stop all that a node does.",
	Next:        "The lines around it in the log of this node, its hardware, and what was changed there.",
}, lines{
	kinds: []debuglog.Kind{debuglog.Panic, debuglog.Bug, debuglog.CPUStuck, debuglog.OutOfMemory, debuglog.MemoryError, debuglog.LinkDown, debuglog.NetDeviceFailed},
	where: func(l *track.LogLine) []diagnose.Place {
		if l.Kind == debuglog.MemoryError && !slices.ContainsFunc(uncorrected, func(s string) bool { return strings.Contains(strings.ToLower(l.Text), s) }) {
			return nil // the hardware has corrected it, or another line says what it is
		}
		return []diagnose.Place{atNode(l.Node)}
	},
})
