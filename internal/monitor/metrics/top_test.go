package metrics

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// topNames returns the values that have series of their own.
func topNames(top *Top) map[string]bool {
	names := make(map[string]bool)
	for name := range top.values {
		if top.has(name) {
			names[name] = true
		}
	}
	return names
}

// TestTopFindsFrequent checks that the values with most events become the top
// values, among a hundred thousand others, also where they come late.
func TestTopFindsFrequent(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	r := New(testStart)
	top := r.Top(10, 10*time.Minute)
	now := testStart
	phase := func(prefix string, minutes int) {
		for range minutes * 60 {
			now = now.Add(time.Second)
			r.Begin(now)
			for range 100 {
				if i := rnd.IntN(40); i < 10 { // a quarter of the events belongs to ten values
					top.Count(prefix + strconv.Itoa(i))
				} else {
					top.Count(fmt.Sprintf("rare%d", rnd.IntN(100000)))
				}
			}
			r.End()
		}
	}
	check := func(prefix string) {
		t.Helper()
		names := topNames(top)
		for i := range 10 {
			assert.That(t, names[prefix+strconv.Itoa(i)], "%s%d is not among the top values %v", prefix, i, names)
		}
	}
	phase("heavy", 20)
	check("heavy")
	before := top.Promotions()
	assert.That(t, before <= 40, "%d promotions for ten frequent values", before)
	phase("heavy", 120)
	assert.Equal(t, top.Promotions()-before, 0, "promotions while nothing changes")
	before = top.Promotions()
	phase("late", 60)
	check("late")
	n := top.Promotions() - before
	assert.That(t, n <= 20, "%d promotions for ten new values", n)
}

// TestTopDoesNotFlap checks that values of equal weight do not take turns.
func TestTopDoesNotFlap(t *testing.T) {
	for _, perSecond := range []int{1, 50} {
		rnd := rand.New(rand.NewPCG(11, 12))
		r := New(testStart)
		top := r.Top(10, 10*time.Minute)
		for i := range 6 * 3600 {
			r.Begin(testStart.Add(time.Duration(i) * time.Second))
			for range perSecond {
				top.Count(strconv.Itoa(rnd.IntN(20)))
			}
			r.End()
		}
		t.Logf("%d a second: %d promotions in 6 hours", perSecond, top.Promotions()-10)
		n := top.Promotions() - 10
		assert.That(t, n <= 20, "%d a second: %d promotions in 6 hours among 20 equal values", perSecond, n)
	}
}

// TestTopMemory checks that memory does not depend on the number of values.
func TestTopMemory(t *testing.T) {
	r := New(testStart)
	top := r.Top(20, time.Minute)
	r.Begin(testStart)
	for i := range 300_000 {
		top.Count(fmt.Sprintf("job.%d.node%d", i, i%977))
		must.That(t, len(top.values) <= minCounted, "%d values are counted", len(top.values))
	}
	r.End()
	before := wiretest.Heap()
	runtime.KeepAlive(top)
	top = nil
	r = nil
	size := before - wiretest.Heap()
	assert.That(t, size <= 1<<20, "a ranking takes %d bytes", size)
}

// TestTopOtherTime checks times that jump by years, and a value "other".
func TestTopOtherTime(t *testing.T) {
	r := New(testStart)
	top := r.Top(1, time.Minute)
	c := r.Family(Desc{Type: CounterType, Name: "x", Help: "X.", Labels: []Label{{Name: "jobid", Top: top}}})
	count := func(at time.Duration, job string, n int) {
		r.Begin(testStart.Add(at))
		for range n {
			top.Count(job)
			c.With(job).Inc()
		}
		r.End()
	}
	count(0, "other", 1)
	count(0, "a", 100)
	const years = 10 * 365 * 24 * time.Hour
	count(years, "b", 5)
	count(years+15*time.Second, "b", 1) // the values are ranked anew
	names := topNames(top)
	assert.That(t, names["b"], "after ten years the top values are %v", names)
	assert.Equal(t, fmt.Sprint(counts(c)), "map[b:1 other:6]", "counters")
}

func counts(c *Family) map[string]float64 {
	m := make(map[string]float64)
	for _, s := range c.order {
		m[s.Values[0]] = s.Value
	}
	return m
}
