package tables

import (
	"math"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/timeline"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// StatsTable renders statistics as tables for people.
type StatsTable struct {
	*Table[*records.Row]
	Options StatsOptions
}

// minWide is the least width of a terminal on which operations are not
// abbreviated.
const minWide = 120

// NewStatsTable makes a renderer.
func NewStatsTable(o StatsOptions) *StatsTable {
	return &StatsTable{o.kind().New(render.SummaryOptions{NIDs: o.NIDs}, 0), o}
}

// kind has the columns of the dimensions, and those of the numbers that are shown.
func (o *StatsOptions) kind() *Kind[*records.Row] {
	k := &Kind[*records.Row]{keys: statsKind.keys}
	for n, d := range o.By {
		k.columns = append(k.columns, dimensionColumn(d, func(p *printer, dst []byte, r *records.Row) []byte {
			isTotal := r.Row == &r.Interval.Total
			switch {
			case n == 0 && isTotal:
				return append(dst, "(all)"...)
			case n == 0 && r.Others:
				return append(dst, "(others)"...)
			case isTotal:
				return dst
			}
			return appendDimensionOrDash(p, dst, r.Row, d)
		}))
	}
	for _, c := range statsKind.columns {
		if o.shows(c.key) {
			k.columns = append(k.columns, c)
		}
	}
	return k
}

// dimensionColumn is the column of a dimension. It names no key: the title is enough for people.
func dimensionColumn[R any](d track.Dimension, appendTo func(p *printer, dst []byte, r R) []byte) column[R] {
	return column[R]{title: d.String(), key: "-", left: true, blank: true, role: schema.Action, append: appendTo}
}

// AppendInterval appends the table of an interval.
func (s *StatsTable) AppendInterval(dst *schema.Marked, i *track.Interval) {
	if s.Options.Step > 0 {
		dst.Add(schema.Heading, string(render.AppendISO(nil, i.From))).Plain("\n")
	}
	s.opt.Width = s.Options.Width
	rows := s.Options.Rows(i)
	shown := rows
	if len(rows) > 1 {
		shown = append(rows[:len(rows):len(rows)], &records.Row{Row: &i.Total, Interval: i})
	}
	s.appendRows(dst, shown)
	if s.Options.Bars {
		for _, r := range rows {
			s.bars(dst, r.Row)
		}
	}
}

// Sheet returns the sheet of an interval, with at most so many rows.
func (o *StatsOptions) Sheet(i *track.Interval, most int) *Sheet {
	rows := o.Rows(i)
	return o.kind().Sheet(render.SummaryOptions{NIDs: o.NIDs}, 0, rows[:min(most, len(rows))])
}

// appendDimension appends the value of a dimension, the longest operations abbreviated
// on a narrow terminal.
func appendDimension(p *printer, dst []byte, r *track.Row, d track.Dimension) []byte {
	if d == track.ByOp && p.opt.Width > 0 && p.opt.Width < minWide {
		return append(dst, render.ShortenOpcode(AppendDimension(nil, r, d, render.NIDs{}))...)
	}
	if d == track.ByUID && r.HasUser && r.UID == math.MaxUint32 {
		return append(dst, "-1"...) // (uid_t)-1: no user
	}
	return AppendDimension(dst, r, d, p.opt.NIDs)
}

func appendDimensionOrDash(p *printer, dst []byte, r *track.Row, d track.Dimension) []byte {
	start := len(dst)
	if dst = appendDimension(p, dst, r, d); len(dst) == start {
		return append(dst, '-')
	}
	return dst
}

func (s *StatsTable) bars(dst *schema.Marked, r *track.Row) {
	var name []byte
	for k, d := range s.Options.By {
		if k > 0 {
			name = append(name, ' ')
		}
		name = appendDimension(s.printer, name, r, d)
	}
	if r.Latency.N > 0 {
		h := newBins(timeline.LatencyBounds())
		r.Latency.Each(h.add)
		dst.Plain("\n")
		dst.Add(schema.Heading, string(name)+" latency").Plain("\n")
		h.append(dst, s.Options.Width, render.AppendLatency)
	}
	if r.BulkBytes > 0 {
		h := newBins(sizeBounds)
		for n, count := range r.IO {
			h.add(1<<n, count)
		}
		dst.Plain("\n")
		dst.Add(schema.Heading, string(name)+" bulk size").Plain("\n")
		h.append(dst, s.Options.Width, schema.AppendSize)
	}
}
