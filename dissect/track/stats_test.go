package track

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// measured makes RPCs whose statistics are kept.
func measured(t testing.TB, o StatsOptions) (*wire, *Stats) {
	s := NewStats(o)
	return newWire(t, Options{Sent: s.Sent, Answered: s.Answered, Done: s.Done, Linger: ms}), s
}

func only(t *testing.T, s *Stats) *Interval {
	t.Helper()
	if n := len(s.Intervals()); n != 1 {
		t.Fatalf("%d intervals", n)
	}
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
	if len(rows) != 3 || r == nil {
		t.Fatalf("rows %v", rows)
	}
	if r.Count != 10 || r.Replies != 9 || r.Missing[CaptureEnded] != 1 || r.Errors[-28] != 3 || len(r.Errors) != 1 {
		t.Errorf("count %d, replies %d, unanswered %d, errors %v", r.Count, r.Replies, r.Missing, r.Errors)
	}
	if r.RequestBytes != 1000 || r.ReplyBytes != 450 || r.BulkBytes != 40960 || r.IO[12] != 10 {
		t.Errorf("bytes %d %d %d, sizes %v", r.RequestBytes, r.ReplyBytes, r.BulkBytes, r.IO)
	}
	if l := &r.Latency; l.Min != 0 || l.Max != 8*ms || l.Sum != 36*ms || l.Quantile(.5) != 4*ms || l.Quantile(.99) != 8*ms {
		t.Errorf("latency %+v, median %d", l, l.Quantile(.5))
	}
	if all := &only(t, s).Total; all.Count != 12 || all.OneWay != 1 || all.Missing[CaptureEnded] != 2 {
		t.Errorf("total %+v", all)
	}
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
		if r := rows[Key{RequestKey: RequestKey{Error: int16(e)}}]; r == nil || r.Count != n {
			t.Errorf("error %d: %+v, want %d", e, r, n)
		}
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
	if len(got) != 0 {
		t.Fatalf("intervals %v while an RPC of the first is in flight", got)
	}
	send(4)
	answer(2)
	second()
	send(5)
	if !slices.Equal(got, [][2]int64{{0, 2}, {1, 1}}) {
		t.Errorf("intervals %v", got)
	}
	w.end()
	s.Close()
	if !slices.Equal(got, [][2]int64{{0, 2}, {1, 1}, {3, 1}, {4, 1}}) {
		t.Errorf("intervals %v at the end", got)
	}
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
			if sum != 2*seconds {
				t.Errorf("%s, patience %d: %d RPCs counted", name, patience, sum)
			}
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
	if i := only(t, s); i.From != 1e18 || i.To != 1e18+ms || i.Total.Count != 2 {
		t.Errorf("from %d to %d, %d RPCs", i.From, i.To, i.Total.Count)
	}
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
	if most != maxRows || len(s.inFlight) != maxRows/2 {
		t.Errorf("%d keys, then %d", most, len(s.inFlight))
	}
	r := &RPC{Request: Request{UID: keys, HasUser: true}}
	m := &dissect.Message{Message: lnet.Message{Time: w.now}}
	if n := testing.AllocsPerRun(1000, func() {
		if s.Sent(r, m); s.attached.Of(r).depth != 1 {
			t.Fatalf("depth %d", s.attached.Of(r).depth)
		}
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
	if flushed != 1 {
		t.Fatalf("%d intervals flushed", flushed)
	}
	w.reply(xid, getter)
	w.end()
	s.Close()
	if count != 2 {
		t.Errorf("%d RPCs counted", count)
	}
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
			if got := d.Quantile(q); math.Abs(float64(got-want)) > .01*float64(want) {
				t.Errorf("%d values: quantile %v is %d, want %d", n, q, got, want)
			}
		}
		if d.Min != values[0] || d.Max != values[n-1] {
			t.Errorf("%d values: from %d to %d", n, d.Min, d.Max)
		}
		var count int64
		d.Each(func(_, n int64) { count += n })
		if count != int64(n) {
			t.Errorf("%d of %d values in the bins", count, n)
		}
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
		if r.DepthMax != 1 {
			t.Errorf("%d of uid %d in flight", r.DepthMax, r.UID)
		}
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
		if limit, ok := w.end()[i].ServiceLimit(); ok != (want > 0) || ok && limit != want {
			t.Errorf("RPC %d: less than %d s, %v; want %d", i, limit, ok, want)
		}
	}
	if n := only(t, s).Total.ServiceLimit; n != 4 {
		t.Errorf("all less than %d s", n)
	}
}
