package track

import (
	"math"
	"math/bits"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
)

// Row is the statistics of the RPCs with one key.
type Row struct {
	Key
	Others bool // stands for all rows that were too many

	Count       int64
	Replies     int64
	Unanswered  int64
	OneWay      int64
	Resends     int64
	Errors      map[int32]int64 // by errno, negative
	OtherErrors map[int32]int64 // errors that no status tells

	Latency Dist // nanoseconds
	Service Dist // nanoseconds, in whole seconds

	RequestBytes int64
	ReplyBytes   int64
	BulkBytes    int64

	// IO counts the bulk transfers by size: IO[n] those of at most 1<<n bytes
	// and more than half of that.
	IO [ioSizes]int64

	// How many RPCs of the kind were under way when one was sent, itself
	// included: the most, and what to average.
	DepthMax int64
	depthSum int64
	depthN   int64
}

const ioSizes = 40

// DepthMean is how many RPCs of the kind were under way when one was sent, on
// average.
func (r *Row) DepthMean() float64 {
	if r.depthN == 0 {
		return 0
	}
	return float64(r.depthSum) / float64(r.depthN)
}

// Interval is the statistics of a stretch of time: of the RPCs whose requests
// were sent in it.
type Interval struct {
	From, To int64
	Rows     map[Key]*Row
	Total    Row

	others  *Row
	open    int // RPCs that have not ended
	flushed bool
}

// StatsOptions are the settings of a Stats.
type StatsOptions struct {
	By []Dim

	// Step cuts the time into intervals, in nanoseconds; 0: there is one.
	Step int64

	// Patience is how long an interval waits for RPCs that have not ended,
	// in nanoseconds; 0: until they have. What ends later still counts, in
	// the oldest interval there is.
	Patience int64

	// Flush gets the intervals in order, as they are complete.
	Flush func(*Interval)
}

const maxRows = 1 << 16

// Stats counts and measures RPCs. Its methods Sent, Answered and Done are
// those of Options.
type Stats struct {
	opt    StatsOptions
	steps  []*Interval // oldest first
	begin  int64       // where the last one that was flushed ends
	groups map[Key]*group
	open   int32 // RPCs under way, of all kinds
	free   *group
	live   []Dim // the dimensions that are known when a request is sent
	rpcs   Attached[pending]
}

// pending is what is counted of an RPC that has not ended.
type pending struct {
	group      *group // of the RPCs that wait for a reply; nil: it does not
	depth, all int32  // RPCs under way when it was sent, of that group and of all
	interval   *Interval
}

// group counts the RPCs of a kind that are under way.
type group struct {
	key  Key
	open int32
	next *group // that is free
}

// NewStats makes a Stats.
func NewStats(o StatsOptions) *Stats {
	s := &Stats{opt: o, begin: math.MinInt64, groups: make(map[Key]*group)}
	for _, d := range o.By {
		if d != ByError {
			s.live = append(s.live, d)
		}
	}
	return s
}

// Sent counts a request in.
func (s *Stats) Sent(r *RPC, m *dissect.Message) {
	s.enter(r, m)
	p := s.rpcs.Of(r)
	if p.group != nil || r.OneWay || r.state != open {
		return
	}
	k := r.key(s.live)
	g := s.groups[k]
	if g == nil {
		if len(s.groups) >= maxRows {
			return
		}
		if g = s.free; g == nil {
			g = &group{}
		}
		s.free, g.key = g.next, k
		s.groups[k] = g
	}
	g.open++
	s.open++
	p.group, p.depth, p.all = g, g.open, s.open
}

// Answered counts a request out.
func (s *Stats) Answered(r *RPC, m *dissect.Message) {
	s.leave(s.rpcs.Of(r))
	s.enter(r, m)
}

// enter ties an RPC to the interval of its first message: that one waits until
// the RPC has ended.
func (s *Stats) enter(r *RPC, m *dissect.Message) {
	s.flush(m.Time)
	if p := s.rpcs.Of(r); p.interval == nil && r.state != spent {
		p.interval = s.at(m.Time)
		p.interval.open++
	}
}

func (s *Stats) leave(p *pending) {
	g := p.group
	if g == nil {
		return
	}
	p.group = nil
	s.open--
	// While there is much room, kinds that come again cost nothing.
	if g.open--; g.open == 0 && len(s.groups) > maxRows/2 {
		delete(s.groups, g.key)
		g.next, s.free = s.free, g
	}
}

// Done counts an RPC that has ended.
func (s *Stats) Done(r *RPC) {
	p := s.rpcs.Of(r)
	s.leave(p)
	i := p.interval
	if i != nil {
		i.open--
	}
	if i == nil || i.flushed {
		i = s.at(r.Begin())
	}
	i.row(r.key(s.opt.By)).add(r, int64(p.depth))
	i.Total.add(r, int64(p.all))
	*p = pending{}
}

// Drop takes an RPC that has ended out without counting it.
func (s *Stats) Drop(r *RPC) {
	p := s.rpcs.Of(r)
	s.leave(p)
	if p.interval != nil {
		p.interval.open--
	}
	*p = pending{}
}

// Intervals are those that were not flushed: without steps the only one.
func (s *Stats) Intervals() []*Interval { return s.steps }

// Advance tells the time when no message comes.
func (s *Stats) Advance(now int64) { s.flush(now) }

// Close flushes all.
func (s *Stats) Close() {
	for _, i := range s.steps {
		if s.opt.Flush != nil {
			s.opt.Flush(i)
		}
	}
	s.steps = nil
}

// at finds or makes the interval of a time.
func (s *Stats) at(t int64) *Interval {
	n := len(s.steps)
	if s.opt.Step == 0 {
		if n == 0 {
			s.steps = append(s.steps, newInterval(t, t))
		}
		i := s.steps[0]
		i.From, i.To = min(i.From, t), max(i.To, t)
		return i
	}
	from := t - (t%s.opt.Step+s.opt.Step)%s.opt.Step // also before 1970
	if from < s.begin {                              // its own was flushed
		if n > 0 {
			return s.steps[0]
		}
		from = s.begin
	}
	for k := n - 1; k >= 0; k-- {
		if i := s.steps[k]; i.From == from {
			return i
		} else if i.From < from {
			return s.insert(k+1, from)
		}
	}
	return s.insert(0, from)
}

func (s *Stats) insert(k int, from int64) *Interval {
	s.steps = append(s.steps, nil)
	copy(s.steps[k+1:], s.steps[k:])
	s.steps[k] = newInterval(from, from+s.opt.Step)
	return s.steps[k]
}

func newInterval(from, to int64) *Interval {
	return &Interval{From: from, To: to, Rows: make(map[Key]*Row)}
}

// flush hands out the intervals that nothing more can fall into.
func (s *Stats) flush(now int64) {
	if s.opt.Step == 0 || s.opt.Flush == nil {
		return
	}
	for len(s.steps) > 0 {
		i := s.steps[0]
		over := now - i.To
		if over < 0 || i.open > 0 && (s.opt.Patience == 0 || over < s.opt.Patience) {
			return
		}
		s.steps = s.steps[1:]
		i.flushed, s.begin = true, i.To
		s.opt.Flush(i)
	}
}

func (i *Interval) row(k Key) *Row {
	r := i.Rows[k]
	if r != nil {
		return r
	}
	if len(i.Rows) < maxRows {
		r = &Row{Key: k}
		i.Rows[k] = r
		return r
	}
	if i.others == nil {
		i.others = &Row{Others: true}
	}
	return i.others
}

// List lists the rows, in no order.
func (i *Interval) List() []*Row {
	rows := make([]*Row, 0, len(i.Rows)+1)
	for _, r := range i.Rows {
		rows = append(rows, r)
	}
	if i.others != nil {
		rows = append(rows, i.others)
	}
	return rows
}

func count(m *map[int32]int64, errno int32) {
	if *m == nil {
		*m = make(map[int32]int64)
	}
	(*m)[errno]++
}

// add counts an RPC, and how many were under way with it.
func (w *Row) add(r *RPC, depth int64) {
	w.Count++
	if r.HasReply {
		w.Replies++
	}
	switch {
	case r.Unanswered():
		w.Unanswered++
	case r.OneWay:
		w.OneWay++
	}
	w.Resends += int64(max(0, r.Sends-1))
	if r.Failed() {
		count(&w.Errors, r.Status)
	}
	for _, e := range r.OtherErrors {
		count(&w.OtherErrors, e)
	}
	if ns, ok := r.Latency(); ok {
		w.Latency.Add(ns)
	}
	if r.HasRequest && r.Has(opcodes.PbServiceTime) {
		w.Service.Add(int64(r.Service) * 1e9)
	}
	w.RequestBytes += int64(r.RequestSize)
	w.ReplyBytes += int64(r.ReplySize)
	if n := r.BulkBytes(); n > 0 {
		w.BulkBytes += n
		w.IO[min(bits.Len64(uint64(n-1)), ioSizes-1)]++
	}
	if depth > 0 {
		w.DepthMax = max(w.DepthMax, depth)
		w.depthSum += depth
		w.depthN++
	}
}
