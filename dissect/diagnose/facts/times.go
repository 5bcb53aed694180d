package facts

import "slices"

// Span is a stretch of time, in nanoseconds since the epoch.
type Span struct{ From, To int64 }

func (s *Span) add(at int64) {
	if s.From == 0 || at < s.From {
		s.From = at
	}
	s.To = max(s.To, at)
}

// Length returns how long it is.
func (s Span) Length() int64 { return s.To - s.From }

// Overlaps reports whether two spans have a time in common.
func (s Span) Overlaps(o Span) bool { return s.From <= o.To && o.From <= s.To }

// Times are the times at which something happened, as runs without a pause.
type Times struct{ runs []run }

type run struct {
	Span
	first Point
}

const (
	runPause = int64(1e9) // nanoseconds between two runs, at least
	maxRuns  = 1 << 10
)

// add takes a point. Those of other connections, and of logs, may be handed out late.
func (t *Times) add(p Point) {
	i := len(t.runs)
	for i > 0 && p.Time < t.runs[i-1].From-runPause {
		i--
	}
	if i > 0 {
		if r := &t.runs[i-1]; p.Time <= r.To+runPause {
			if p.Time < r.From {
				r.From, r.first = p.Time, p
			}
			r.To = max(r.To, p.Time)
			return
		}
	}
	if len(t.runs) == maxRuns { // the old ones are of no use for what happens now
		t.runs = append(t.runs[:0], t.runs[maxRuns/2:]...)
		i = max(0, i-maxRuns/2)
	}
	t.runs = slices.Insert(t.runs, i, run{Span{p.Time, p.Time}, p})
}

// Within returns the first time within a span, with the message that began the run.
func (t *Times) Within(s Span) (p Point, ok bool) {
	for i := range t.runs {
		if r := &t.runs[i]; r.Overlaps(s) {
			return r.first, true
		}
	}
	return p, false
}

// Pause returns the longest time within a span in which nothing happened.
func (t *Times) Pause(s Span) int64 {
	longest, last := int64(0), s.From
	for i := range t.runs {
		r := &t.runs[i]
		if r.To <= s.From {
			continue
		}
		if r.From >= s.To {
			break
		}
		longest = max(longest, r.From-last)
		last = max(last, r.To)
	}
	return max(longest, s.To-last)
}
