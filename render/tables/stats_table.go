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
	Omitted Omitted // from all tables so far
	Options StatsOptions

	numbers []cellPrinter[*records.Row]
}

// minWide is the least width of a terminal on which operations are not
// abbreviated.
const minWide = 120

// NewStatsTable makes a renderer.
func NewStatsTable(o StatsOptions) *StatsTable {
	s := &StatsTable{Options: o}
	for _, c := range statsKind.cells() {
		if o.shows(c.key) {
			s.numbers = append(s.numbers, c)
		}
	}
	return s
}

func (s *StatsTable) columns() []tableColumn {
	var cols []tableColumn
	for _, d := range s.Options.By {
		cols = append(cols, tableColumn{title: d.String(), left: true})
	}
	for k := range s.numbers {
		cols = append(cols, s.numbers[k].head())
	}
	return cols
}

// AppendInterval appends the table of an interval.
func (s *StatsTable) AppendInterval(dst *schema.Marked, i *track.Interval) {
	if s.Options.Step > 0 {
		dst.Add(schema.Heading, string(render.AppendISO(nil, i.From))).Plain("\n")
	}
	t := newGrid(s.columns())
	rows := SortRows(i, s.Options.By, s.Options.Sort)
	for _, r := range rows {
		s.row(t, &records.Row{Row: r, Interval: i}, false)
	}
	if len(rows) > 1 {
		s.row(t, &records.Row{Row: &i.Total, Interval: i}, true)
	}
	t.render(dst, s.Options.Width)
	s.Omitted.add(t)
	if s.Options.Bars {
		for _, r := range rows {
			s.bars(dst, r)
		}
	}
}

// dimension appends the value of a dimension, the longest operations abbreviated
// on a narrow terminal.
func (s *StatsTable) dimension(dst []byte, r *track.Row, d track.Dimension) []byte {
	if d == track.ByOp && s.Options.Width > 0 && s.Options.Width < minWide {
		return append(dst, render.ShortenOpcode(AppendDimension(nil, r, d, render.NIDs{}))...)
	}
	if d == track.ByUID && r.HasUser && r.UID == math.MaxUint32 {
		return append(dst, "-1"...) // (uid_t)-1: no user
	}
	return AppendDimension(dst, r, d, s.Options.NIDs)
}

func (s *StatsTable) row(t *grid, r *records.Row, total bool) {
	for k, d := range s.Options.By {
		var text []byte
		switch {
		case k == 0 && total:
			text = append(text, "(all)"...)
		case k == 0 && r.Others:
			text = append(text, "(others)"...)
		case !total:
			if text = s.dimension(text, r.Row, d); len(text) == 0 {
				text = append(text, '-')
			}
		}
		t.put(schema.Action, text)
	}
	p := printer{opt: render.SummaryOptions{NIDs: s.Options.NIDs}}
	for k := range s.numbers {
		s.numbers[k].put(t, &p, r)
	}
}

func (s *StatsTable) bars(dst *schema.Marked, r *track.Row) {
	var name []byte
	for k, d := range s.Options.By {
		if k > 0 {
			name = append(name, ' ')
		}
		name = s.dimension(name, r, d)
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
