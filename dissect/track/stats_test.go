package track

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// measured makes RPCs whose statistics are kept.
func measured(t testing.TB, o StatsOptions) (*wire, *Stats) {
	s := NewStats(o)
	return newWire(t, Options{Sent: s.Sent, Answered: s.Answered, Done: s.Done, Linger: ms}), s
}

func only(t *testing.T, s *Stats) *Interval {
	t.Helper()
	must.Equal(t, len(s.Intervals()), 1, "intervals")
	return s.Intervals()[0]
}

func TestStatsCount(t *testing.T) {
	w, s := measured(t, StatsOptions{By: []Dimension{ByOp, ByJob}})
	for i := range uint64(10) {
		w.request(xid+i<<7, writer, job("a"))
		w.send(lnet.Bulk, server, client, rpc(xid+i<<7, writer), size(4096))
		w.pass(int64(i) * ms)
		if i == 9 {
			break // stays without reply
		}
		e := int32(0)
		if i%3 == 0 {
			e = -28
		}
		w.reply(xid+i<<7, writer, status(e))
	}
	w.request(xid+20<<7, writer, job("b"))
	w.request(xid+21<<7, opcodes.SEC_CTX_FINI, job("b"))
	w.end()
	rows := only(t, s).Rows
	key := Key{RequestKey: RequestKey{Opcode: writer, HasOpcode: true}}
	copy(key.Job[:], "a")
	r := rows[key]
	must.That(t, len(rows) == 3 && r != nil, "rows %v", rows)
	if r.Count != 10 || r.Replies != 9 || r.Missing[CaptureEnded] != 1 || r.Errors[-28] != 3 || len(r.Errors) != 1 {
		t.Errorf("count %d, replies %d, unanswered %d, errors %v", r.Count, r.Replies, r.Missing, r.Errors)
	}
	if r.RequestBytes != 1000 || r.ReplyBytes != 450 || r.BulkBytes != 40960 || r.IO[12] != 10 {
		t.Errorf("bytes %d %d %d, sizes %v", r.RequestBytes, r.ReplyBytes, r.BulkBytes, r.IO)
	}
	if l := &r.Latency; l.Min != 0 || l.Max != 8*ms || l.Sum != 36*ms || l.Quantile(.5) != 4*ms || l.Quantile(.99) != 8*ms {
		t.Errorf("latency %+v, median %d", l, l.Quantile(.5))
	}
	all := &only(t, s).Total
	assert.That(t, all.Count == 12 && all.OneWay == 1 && all.Missing[CaptureEnded] == 2, "total %+v", all)
}

func TestStatsByError(t *testing.T) {
	w, s := measured(t, StatsOptions{By: []Dimension{ByError}})
	for i, e := range []int32{0, -2, -2, -13, 301} {
		w.request(xid+uint64(i)<<7, getter)
		w.reply(xid+uint64(i)<<7, getter, status(e))
	}
	w.end()
	rows := only(t, s).Rows
	for e, n := range map[int32]int64{0: 2, -2: 2, -13: 1} {
		r := rows[Key{RequestKey: RequestKey{Error: int16(e)}}]
		assert.That(t, r != nil && r.Count == n, "error %d: %+v, want %d", e, r, n)
	}
}

func TestDepth(t *testing.T) {
	w, s := measured(t, StatsOptions{By: []Dimension{ByOp}})
	for _, step := range []int{1, 2, -1, 3, 4, -2, -3, -4, 5, -5} { // n is sent, -n answered
		if step > 0 {
			w.request(xid+uint64(step)<<7, getter)
		} else {
			w.reply(xid+uint64(-step)<<7, getter)
		}
		w.pass(10 * ms)
	}
	w.end()
	r := only(t, s).Rows[Key{RequestKey: RequestKey{Opcode: getter, HasOpcode: true}}]
	if r.DepthMax != 3 || r.DepthMean() != (1+2+2+3+1)/5. {
		t.Errorf("depth %d, mean %v", r.DepthMax, r.DepthMean())
	}
}

// Intervals come in order, each with the RPCs whose requests were sent in it,
// and not before those have ended.
func TestIntervals(t *testing.T) {
	var got [][2]int64
	w, s := measured(t, StatsOptions{Step: int64(time.Second), Flush: func(i *Interval) {
		got = append(got, [2]int64{(i.From - 1e18) / 1e9, i.Total.Count})
	}})
	send := func(n uint64) { w.request(xid+n<<7, getter) }
	answer := func(n uint64) { w.reply(xid+n<<7, getter) }
	second := func() { w.pass(int64(time.Second)) }
	send(1)
	send(2)
	answer(1)
	second()
	send(3)
	answer(3)
	second()
	second()
	must.Equal(t, len(got), 0, "intervals", got, "while an RPC of the first is in flight")
	send(4)
	answer(2)
	second()
	send(5)
	assert.Slice(t, got, [][2]int64{{0, 2}, {1, 1}}, "intervals")
	w.end()
	s.Close()
	assert.Slice(t, got, [][2]int64{{0, 2}, {1, 1}, {3, 1}, {4, 1}}, "intervals at the end")
}

// TestIntervalsOfAll: RPCs that do not wait count in their intervals too: a
// reply without a request, a one-way request, and an RPC whose key is beyond the
// maximum.
func TestIntervalsOfAll(t *testing.T) {
	for name, last := range map[string]func(w *wire, n uint64){
		"orphan": func(w *wire, n uint64) { w.reply(xid+n<<7, getter) },
		"one-way": func(w *wire, n uint64) {
			w.request(xid+n<<7, opcodes.SEC_CTX_FINI)
		},
		"key": func(w *wire, n uint64) {
			w.request(xid+n<<7, getter, user(uint32(n)))
			w.pass(int64(time.Second))
			w.reply(xid+n<<7, getter)
			w.pass(-int64(time.Second))
		},
	} {
		for _, patience := range []int64{0, int64(time.Second)} {
			var got [][2]int64
			s := NewStats(StatsOptions{By: []Dimension{ByUID}, Step: int64(time.Second), Patience: patience, Flush: func(i *Interval) {
				got = append(got, [2]int64{(i.From - 1e18) / 1e9, i.Total.Count})
			}})
			for uid := range uint32(maxRows) { // in flight all the time
				s.inFlight[RequestKey{UID: 1<<30 + uid}] = &inFlightCount{n: 1}
			}
			w := newWire(t, Options{Sent: s.Sent, Answered: s.Answered, Done: s.Done, Linger: 500 * ms})
			const seconds = 10
			for n := range uint64(seconds) {
				w.request(xid+(2*n)<<7, getter)
				w.pass(ms)
				w.reply(xid+(2*n)<<7, getter)
				w.pass(899 * ms)
				last(w, 2*n+1)
				w.pass(100 * ms)
			}
			w.end()
			s.Close()
			sum, before := int64(0), int64(-1)
			for _, i := range got {
				if i[0] <= before || patience == 0 && i[1] != 2 {
					t.Errorf("%s, patience %d: intervals %v", name, patience, got)
					break
				}
				before = i[0]
				sum += i[1]
			}
			assert.Equal(t, sum, 2*seconds, name, "patience", patience, "RPCs counted")
		}
	}
}

// TestIntervalOfEarlyReplies: an RPC of which only early replies were seen
// belongs to their time.
func TestIntervalOfEarlyReplies(t *testing.T) {
	w, s := measured(t, StatsOptions{})
	w.send(lnet.EarlyReply, server, client, rpc(xid, getter))
	w.pass(ms)
	w.request(xid+128, getter)
	w.end()
	i := only(t, s)
	assert.That(t, i.From == 1e18 && i.To == 1e18+ms && i.Total.Count == 2, "from %d to %d, %d RPCs", i.From, i.To, i.Total.Count)
}

// TestInFlightCountsAreForgotten: of the keys whose RPCs all have ended so many
// are kept that there is room for as many others. Reuse allocates nothing.
func TestInFlightCountsAreForgotten(t *testing.T) {
	w, s := measured(t, StatsOptions{By: []Dimension{ByUID}})
	const keys = maxRows + 100
	for n := range uint64(keys) {
		w.request(xid+n<<7, getter, user(uint32(n)))
	}
	most := len(s.inFlight)
	for n := range uint64(keys) {
		w.reply(xid+n<<7, getter)
	}
	assert.That(t, most == maxRows && len(s.inFlight) == maxRows/2, "%d keys, then %d", most, len(s.inFlight))
	r := &RPC{Request: Request{UID: keys, HasUser: true}}
	m := &dissect.Message{Message: lnet.Message{Time: w.now}}
	if n := testing.AllocsPerRun(1000, func() {
		s.Sent(r, m)
		must.Equal(t, s.attached.Of(r).depth, 1, "depth")
		s.Answered(r, m)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestImpatientIntervals(t *testing.T) {
	flushed, count := 0, int64(0)
	w, s := measured(t, StatsOptions{Step: int64(time.Second), Patience: int64(2 * time.Second), Flush: func(i *Interval) {
		flushed++
		count += i.Total.Count
	}})
	w.request(xid, getter)
	w.pass(int64(4 * time.Second))
	w.request(xid+128, getter)
	must.Equal(t, flushed, 1, "intervals flushed")
	w.reply(xid, getter)
	w.end()
	s.Close()
	assert.Equal(t, count, 2, "RPCs counted")
}

func TestRowsAreBounded(t *testing.T) {
	s := NewStats(StatsOptions{By: []Dimension{ByUID}})
	r := &RPC{HasReply: true}
	for i := range uint32(maxRows + 100) {
		r.UID = i
		s.Done(r)
	}
	i := only(t, s)
	if len(i.List()) != maxRows+1 || i.others.Count != 100 || i.Total.Count != maxRows+100 {
		t.Errorf("%d rows, %d others", len(i.List()), i.others.Count)
	}
}

func TestQuantiles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 100, maxExact, maxExact + 1, 20000} {
		var d Distribution
		values := make([]int64, n)
		for i := range values {
			values[i] = int64(20e3 * math.Exp(rnd.Float64()*12)) // 20 µs to 3 s
			d.Add(values[i])
		}
		slices.Sort(values)
		for _, q := range []float64{0.01, .5, .9, .99, 1} {
			want := values[max(1, int(math.Ceil(q*float64(n))))-1]
			got := d.Quantile(q)
			assert.That(t, math.Abs(float64(got-want)) <= .01*float64(want), "%d values: quantile %v is %d, want %d", n, q, got, want)
		}
		assert.That(t, d.Min == values[0] && d.Max == values[n-1], "%d values: from %d to %d", n, d.Min, d.Max)
		var count int64
		d.Each(func(_, n int64) { count += n })
		assert.Equal(t, count, int64(n), n, "values in the bins")
	}
}

// TestDepthOfAll: the depth of the total is that of all RPCs, whatever the rows
// are grouped by.
func TestDepthOfAll(t *testing.T) {
	w, s := measured(t, StatsOptions{By: []Dimension{ByUID}})
	for n := range uint64(3) {
		w.request(xid+n<<7, getter, user(uint32(n)))
	}
	for n := range uint64(3) {
		w.reply(xid+n<<7, getter)
	}
	w.end()
	i := only(t, s)
	for _, r := range i.List() {
		assert.Equal(t, r.DepthMax, 1, "of uid", r.UID, "in flight")
	}
	if i.Total.DepthMax != 3 || i.Total.DepthMean() != 2 {
		t.Errorf("%d in flight, %v on average", i.Total.DepthMax, i.Total.DepthMean())
	}
}

// TestServiceLimit: pb_service_time is the difference of two clock readings in
// whole seconds, at least 1.
func TestServiceLimit(t *testing.T) {
	w, s := measured(t, StatsOptions{})
	for i, seconds := range []uint32{1, 3, 0} {
		w.request(xid+uint64(i)<<7, getter)
		w.reply(xid+uint64(i)<<7, getter, func(m *dissect.Message) { m.RPC.Service = seconds })
	}
	w.request(xid+9<<7, getter)
	for i, want := range []int64{2, 4, 0, 0} {
		limit, ok := w.end()[i].ServiceLimit()
		assert.That(t, ok == (want > 0) && (!ok || limit == want), "RPC %d: less than %d s, %v; want %d", i, limit, ok, want)
	}
	assert.Equal(t, only(t, s).Total.ServiceLimit, 4, "all less than s")
}

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
	_, ok := only(t, s).Rate(&Row{})
	assert.That(t, !ok, "a row that was not counted has a rate")
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
	rpcs, _ := rates(t, s)
	assert.That(t, rpcs == 1/.9, "%v RPCs a second", rpcs)
}

// TestNoRates checks that there are no rates, and nothing is kept for them,
// without a window.
func TestNoRates(t *testing.T) {
	w, s := measured(t, StatsOptions{})
	w.request(xid, writer)
	w.reply(xid, writer)
	w.end()
	s.SetWindow(0, w.now)
	rpcs, _ := rates(t, s)
	assert.That(t, math.IsNaN(rpcs) && only(t, s).Total.recent == nil && only(t, s).Window() == 0, "%v RPCs a second", rpcs)
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
	random := rand.New(rand.NewPCG(1, 1))
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
			must.That(t, total == int64(n) && d.Min == all[0] && d.Max == all[n-1], "%d of %d values, %d to %d", total, n, d.Min, d.Max)
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
	assert.Equal(t, d.Sum, math.MaxInt64)
	d.Add(1)
	assert.Equal(t, d.Sum, math.MaxInt64)
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
