package diagnose

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/track/follow"
)

// Rule describes what to look for, and starts looking for it.
type Rule struct {
	Code       string   // stable, with the subject before the dot: evicted.lock_callback
	Severity   Severity // the highest that it reports
	Summary    string   // what a finding says, in a sentence without names
	Meaning    string   // what is compared with what, and what that proves
	Limits     string   // what the rule cannot know, and when it reports nothing
	Next       string   // what to look at next; a finding may say more
	Thresholds []*Threshold

	// Noun is what is counted where findings are summed up behind their cause, such as
	// "eviction". Findings of a rule without one follow from no others.
	Noun string

	// CountsLines: the number of a finding is that of lines of a log, of which several may be about the same.
	CountsLines bool

	// Background findings say how things are, and not that something happened: they come last.
	Background bool

	// Logs: the rule holds for debug logs without a capture.
	Logs bool

	// Samples are the captures of the tests in which it has findings; it has none
	// in all others, unless it is common.
	Samples []string
	Common  bool // it has findings in many ordinary captures, and Samples are some of them

	// Start makes the hooks of the rule for one capture.
	Start func(*Reporter) Hooks
}

// Threshold is a number that a rule compares with.
type Threshold struct {
	Name   string
	Value  float64
	Unit   string // "s" for seconds, "B" for bytes, else the noun that is counted
	Reason string // why it is not more or less
}

// Nanoseconds returns a threshold in seconds as nanoseconds.
func (t *Threshold) Nanoseconds() int64 { return int64(t.Value * 1e9) }

// Hooks are the funcs of a rule that an Engine calls.
type Hooks = follow.Hooks

// Choose returns the rules whose codes are given, or begin with what is given and a
// dot; all without a code. unknown is the first code that no rule has.
func Choose(all []*Rule, codes []string) (chosen []*Rule, unknown string) {
	if len(codes) == 0 {
		return all, ""
	}
	for _, code := range codes {
		if !slices.ContainsFunc(all, func(r *Rule) bool { return hasCode(code, r.Code) }) {
			return nil, code
		}
	}
	wanted := strings.Join(codes, " ")
	return slices.DeleteFunc(slices.Clone(all), func(r *Rule) bool { return !hasCode(wanted, r.Code) }), ""
}

// Codes lists the codes of rules, and what is before their dots.
func Codes(list []*Rule) (codes []string) {
	for _, r := range list {
		subject, _, _ := strings.Cut(r.Code, ".")
		codes = append(codes, subject, r.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
