package track

import (
	"math"
	"math/rand"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

const second = int64(time.Second)

// rates are those of all RPCs.
func rates(t *testing.T, s *Stats) (rpcs, bytes float64) {
	t.Helper()
	i := only(t, s)
	r, ok := i.Rate(&i.Total)
	if !ok {
		return math.NaN(), math.NaN()
	}
	return r.RPCs, r.Bytes
}

// TestRates checks that rates are those of the window, by the times of replies.
func TestRates(t *testing.T) {
	w, s := measured(t, StatsOptions{By: []Dimension{ByOp}, Window: 5 * second})
	first := w.now
	for n := range uint64(200) { // ten in a second, from 0.1 s to 20 s
		w.pass(second / 10)
		w.request(xid+n<<7, writer)
		w.send(lnet.Bulk, server, client, rpc(xid+n<<7, writer), size(1000))
		w.reply(xid+n<<7, writer)
	}
	end := w.now
	w.request(xid+1000<<7, writer)               // no reply
	w.request(xid+1001<<7, opcodes.SEC_CTX_FINI) // has none by design
	w.end()
	size := float64(100 + 50 + 1000)
	for _, tt := range []struct {
		first, end  int64
		rpcs, bytes float64
	}{
		{first, end, (46 + 1) / 4.5, (46*size + 100) / 4.5}, // the window begins with a step, at 15.5 s
		{first, end + second/4, (46 + 1) / 4.75, (46*size + 100) / 4.75},
		{first, end + 2*second, (26 + 1) / 4.5, (26*size + 100) / 4.5},
		{first, end + 9*second, 0, 0},
		{end - second, end, 11 + 1, 11*size + 100}, // the capture began a second before
		{end, end, math.NaN(), math.NaN()},
		{first - 1000*second, end - 1000*second, math.NaN(), math.NaN()}, // the clock was set back
	} {
		s.SetWindow(tt.first, tt.end)
		rpcs, bytes := rates(t, s)
		if math.Abs(rpcs-tt.rpcs) > 1e-9 || math.Abs(bytes-tt.bytes) > 1e-6 || math.IsNaN(rpcs) != math.IsNaN(tt.rpcs) {
			t.Errorf("%v to %v: %v RPCs, %v bytes, want %v, %v", time.Duration(tt.first-first), time.Duration(tt.end-first), rpcs, bytes, tt.rpcs, tt.bytes)
		}
	}
	if _, ok := only(t, s).Rate(&Row{}); ok {
		t.Error("a row that was not counted has a rate")
	}
}

// TestRatesBefore1970 checks rates where times are negative.
func TestRatesBefore1970(t *testing.T) {
	w, s := measured(t, StatsOptions{Window: second})
	w.now = -10 * second
	first := w.now
	for n := range uint64(10) {
		w.request(xid+n<<7, writer)
		w.pass(second)
		w.reply(xid+n<<7, writer)
	}
	w.end()
	s.SetWindow(first, w.now)
	if rpcs, _ := rates(t, s); rpcs != 1/.9 {
		t.Errorf("%v RPCs a second", rpcs)
	}
}

// TestNoRates checks that there are no rates, and nothing is kept for them,
// without a window.
func TestNoRates(t *testing.T) {
	w, s := measured(t, StatsOptions{})
	w.request(xid, writer)
	w.reply(xid, writer)
	w.end()
	s.SetWindow(0, w.now)
	if rpcs, _ := rates(t, s); !math.IsNaN(rpcs) || only(t, s).Total.recent != nil || only(t, s).Window() != 0 {
		t.Errorf("%v RPCs a second", rpcs)
	}
}

// TestRatesAllocateNothing: counting an RPC for rates allocates nothing.
func TestRatesAllocateNothing(t *testing.T) {
	s := NewStats(StatsOptions{By: []Dimension{ByOp}, Window: second})
	r := &RPC{}
	r.HasReply, r.HasRequest = true, true
	now := int64(1e18)
	s.Done(r)
	if n := testing.AllocsPerRun(1000, func() {
		now += second / 7
		r.sighting(0).Reply = Point{Frame: 1, Time: now}
		s.Done(r)
		s.SetWindow(0, now)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestQuantilesOfAnyValues compares with the sorted values.
func TestQuantilesOfAnyValues(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for _, most := range []float64{1, 10, 100, 255, 256, 300, 1e4, 1e9, 1e15, math.MaxInt64 / 2} {
		for _, n := range []int{1, 2, 100, maxExact, maxExact + 1, 5000} {
			var d Distribution
			var all []int64
			for range n {
				v := int64(math.Pow(most, random.Float64()))
				d.Add(v)
				all = append(all, v)
			}
			slices.Sort(all)
			for _, q := range []float64{0, .001, .5, .9, .99, 1} {
				want := all[max(1, int(math.Ceil(q*float64(n)-1e-9)))-1]
				if got := d.Quantile(q); got < want || float64(got) > float64(want)*1.01 {
					t.Fatalf("%d values up to %g: quantile %g is %d, not %d", n, most, q, got, want)
				}
			}
			total, last := int64(0), int64(-1)
			d.Each(func(v, n int64) {
				if total += n; v < last {
					t.Fatalf("%d behind %d", v, last)
				}
				last = v
			})
			if total != int64(n) || d.Min != all[0] || d.Max != all[n-1] {
				t.Fatalf("%d of %d values, %d to %d", total, n, d.Min, d.Max)
			}
		}
	}
	var d Distribution
	for range 2 * maxExact {
		d.Add(math.MaxInt64)
		d.Add(-1)
	}
	if d.Quantile(.5) != 0 || d.Quantile(.6) != math.MaxInt64 {
		t.Error(d.Quantile(.5), d.Quantile(.6))
	}
}

// TestSumOfGreatValues: invalid time stamps give no negative sum.
func TestSumOfGreatValues(t *testing.T) {
	var d Distribution
	for range 3 {
		d.Add(math.MaxInt64 / 2)
	}
	if d.Sum != math.MaxInt64 || d.Mean() < 0 {
		t.Error(d.Sum, d.Mean())
	}
	d.Add(1)
	if d.Sum != math.MaxInt64 {
		t.Error(d.Sum)
	}
}

// TestDistributionIsSmall has thousands of rows of an ordinary server: milliseconds,
// some seconds.
func TestDistributionIsSmall(t *testing.T) {
	const rows = 1000
	before := wiretest.Heap()
	list := make([]Distribution, rows)
	for i := range list {
		for k := range int64(1000) {
			list[i].Add(1e6 + k*10_000)
		}
	}
	if n := (wiretest.Heap() - before) / rows; n > 8<<10 {
		t.Error(n, "bytes each")
	}
	runtime.KeepAlive(list)
}
