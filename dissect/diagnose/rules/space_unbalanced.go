package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var unbalancedFrom = diagnose.Threshold{Name: "difference of the available space", Value: 17, Unit: "%",
	Reason: "the default of qos_threshold_rr: above it, MDTs give new objects to the OSTs with more space instead of in turn"}

var _ = add(diagnose.Rule{
	Code:       "space.unbalanced",
	Severity:   diagnose.Note,
	Summary:    "OSTs of a file system differ so much in available space that new files no longer go to all of them in turn.",
	Meaning:    "The rule compares the last statfs of each OST of a file system: the one with the least space available has less than the one with the most, by more than the threshold.",
	Limits:     "OSTs of different sizes, or pools for different uses, may differ on purpose. OSTs whose statfs is not in the capture are not compared.",
	Next:       "lfs df; lfs migrate moves files off full OSTs. Look for single large files with few stripes (lfs find -size +100G).",
	Thresholds: []*diagnose.Threshold{&unbalancedFrom},
	Samples:    []string{"frozen_server.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		u := &unbalanced{report: r, spaces: newSpaces()}
		return diagnose.Hooks{Opcodes: statfsOpcodes, Answered: u.answered, End: u.end}
	},
})

// unbalanced compares the space of the OSTs of each file system.
type unbalanced struct {
	report *diagnose.Reporter
	spaces spaces
}

func (u *unbalanced) answered(r *track.RPC, m *dissect.Message) { u.spaces.answered(r, m) }

// ostSpace is what an OST said last about its space.
type ostSpace struct {
	target string
	spaceReply
}

func (u *unbalanced) end() {
	systems := make(map[string][]ostSpace)
	u.spaces.last.All(func(k targetKey, s spaceReply) bool {
		if system, number, ok := strings.Cut(k.name, "-OST"); ok && len(number) == 4 {
			systems[system] = append(systems[system], ostSpace{k.name, s})
		}
		return true
	})
	for system, osts := range systems {
		slices.SortFunc(osts, func(a, b ostSpace) int { return strings.Compare(a.target, b.target) })
		byAvailable := func(a, b ostSpace) int { return int(a.Available>>10) - int(b.Available>>10) }
		least, most := slices.MinFunc(osts, byAvailable), slices.MaxFunc(osts, byAvailable)
		if float64(least.Available) >= (1-unbalancedFrom.Value/100)*float64(most.Available) {
			continue
		}
		f := diagnose.Finding{Subject: diagnose.Subject{Detail: system}, First: min(least.at.Time, most.at.Time), Last: max(least.at.Time, most.at.Time), Count: 1}
		f.Text = fmt.Sprintf("Of %d OSTs of %s, %s has %s available and %s has %s: new objects go to OSTs by their free space, not in turn.",
			len(osts), system, least.target, binarySize(least.Available), most.target, binarySize(most.Available))
		f.Prove(least.at, "last statfs of %s", least.target)
		f.Prove(most.at, "last statfs of %s", most.target)
		u.report.Report(f)
	}
}
