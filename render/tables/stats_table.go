package tables

import (
	"cmp"
	"math"
	"strings"

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
		k.columns = append(k.columns, dimensionColumn(d, func(p *printer, r *records.Row) string {
			isTotal := r.Row == &r.Interval.Total
			switch {
			case n == 0 && isTotal:
				return "(all)"
			case n == 0 && r.Others:
				return "(others)"
			case isTotal:
				return ""
			}
			return cmp.Or(dimension(p, r.Row, d), "-")
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
func dimensionColumn[R any](d track.Dimension, show func(p *printer, r R) string) column[R] {
	return column[R]{title: d.String(), key: "-", left: true, blank: true, role: schema.Action, show: show}
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

// dimension returns the value of a dimension, the longest operations abbreviated
// on a narrow terminal.
func dimension(p *printer, r *track.Row, d track.Dimension) string {
	if d == track.ByOp && p.opt.Width > 0 && p.opt.Width < minWide {
		return string(render.ShortenOpcode(AppendDimension(nil, r, d, render.NIDs{})))
	}
	if d == track.ByUID && r.HasUser && r.UID == math.MaxUint32 {
		return "-1" // (uid_t)-1: no user
	}
	return string(AppendDimension(nil, r, d, p.opt.NIDs))
}

func (s *StatsTable) bars(dst *schema.Marked, r *track.Row) {
	var values []string
	for _, d := range s.Options.By {
		values = append(values, dimension(s.printer, r, d))
	}
	name := strings.Join(values, " ")
	if r.Latency.N > 0 {
		h := newBins(timeline.LatencyBounds())
		r.Latency.Each(h.add)
		dst.Plain("\n")
		dst.Add(schema.Heading, name+" latency").Plain("\n")
		h.append(dst, s.Options.Width, render.AppendLatency)
	}
	if r.BulkBytes > 0 {
		h := newBins(sizeBounds)
		for n, count := range r.IO {
			h.add(1<<n, count)
		}
		dst.Plain("\n")
		dst.Add(schema.Heading, name+" bulk size").Plain("\n")
		h.append(dst, s.Options.Width, schema.AppendSize)
	}
}
