package paths

import (
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

// Bounds of what counts as a slow second.
const (
	// SlowAck is how long the fastest acknowledgement of a second takes at least, in
	// nanoseconds.
	SlowAck = int64(8e6)

	// MinSamples is how many acknowledgements must be measured in the second: hosts
	// delay single ones.
	MinSamples = 5

	// BulkBytes is how many bytes of messages prove that acknowledgements were not
	// delayed, if so many are sent in the second: TCP acknowledges each second full
	// segment at once.
	BulkBytes = 64 << 10

	second     = int64(1e9)
	maxSpans   = 32
	maxTypical = 256
)

// RoundTrips are the times in which the receiver of a path acknowledges, by seconds:
// of each second the fastest acknowledgement counts.
type RoundTrips struct {
	Slow []SlowSpan // in order; the last ones are joined when there are too many

	current window
	fastest int64   // acknowledgement of all, 0: none was measured
	typical []int64 // the fastest ones of other seconds, thinned out when there are too many
	every   int     // each such second is kept
	skipped int
}

// SlowSpan is a time in which all acknowledgements were slow.
type SlowSpan struct {
	From, To track.Point // the first and the last message
	Seconds  int         // with enough measurements
	Least    int64       // the fastest acknowledgement in nanoseconds
	Bulk     bool        // proven by bulk data
}

// window is what was measured in a second.
type window struct {
	begin, end track.Point
	bytes      int64
	lnet.RoundTrips
}

// message adds what a message of the path has.
func (t *RoundTrips) message(m *lnet.Message, p track.Point) {
	w := &t.current
	if m.Time-w.begin.Time >= second || m.Time < w.begin.Time {
		switch {
		case w.N < MinSamples:
		case w.Least < SlowAck:
			t.addTypical(w.Least)
		default:
			bulk := w.bytes >= BulkBytes
			if n := len(t.Slow); n > 0 && (n == maxSpans || w.begin.Time-t.Slow[n-1].To.Time < 2*second) {
				s := &t.Slow[n-1]
				s.To, s.Seconds, s.Least, s.Bulk = w.end, s.Seconds+1, min(s.Least, w.Least), s.Bulk || bulk
			} else {
				t.Slow = append(t.Slow, SlowSpan{w.begin, w.end, 1, w.Least, bulk})
			}
		}
		*w = window{begin: p}
	}
	w.end = p
	w.bytes += int64(m.Size)
	if n := m.RoundTrips.N; n > 0 {
		if w.N == 0 || m.RoundTrips.Least < w.Least {
			w.Least = m.RoundTrips.Least
		}
		if t.fastest == 0 || w.Least < t.fastest {
			t.fastest = w.Least
		}
		w.N += n
	}
}

func (t *RoundTrips) addTypical(ns int64) {
	if t.skipped++; t.skipped <= t.every {
		return
	}
	t.skipped = 0
	if len(t.typical) == maxTypical {
		keep := t.typical[:0]
		for i := 0; i < maxTypical; i += 2 {
			keep = append(keep, t.typical[i])
		}
		t.typical, t.every = keep, 2*t.every+1
	}
	t.typical = append(t.typical, ns)
}

// Fastest returns the fastest acknowledgement of all in nanoseconds; ok is false if none was
// measured. Few measurements are enough for it, as hosts delay acknowledgements and never hurry them.
func (t *RoundTrips) Fastest() (ns int64, ok bool) { return t.fastest, t.fastest != 0 }

// Typical returns the median over the seconds that are not slow, in nanoseconds; ok is
// false if all were slow. The current second is not counted.
func (t *RoundTrips) Typical() (ns int64, ok bool) {
	if len(t.typical) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(t.typical))
	return sorted[len(sorted)/2], true
}
