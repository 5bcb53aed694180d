package comparison

import (
	"slices"

	"github.com/lshark/lshark/opcodes/schema"
)

const (
	// An operation that takes hangs nanoseconds, and hangRatio times what it took at
	// most in the other capture, hangs.
	hangs     = int64(5e9)
	hangRatio = 10

	// A few latencies differ if all of one capture are at least fewRatio times those of
	// the other, and longer by leastFew nanoseconds: at least fewSamples on both sides.
	fewSamples = 3
	fewRatio   = 2
	leastFew   = int64(10e6)
)

// answers are the errors that applications get in the course of ordinary work.
var answers = []string{"EPERM", "ENOENT", "ENXIO", "EAGAIN", "EACCES", "EEXIST", "EXDEV", "ENOTDIR", "EISDIR", "EINVAL",
	"ERANGE", "ENAMETOOLONG", "ENOTEMPTY", "ELOOP", "ENODATA", "EREMOTE", "EOPNOTSUPP"}

// findTrouble adds what is never noise, however few RPCs have it: errors of only one
// of the captures that are not ordinary answers, RPCs without an answer, and
// operations that hang.
func (r *Row) findTrouble() {
	value := func(s *Side, m Measure) int64 {
		if s == nil || !s.Has(m) {
			return 0
		}
		return s.Value(m)
	}
	for _, sides := range [][2]*Side{{r.Before, r.After}, {r.After, r.Before}} {
		with, without := sides[0], sides[1]
		if with == nil {
			continue
		}
		for e := range with.Errors {
			if name := schema.Errnos.Name(uint64(-e)); slices.Contains(answers, name) || without != nil && without.Errors[e] > 0 {
				continue
			}
			if !slices.Contains(r.ChangedErrors, e) {
				r.ChangedErrors = append(r.ChangedErrors, e)
			}
			r.change(Errors)
		}
		if with.Value(Unanswered) > 0 && value(without, Unanswered) == 0 {
			r.change(Unanswered)
		}
		if longest := value(with, Longest); longest >= hangs && longest >= hangRatio*value(without, Longest) {
			r.change(Longest)
		}
	}
	slices.Sort(r.ChangedErrors)
}

// findFew adds latencies that do not overlap where there are too few of them to
// exclude chance.
func (r *Row) findFew() {
	b, a := r.Before, r.After
	if b == nil || a == nil || r.Changes(P50) || b.Latency.N < fewSamples || a.Latency.N < fewSamples {
		return
	}
	fast, slow := b, a
	if b.Value(P50) > a.Value(P50) {
		fast, slow = a, b
	}
	longest, shortest := fast.Latency.Quantile(1), slow.Latency.Quantile(0)
	if shortest >= fewRatio*longest && shortest-longest >= leastFew {
		r.change(P50)
		r.Few = append(r.Few, P50)
	}
}

// change adds a measure to those that have changed.
func (r *Row) change(m Measure) {
	if !r.Changes(m) {
		r.Changed = append(r.Changed, m)
		slices.Sort(r.Changed)
	}
}

// TooFew reports whether the RPCs of the row are so few that no latencies could prove
// a change.
func (r *Row) TooFew() bool { return r.found[P50].least > falseDiscoveryRate }
