package render

import (
	"math"
	"strconv"

	"github.com/lshark/lshark/track"
)

// StatsTable renders statistics as tables for people.
type StatsTable struct {
	opt   StatsOptions
	stamp stamp
}

// NewStatsTable makes a renderer.
func NewStatsTable(o StatsOptions) *StatsTable { return &StatsTable{opt: o} }

// SetSort changes the order of rows.
func (s *StatsTable) SetSort(order string) { s.opt.Sort = order }

// SetWidth sets the width of the terminal in columns.
func (s *StatsTable) SetWidth(columns int) { s.opt.Width = columns }

// columns returns the columns of the dimensions and of the numbers. Less
// important ones are shown only where there is room for them.
func (s *StatsTable) columns() []tableColumn {
	var cols []tableColumn
	for _, d := range s.opt.By {
		cols = append(cols, tableColumn{title: d.String(), left: true})
	}
	return append(cols, tableColumn{title: "count"}, tableColumn{title: "err"}, tableColumn{title: "unans"},
		tableColumn{title: "p50"}, tableColumn{title: "p90", rank: extra}, tableColumn{title: "p99"},
		tableColumn{title: "max"}, tableColumn{title: "bulk", rank: useful}, tableColumn{title: "depth", rank: extra},
		tableColumn{title: "time", rank: extra}, tableColumn{title: "min", rank: extra},
		tableColumn{title: "svc", rank: extra}, tableColumn{title: "sent", rank: extra},
		tableColumn{title: "got", rank: extra}, tableColumn{title: "errors", left: true, rank: useful})
}

// AppendInterval appends the table of an interval.
func (s *StatsTable) AppendInterval(dst []byte, i *track.Interval) []byte {
	if s.opt.Step > 0 {
		dst = s.opt.Colors.Head.Append(dst, string(s.stamp.iso(nil, i.From)))
		dst = append(dst, '\n')
	}
	t := newTable(s.opt.Colors, s.columns())
	rows := sortRows(i, s.opt.By, s.opt.Sort)
	for _, r := range rows {
		s.row(t, r, false)
	}
	if len(rows) > 1 {
		s.row(t, &i.Total, true)
	}
	dst = t.render(dst, s.opt.Width)
	if s.opt.Bars {
		for _, r := range rows {
			dst = s.bars(dst, r)
		}
	}
	return dst
}

// dimension appends the value of a dimension.
func (s *StatsTable) dimension(dst []byte, r *track.Row, d track.Dimension) []byte {
	if d == track.ByUID && r.HasUser && r.UID == math.MaxUint32 {
		return append(dst, "-1"...) // (uid_t)-1: no user
	}
	return appendDimension(dst, r, d, s.opt.FullNIDs)
}

func (s *StatsTable) row(t *table, r *track.Row, total bool) {
	c := s.opt.Colors
	for k, d := range s.opt.By {
		t.put(&c.Op, func(b []byte) []byte {
			switch {
			case k == 0 && total:
				return append(b, "(all)"...)
			case k == 0 && r.Others:
				return append(b, "(others)"...)
			case total:
				return b
			}
			from := len(b)
			if b = s.dimension(b, r, d); len(b) == from {
				return append(b, '-')
			}
			return b
		})
	}
	number := func(st *Style, n int64) {
		if n == 0 {
			st = &c.Dim
		}
		t.put(st, func(b []byte) []byte { return strconv.AppendInt(b, n, 10) })
	}
	span := func(get func(d *track.Distribution) int64) {
		t.put(&c.Num, func(b []byte) []byte {
			if r.Latency.N == 0 {
				return append(b, '-')
			}
			return appendLatency(b, get(&r.Latency))
		})
	}
	size := func(n int64) { t.put(&c.Num, func(b []byte) []byte { return appendSize(b, n) }) }
	number(&c.Num, r.Count)
	number(&c.Bad, failures(r))
	number(&c.Warn, r.Unanswered)
	span(func(d *track.Distribution) int64 { return d.Quantile(.5) })
	span(func(d *track.Distribution) int64 { return d.Quantile(.9) })
	span(func(d *track.Distribution) int64 { return d.Quantile(.99) })
	span(func(d *track.Distribution) int64 { return d.Max })
	size(r.BulkBytes)
	t.put(&c.Num, func(b []byte) []byte {
		if r.DepthMax == 0 {
			return append(b, '-')
		}
		b = strconv.AppendFloat(b, r.DepthMean(), 'f', 1, 64)
		return strconv.AppendInt(append(b, '/'), r.DepthMax, 10)
	})
	span(func(d *track.Distribution) int64 { return d.Sum })
	span(func(d *track.Distribution) int64 { return d.Min })
	t.put(&c.Num, func(b []byte) []byte {
		if r.Service.N == 0 {
			return append(b, '-')
		}
		// Servers report whole seconds, at least one: an average would mislead.
		return append(strconv.AppendInt(append(b, "≤"...), r.Service.Max/1e9, 10), 's')
	})
	size(r.RequestBytes)
	size(r.ReplyBytes)
	t.put(&c.Bad, func(b []byte) []byte {
		start := len(b)
		if b = appendErrors(b, r.Errors, " "); len(r.OtherErrors) == 0 {
			return b
		}
		if len(b) > start {
			b = append(b, ' ')
		}
		return append(appendErrors(append(b, '('), r.OtherErrors, " "), ')')
	})
}

// bars appends the latencies and the sizes of a row as bars.
func (s *StatsTable) bars(dst []byte, r *track.Row) []byte {
	c := s.opt.Colors
	var name []byte
	for k, d := range s.opt.By {
		if k > 0 {
			name = append(name, ' ')
		}
		name = s.dimension(name, r, d)
	}
	if r.Latency.N > 0 {
		h := newBins(latencyBounds)
		r.Latency.Each(h.add)
		dst = c.Head.Append(append(dst, '\n'), string(name)+" latency")
		dst = h.append(append(dst, '\n'), c, s.opt.Width, appendLatency)
	}
	if r.BulkBytes > 0 {
		h := newBins(sizeBounds)
		for n, count := range r.IO {
			h.add(1<<n, count)
		}
		dst = c.Head.Append(append(dst, '\n'), string(name)+" bulk size")
		dst = h.append(append(dst, '\n'), c, s.opt.Width, appendSize)
	}
	return dst
}
