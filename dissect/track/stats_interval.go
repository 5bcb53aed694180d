package track

import "slices"

// Interval is the statistics of a stretch of time: of the RPCs whose requests
// were sent in it.
type Interval struct {
	From, To int64 // nanoseconds since the epoch
	Rows     map[Key]*Row
	Total    Row

	window  *window // for rates
	path    func(FID) string
	others  *Row
	latest  [latestRows]*Row // rows found last, by their opcode
	unended int              // RPCs of the interval that have not ended
	flushed bool
}

// maxRows is the number of rows of an interval; what would need more is counted
// in one row for all others.
const maxRows = 1 << 16

func newInterval(from, to int64, w *window, path func(FID) string) *Interval {
	i := &Interval{From: from, To: to, Rows: make(map[Key]*Row), window: w, path: path}
	i.Total.recent = i.newRecent()
	return i
}

// newRecent returns the counts of a row for its rates, nil when there are none.
func (i *Interval) newRecent() *recent {
	if i.window.step == 0 {
		return nil
	}
	return &recent{}
}

// latestRows is a power of two: the opcodes of a service are successive numbers.
const latestRows = 32

// row finds or makes the row of a key.
func (i *Interval) row(k *Key) *Row {
	latest := &i.latest[k.Opcode%latestRows]
	if r := *latest; r != nil && r.Key == *k {
		return r
	}
	r := i.Rows[*k]
	if r == nil && len(i.Rows) < maxRows {
		r = &Row{Key: *k, recent: i.newRecent()}
		i.Rows[*k] = r
	}
	if r != nil {
		*latest = r
		return r
	}
	if i.others == nil {
		i.others = &Row{Others: true, recent: i.newRecent()}
	}
	return i.others
}

// List returns the rows, in no order.
func (i *Interval) List() []*Row {
	rows := make([]*Row, 0, len(i.Rows)+1)
	for _, r := range i.Rows {
		rows = append(rows, r)
		if i.path != nil {
			r.Path = i.path(r.File)
		}
	}
	if i.others != nil {
		rows = append(rows, i.others)
	}
	return rows
}

// intervalAt finds or makes the interval of a time. For a time whose interval
// was flushed it is the oldest one there is.
func (s *Stats) intervalAt(t int64) *Interval {
	n := len(s.intervals)
	if s.opt.Step == 0 {
		if n == 0 {
			s.intervals = append(s.intervals, newInterval(t, t, &s.window, s.opt.Path))
		}
		i := s.intervals[0]
		i.From, i.To = min(i.From, t), max(i.To, t)
		return i
	}
	from := t - (t%s.opt.Step+s.opt.Step)%s.opt.Step // also before 1970
	if from < s.flushedTo {
		if n > 0 {
			return s.intervals[0]
		}
		from = s.flushedTo
	}
	for k := n - 1; k >= 0; k-- {
		if i := s.intervals[k]; i.From == from {
			return i
		} else if i.From < from {
			return s.insertInterval(k+1, from)
		}
	}
	return s.insertInterval(0, from)
}

func (s *Stats) insertInterval(k int, from int64) *Interval {
	s.intervals = slices.Insert(s.intervals, k, newInterval(from, from+s.opt.Step, &s.window, s.opt.Path))
	return s.intervals[k]
}

// Rate is how much happens in a second.
type Rate struct {
	RPCs  float64 // that are answered, or sent when they have no reply by design
	Bytes float64 // of their requests, replies and bulk data
}

// window is the last part of the capture, for which rates are computed. It moves
// in steps. All intervals of a Stats share it.
type window struct {
	step     int64 // nanoseconds
	from, to int64 // nanoseconds since the epoch
	newest   int64 // step in which an RPC was answered
}

const (
	windowSteps = 10
	rateSlots   = 16 // more than the steps of a window, for RPCs that are counted before the window reaches them
)

// recent counts the RPCs of a row by the step in which they were answered: in slot
// n the ones of the last step whose number is n modulo rateSlots.
type recent [rateSlots]struct {
	step  int64
	rpcs  int64
	bytes int64
}

// SetWindow moves the window for rates, which has the length of
// StatsOptions.Window, to the end of what was counted: all RPCs that were answered
// by then were passed to Done. Both times are in nanoseconds since the epoch;
// first is when the capture began. The window begins at a multiple of a tenth of
// its length, so it is up to a tenth shorter.
func (s *Stats) SetWindow(first, end int64) {
	w := &s.window
	if w.step == 0 {
		return
	}
	w.to = end
	w.from = max(first, (w.number(end)-windowSteps+1)*w.step)
}

// number returns the number of the step of a time.
func (w *window) number(t int64) int64 {
	n := t / w.step
	if t%w.step < 0 {
		n--
	}
	return n
}

func slotOf(step int64) int64 { return (step%rateSlots + rateSlots) % rateSlots }

// count counts an RPC that has ended.
func (w *window) count(row *Row, r *RPC) {
	if row.recent == nil {
		return
	}
	t := r.Replied().Time
	switch {
	case r.OneWay:
		t = r.Requested().Time
	case !r.HasReply:
		return
	}
	n := w.number(t)
	w.newest = max(w.newest, n)
	slot := &row.recent[slotOf(n)]
	switch {
	case slot.rpcs == 0 || n > slot.step:
		slot.step, slot.rpcs, slot.bytes = n, 0, 0
	case n < slot.step:
		return // too old
	}
	slot.rpcs++
	slot.bytes += int64(r.RequestSize) + int64(r.ReplySize) + max(0, r.BulkBytes())
}

// Rate returns the rate of a row of the interval in the window. ok reports
// whether it is known: StatsOptions.Window was set, time has passed, and the clock
// was not set back so far that RPCs of the window were not counted.
func (i *Interval) Rate(r *Row) (rate Rate, ok bool) {
	w := i.window
	if r.recent == nil || w.to <= w.from || w.newest-w.number(w.to) > rateSlots-windowSteps {
		return Rate{}, false
	}
	var rpcs, bytes int64
	for n := w.number(w.from); n <= w.number(w.to); n++ {
		if slot := &r.recent[slotOf(n)]; slot.step == n {
			rpcs += slot.rpcs
			bytes += slot.bytes
		}
	}
	seconds := float64(w.to-w.from) / 1e9
	return Rate{float64(rpcs) / seconds, float64(bytes) / seconds}, true
}

// Window returns the length of the window for rates in nanoseconds, 0 without
// one.
func (i *Interval) Window() int64 { return max(0, i.window.to-i.window.from) }
