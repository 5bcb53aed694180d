package metrics

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestEventsAddUp counts random events with many values over hours, and checks
// after each batch that series grow only, that no family has too many, and that
// the increments of all series add up to the events.
func TestEventsAddUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 14))
	r := New(testStart)
	jobs := r.Top(5, time.Minute)
	severities := []string{"error", "warning"}
	labels := []Label{{Name: "op"}, {Name: "severity", Values: severities}, {Name: "jobid", Top: jobs}}
	events := r.Family(Desc{Type: CounterType, Name: "events", Help: "Events.", Labels: labels, MaxSeries: 60})
	weights := r.Family(Desc{Type: FloatCounterType, Name: "weights", Help: "Weights.", Labels: labels[:1], MaxSeries: 8})
	sizes := r.Family(Desc{Type: HistogramType, Name: "sizes", Help: "Sizes.", Labels: labels[2:], Bounds: []float64{1, 10, 100}, Schema: 3})

	var want, sumEvents, sumObservations, sumWeights float64
	before := make(map[string]Series)
	promotions := uint64(0)
	for minute := range 600 {
		r.Begin(testStart.Add(time.Duration(minute) * 20 * time.Second))
		for range 200 {
			want++
			op := fmt.Sprintf("op%d", rnd.IntN(30))
			job := fmt.Sprintf("job%d", minute/60*3+int(rnd.ExpFloat64()*3))
			if rnd.IntN(50) == 0 {
				job += fmt.Sprint(rnd.Int())
			}
			severity := []string{"error", "warning", "strange", ""}[rnd.IntN(4)]
			jobs.Count(job)
			events.With(op, severity, job).Inc()
			weights.With(op).Add(0.5)
			sizes.With(job).Observe(rnd.Float64() * 200)
		}
		promotions = jobs.Promotions()
		must.Equal(t, r.Series(), events.Len()+weights.Len()+sizes.Len(), "series in all")
		r.End()
		// A series that is removed within a batch takes its part of the batch
		// along. So the sum is checked where nothing was removed.
		s := r.Snapshot()
		now := make(map[string]Series)
		for _, f := range s.Families {
			limit := map[string]int{"events": 60 + 3, "weights": 8 + 1, "sizes": 6}[f.Name]
			must.That(t, len(f.Points) <= limit, "%s has %d series, more than %d", f.Name, len(f.Points), limit)
			for _, p := range f.Points {
				name := f.Name + p.labels
				old, existed := before[name]
				if existed && old.Created.Equal(p.Created) && (p.Count < old.Count || p.Value < old.Value) {
					t.Fatalf("%s falls from %v to %v", name, old, p)
				}
				if !old.Created.Equal(p.Created) {
					old = Series{}
				}
				switch f.Type {
				case CounterType:
					sumEvents += p.Value - old.Value
				case FloatCounterType:
					sumWeights += 2 * (p.Value - old.Value)
				case HistogramType:
					sumObservations += float64(p.Count - old.Count)
				}
				now[name] = Series{Created: p.Created, Count: p.Count, Value: p.Value}
			}
		}
		before = now
		must.Equal(t, sumWeights, want, "weights add up")
		if removed := float64(200 * promotions); sumEvents > want || sumEvents < want-removed ||
			sumObservations > want || sumObservations < want-removed {
			t.Fatalf("increments add up to %g and %g, want %g", sumEvents, sumObservations, want)
		}
	}
	assert.Equal(t, r.MaxSeries(), 60+3+8+1+6, "at most series")
	assert.That(t, promotions >= 10, "%d promotions: the test is too quiet", promotions)
	missing := want - sumEvents
	assert.That(t, missing <= 0.02*want, "%g of %g events were in series that were removed before the next snapshot", missing, want)
}

// TestEachEventCountsOnce checks after every single event that exactly one
// series of a family has grown, by one, across promotions and demotions.
func TestEachEventCountsOnce(t *testing.T) {
	rnd := rand.New(rand.NewPCG(15, 16))
	r := New(testStart)
	jobs := r.Top(3, 10*time.Second)
	c := r.Family(Desc{Type: CounterType, Name: "x", Help: "X.", Labels: []Label{{Name: "op"}, {Name: "jobid", Top: jobs}}, MaxSeries: 9})
	before := make(map[*Series]float64)
	for i := range 20000 {
		r.Begin(testStart.Add(time.Duration(i) * 50 * time.Millisecond))
		job := fmt.Sprint(i/500*3 + rnd.IntN(6))
		jobs.Count(job)
		c.With(fmt.Sprint(rnd.IntN(5)), job).Inc()
		grown := 0.0
		now := make(map[*Series]float64)
		for _, s := range c.order {
			grown += s.Value - before[s]
			now[s] = s.Value
			if job := s.Values[1]; job != Other && !jobs.has(job) {
				t.Fatalf("event %d: series of %q, which is not a top value", i, job)
			}
		}
		before = now
		r.End()
		must.Equal(t, grown, 1, "event", i, "counts times")
		must.That(t, c.Len() <= 9+1, "%d series", c.Len())
	}
	if jobs.Promotions() < 20 {
		t.Errorf("%d promotions: the test is too quiet", jobs.Promotions())
	}
}

// TestObserveAllocatesNothing covers series that exist, and top values.
func TestObserveAllocatesNothing(t *testing.T) {
	r, observe := testRegistry(t, 500)
	wiretest.NoAllocations(t, 100, observe)
	r.Begin(testStart)
	defer r.End()
	n := r.Series()
	assert.That(t, n <= 200, "%d series", n)
}

// testRegistry returns a registry with a family of each type, and a function that
// makes observations of so many clients.
func testRegistry(t testing.TB, clients int) (*Registry, func()) {
	t.Helper()
	r := New(testStart)
	top := r.Top(10, 10*time.Minute)
	labels := []Label{{Name: "op"}, {Name: "target"}}
	rpcs := r.Family(Desc{Type: CounterType, Name: "test_rpcs", Help: "RPCs.", Labels: labels})
	byClient := r.Family(Desc{Type: CounterType, Name: "test_client_rpcs", Help: "RPCs of a client.", Labels: []Label{{Name: "client", Top: top}}})
	seconds := r.Family(Desc{Type: FloatCounterType, Name: "test_lock_wait_seconds", Help: "Time."})
	inFlight := r.Family(Desc{Type: GaugeType, Name: "test_in_flight", Help: "RPCs without reply."})
	latency := r.Family(Desc{Type: HistogramType, Name: "test_latency_seconds", Help: `Latency, "wire" \ node.`, Labels: labels, Bounds: []float64{0.001, 0.01, 0.1, 1, 10}, Schema: 3})
	names := make([]string, clients)
	for i := range names {
		names[i] = fmt.Sprintf("192.0.2.%d@tcp%d", i%256, i/256)
	}
	i := 0
	observe := func() {
		r.Begin(testStart)
		for range 100 {
			i++
			op, target := names[i%7], names[i%5]
			top.Count(names[i%len(names)])
			rpcs.With(op, target).Inc()
			byClient.With(names[i%len(names)]).Add(2)
			seconds.With().Add(0.25)
			inFlight.With().Set(float64(i))
			latency.With(op, target).Observe(float64(1+i%1000) / 1000)
		}
		r.End()
	}
	for range 500 {
		observe()
	}
	return r, observe
}

// TestConcurrentSnapshots lets snapshots run beside observations; the race
// detector checks the locking. Each family must be consistent in itself.
func TestConcurrentSnapshots(t *testing.T) {
	r := New(testStart)
	labels := []Label{{Name: "op"}}
	h := r.Family(Desc{Type: HistogramType, Name: "x", Help: "X.", Labels: labels, Bounds: []float64{1}, Schema: 3})
	g := r.Family(Desc{Type: GaugeType, Name: "y", Help: "Y."})
	collected := 0
	r.OnCollect(func() { collected++; g.With().Set(float64(collected)) })
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for ended := false; !ended; { // one at least, however late this goroutine runs
				select {
				case <-stop:
					ended = true
				default:
				}
				s := r.Snapshot()
				for _, p := range s.Families[0].Points {
					if p.Classic[0]+p.Classic[1] != p.Count || p.Value != float64(p.Count) {
						t.Errorf("torn snapshot: %+v", p)
						return
					}
				}
			}
		})
	}
	for i := range 2000 {
		r.Begin(testStart)
		for j := range 50 {
			h.With(fmt.Sprint((i + j) % 40)).Observe(1)
		}
		r.End()
	}
	close(stop)
	wg.Wait()
	assert.That(t, collected != 0, "OnCollect has not run")
}

// TestGauges checks what only gauges can do.
func TestGauges(t *testing.T) {
	r := New(testStart)
	g := r.Family(Desc{Type: GaugeType, Name: "x", Help: "X.", Labels: []Label{{Name: "a"}}, MaxSeries: 3})
	r.Begin(testStart)
	defer r.End()
	g.With("1").Set(5)
	g.With("1").Add(-1.5)
	assert.Equal(t, g.With("1").Value, 3.5, "value")
	for i := range 10 {
		g.With(fmt.Sprint(i)).Add(1)
	}
	if g.Len() != 4 || g.With(Other).Value != 7 {
		t.Errorf("%d series, other is %g", g.Len(), g.With(Other).Value)
	}
	g.Reset()
	assert.Equal(t, g.Len(), 0, "series after Reset")
	g.With("7").Set(1)
	assert.Equal(t, g.Len(), 1, "series after Reset and Set")
}

// TestMaxSeries compares the bound with the series that a family can be brought to
// have.
func TestMaxSeries(t *testing.T) {
	r := New(testStart)
	top := r.Top(3, time.Minute)
	given := Label{Name: "given", Values: []string{"a", "b"}}
	for i, labels := range [][]Label{{}, {given}, {{Name: "open"}}, {given, {Name: "open"}}, {given, {Name: "top", Top: top}}, {{Name: "open"}, {Name: "top", Top: top}}} {
		before := r.MaxSeries()
		c := r.Family(Desc{Type: CounterType, Name: fmt.Sprintf("x%d", i), Help: "X.", Labels: labels, MaxSeries: 10})
		r.Begin(testStart)
		for n := range 1000 {
			values := make([]string, len(labels))
			for k, l := range labels {
				switch {
				case l.Values != nil:
					values[k] = []string{"a", "b", "c"}[n%3]
				default:
					values[k] = fmt.Sprint(n / 3 % 30)
				}
				if l.Top != nil {
					top.Count(values[k])
				}
			}
			c.With(values...).Inc()
		}
		assert.Equal(t, c.Len(), r.MaxSeries()-before, "labels", labels, "series, the bound")
		r.End()
	}
}

// TestFamiliesOfCollect checks that a snapshot has the families that its own func declares.
func TestFamiliesOfCollect(t *testing.T) {
	r := New(testStart)
	r.OnCollect(func() { r.Family(Desc{Type: GaugeType, Name: "a"}).With().Set(2) })
	s := r.Snapshot()
	must.Equal(t, len(s.Families), 1, "families")
	assert.Equal(t, s.Families[0].Points[0].Value, 2)
}

// TestFamilyDiffers checks that a family keeps its type and its labels.
func TestFamilyDiffers(t *testing.T) {
	r := New(testStart)
	first := Desc{Type: GaugeType, Name: "a", Labels: []Label{{Name: "x"}}}
	family := r.Family(first)
	assert.That(t, family == r.Family(first), "the same family twice")
	for _, other := range []Desc{{Type: CounterType, Name: "a", Labels: first.Labels}, {Type: GaugeType, Name: "a"}} {
		func() {
			defer func() { assert.That(t, recover() != nil, "%+v was taken", other) }()
			r.Family(other)
		}()
	}
}
