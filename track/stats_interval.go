package track

// Interval is the statistics of a stretch of time: of the RPCs whose requests
// were sent in it.
type Interval struct {
	From, To int64 // nanoseconds since the epoch
	Rows     map[Key]*Row
	Total    Row

	others  *Row
	unended int // RPCs of the interval that have not ended
	flushed bool
}

// maxRows is the number of rows of an interval; what would need more is counted
// in one row for all others.
const maxRows = 1 << 16

func newInterval(from, to int64) *Interval {
	return &Interval{From: from, To: to, Rows: make(map[Key]*Row)}
}

// row finds or makes the row of a key.
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

// List returns the rows, in no order.
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

// intervalAt finds or makes the interval of a time. For a time whose interval
// was flushed it is the oldest one there is.
func (s *Stats) intervalAt(t int64) *Interval {
	n := len(s.intervals)
	if s.opt.Step == 0 {
		if n == 0 {
			s.intervals = append(s.intervals, newInterval(t, t))
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
	s.intervals = append(s.intervals, nil)
	copy(s.intervals[k+1:], s.intervals[k:])
	s.intervals[k] = newInterval(from, from+s.opt.Step)
	return s.intervals[k]
}
