// Package rules has the rules of package diagnose. A rule is in a file that is named after
// the beginning of its code: evicted.silence in evicted.go, tcp.one_rail in tcp.go.
//
// To add a rule, declare one that add registers. The tests check that
// its texts are complete, that it has findings in its samples, and that it has
// none in all other samples.
package rules

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/diagnose"
)

// registered are the rules of all files.
var registered []*diagnose.Rule

// add registers a rule. It returns true, for a variable that calls it. Compiled into the
// start of the program for each rule, it would take 50 kB of it.
//
//go:noinline
func add(r diagnose.Rule) bool {
	if r.Start == nil {
		panic("rule " + r.Code + " has no Start")
	}
	if r.Logs {
		r.Meaning += " It does so in debug logs without a capture, too."
	}
	registered = append(registered, &r)
	return true
}

// All returns the rules in the order of their codes.
func All() []*diagnose.Rule {
	return slices.SortedFunc(slices.Values(registered), func(a, b *diagnose.Rule) int { return cmp.Compare(a.Code, b.Code) })
}
