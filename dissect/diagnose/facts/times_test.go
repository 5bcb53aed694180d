package facts

import (
	"testing"

	"github.com/lshark/lshark/internal/assert"
)

const second = int64(1e9)

// TestPause checks the longest pause within a span: at its ends, between two runs, and where nothing happened at all.
func TestPause(t *testing.T) {
	var times Times
	for _, at := range []int64{10, 11, 12, 20, 21} {
		times.add(Point{Frame: at, Time: at * second})
	}
	for _, x := range []struct{ from, to, pause int64 }{
		{10, 21, 8}, {10, 12, 0}, {12, 20, 8}, {5, 12, 5}, {20, 30, 9}, {13, 19, 6}, {0, 5, 5},
	} {
		assert.Equal(t, times.Pause(Span{x.from * second, x.to * second}), x.pause*second, "from", x.from, "to", x.to)
	}
	for _, at := range []int64{16, 9, 17} { // handed out late
		times.add(Point{Frame: at, Time: at * second})
	}
	for _, x := range []struct{ from, to, pause int64 }{{10, 21, 4}, {9, 12, 0}, {13, 15, 2}} {
		assert.Equal(t, times.Pause(Span{x.from * second, x.to * second}), x.pause*second, "late ones: from", x.from, "to", x.to)
	}
	p, ok := times.Within(Span{11 * second, 13 * second})
	assert.That(t, ok && p.Frame == 9, "%+v, %v", p, ok)
	_, ok = times.Within(Span{13 * second, 15 * second})
	assert.That(t, !ok, "something within a pause")
}

// TestOldRunsGo checks that the number of runs has a bound, and that the last ones are kept.
func TestOldRunsGo(t *testing.T) {
	var times Times
	for i := range int64(3 * maxRuns) {
		times.add(Point{Frame: i + 1, Time: 2 * i * second})
	}
	assert.That(t, len(times.runs) <= maxRuns, "%d runs", len(times.runs))
	_, ok := times.Within(Span{2 * (3*maxRuns - 1) * second, 6 * maxRuns * second})
	assert.That(t, ok, "the last run is gone")
}

// TestClasses checks which latencies share a class: up to the limit, and not beyond.
func TestClasses(t *testing.T) {
	for c := range classes - 1 {
		assert.Equal(t, class(Limit(c)-1), c)
		assert.Equal(t, class(Limit(c)), c+1)
	}
	assert.Equal(t, class(1<<62), classes-1)
	var b Bin
	b.Counts[class(Limit(9)-1)], b.Counts[class(Limit(9))] = 1, 2
	late, _ := b.Beyond(Limit(9))
	assert.That(t, b.Within(Limit(9)) == 1 && late == 2, "%d within the end of a class, %d beyond it", b.Within(Limit(9)), late)
}

// TestBinsAreJoined checks that a stream of any length has a bound on its bins, and counts all replies.
func TestBinsAreJoined(t *testing.T) {
	s := &Stream{wide: minBin}
	file := ""
	for i := range 5 * maxBins {
		if len(s.Bins) == maxBins {
			s.widen()
		}
		at := int64(i) * minBin
		b := Bin{Span: Span{at, at}, Slowest: int64(i), reply: int64(i), file: &file}
		b.Counts[0] = 1
		if n := len(s.Bins); n > 0 && at < s.Bins[n-1].From+s.wide {
			s.Bins[n-1].join(&b)
		} else {
			s.Bins = append(s.Bins, b)
		}
	}
	assert.Equal(t, s.Replies(), 5*maxBins)
	last := &s.Bins[len(s.Bins)-1]
	assert.That(t, len(s.Bins) <= maxBins && last.Reply().Frame == 5*maxBins-1, "%d bins, the last with frame %d", len(s.Bins), last.Reply().Frame)
}
