package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/recovery"
)

// startRecoveries returns a func that starts a rule about targets that were lost.
// describe fills in the text and the evidence of a finding, or returns false where
// there is nothing to report.
func startRecoveries(describe func(*recovery.Recovery, *diagnose.Finding) bool) func(*diagnose.Reporter) diagnose.Hooks {
	return func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{Recovery: func(v *recovery.Recovery) {
			if f := recoveryFinding(v); describe(v, &f) {
				r.Report(f)
			}
		}}
	}
}

// recoveryFinding returns a finding with the subject and the times of a target that was lost.
func recoveryFinding(v *recovery.Recovery) diagnose.Finding {
	f := diagnose.Finding{
		Subject: diagnose.Subject{Target: v.Target, Server: v.Server, Detail: strconv.FormatInt(v.Begin(), 10)},
		First:   v.Begin(), Last: max(v.Back.Time, v.Completed.Time),
	}
	if f.Server == (lnet.NID{}) {
		f.Server = v.ServerBefore
	}
	if len(v.Clients) == 1 {
		f.Client = v.Clients[0].Connection.Client
	}
	return f
}

// errorCounts returns counts of errors as in "3 ENOTCONN and 1 EIO".
func errorCounts(counts map[int32]int64) string {
	var list []string
	for _, status := range sortedErrors(counts) {
		list = append(list, fmt.Sprintf("%d %s", counts[status], errorName(status)))
	}
	return words(list)
}

// sortedErrors returns the errors, the most frequent first.
func sortedErrors(counts map[int32]int64) (list []int32) {
	for status := range counts {
		list = append(list, status)
	}
	slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(b, a)) })
	return list
}

// clientNIDs returns the nodes of clients, each once.
func clientNIDs(clients []*recovery.Client) (list []lnet.NID) {
	for _, c := range clients {
		if n := c.Connection.Client; !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// impactText returns a sentence about what applications saw, with a space before it;
// empty when they saw nothing.
func impactText(i *recovery.Impact) (text string) {
	switch {
	case i.Waited == 1:
		text = " A request waited " + duration(i.Longest) + " until the target was back."
	case i.Waited > 1:
		text = " " + plural(i.Waited, "request") + " waited until the target was back, the longest " + duration(i.Longest) + "."
	}
	if len(i.Errors) > 0 {
		text += " Requests failed: " + errorCounts(i.Errors) + "."
	}
	if i.Unanswered > 0 {
		text += " " + plural(i.Unanswered, "request") + " got no reply and was not seen again."
	}
	return text
}
