package suspects

import (
	"testing"

	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/internal/assert"
)

// TestSlowIn checks how many requests must be late, for how long, and after how many that were in time, until a stream is slow.
func TestSlowIn(t *testing.T) {
	class := func(latency int64) (c int) {
		for facts.Limit(c) <= latency {
			c++
		}
		return c
	}
	bin := func(ms, latency int64) (b facts.Bin) {
		b.Span, b.Slowest = facts.Span{From: ms * 1e6, To: ms * 1e6}, latency*1e6
		b.Start = b.From - b.Slowest
		b.Counts[class(b.Slowest)]++
		return b
	}
	for name, x := range map[string]struct {
		inTime, late []int64 // when, in ms
		slow, before int
	}{
		"six in 3 s":      {nil, []int64{20000, 20500, 21000, 21500, 22000, 22500}, 1, 0},
		"five":            {nil, []int64{20000, 20500, 21000, 21500, 22500}, 0, 0},
		"for less":        {nil, []int64{20000, 20500, 21000, 21500, 22000, 22499}, 0, 0},
		"with a pause":    {nil, []int64{20000, 20500, 21000, 27000, 27500, 28000}, 1, 0},
		"with a long one": {nil, []int64{20000, 20500, 21000, 27001, 27500, 28000}, 0, 0},
		"after five":      {[]int64{1000, 1100, 1200, 1300, 1400}, []int64{20000, 20500, 21000, 21500, 22000, 22500}, 1, 1},
		"after four":      {[]int64{1000, 1100, 1200, 1300}, []int64{20000, 20500, 21000, 21500, 22000, 22500}, 1, 0},
	} {
		s := &facts.Stream{}
		for _, ms := range x.inTime {
			s.Bins = append(s.Bins, bin(ms, 1))
		}
		for _, ms := range x.late {
			s.Bins = append(s.Bins, bin(ms, 500))
		}
		j := &Judge{usual: map[usualKey]int64{{s.Target(), s.Operation}: 10e6}}
		before := 0
		list := j.slowIn(s)
		for _, slow := range list {
			if j.within(s, slow.Span).Before {
				before++
			}
		}
		assert.That(t, len(list) == x.slow && before == x.before, "%s: slow %d, after others %d", name, len(list), before)
	}
}
