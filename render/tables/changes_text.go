package tables

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/comparison"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// ChangesTable renders rows of statistics of two captures side by side, a line for
// each measure.
type ChangesTable struct {
	*Table[*change]
	all bool // also what has not changed
}

// change is a line of the table: of a row, a measure or an error.
type change struct {
	*comparison.Row
	what          string
	noise         string // whether it is beyond noise, empty where nothing has changed
	before, after quantity
	withNoise     bool // noise is shown
}

// quantity is a value that two captures are compared by, and its text, empty where it is unknown.
type quantity struct {
	v    float64
	text string
}

// NewChangesTable makes a renderer. With all, it shows what has not changed, too.
func NewChangesTable(o StatsOptions, all bool) *ChangesTable {
	k := &Kind[*change]{}
	for n, d := range o.By {
		k.columns = append(k.columns, dimensionColumn(d, func(p *printer, c *change) string {
			switch {
			case !c.Total:
				return cmp.Or(dimension(p, &track.Row{Key: c.Key}, d), "-")
			case n == 0:
				return "(all)"
			}
			return ""
		}))
	}
	k.columns = append(k.columns, changesKind.columns...)
	return &ChangesTable{Table: k.New(render.SummaryOptions{Width: o.Width, NIDs: o.NIDs}, 0), all: all}
}

// changesKind has the columns behind those of the dimensions.
var changesKind = Kind[*change]{name: "table of diff", columns: []column[*change]{
	{title: "what", doc: "what has changed: a measure with the name of its JSON key, or an error", left: true, whole: true, role: schema.Label,
		show: func(_ *printer, c *change) string { return c.what }},
	{title: "before", doc: "its value in the first capture: of count with the RPCs per second, of what happens to some RPCs with their share",
		role: schema.Number, show: func(_ *printer, c *change) string { return c.before.text }},
	{title: "after", doc: "the same in the second capture", role: schema.Number,
		show: func(_ *printer, c *change) string { return c.after.text }},
	{title: "change", doc: "factor between the two: of count between the rates, of what happens to some RPCs between the shares; " +
		"new and gone where one of them is 0", mark: (*change).role,
		show: func(_ *printer, c *change) string {
			if (c.before.text == "") != (c.after.text == "") && c.what != comparison.Count.String() && c.noise == "" {
				return ""
			}
			return ratio(c.before.v, c.after.v)
		}},
	{title: "beyond noise", doc: "with --all or where RPCs are few: the value has changed by more than chance and the usual differences " +
		"explain, or so few values differ that it may be chance", left: true, optional: true, blank: true, mark: (*change).role,
		show: func(_ *printer, c *change) string {
			if !c.withNoise {
				return ""
			}
			return c.noise
		}},
}}

func (c *change) role() schema.Role {
	if c.noise == "" {
		return schema.Dim
	}
	return schema.Warning
}

// Append appends the table, nothing when there are no lines.
func (s *ChangesTable) Append(dst *schema.Marked, rows []*comparison.Row) {
	few := slices.ContainsFunc(rows, func(r *comparison.Row) bool { return len(r.Few) > 0 })
	var list []*change
	for _, r := range rows {
		list = append(list, s.changes(r)...)
	}
	for _, c := range list {
		c.withNoise = s.all || few
	}
	s.Table.Append(dst, list)
}

// changes returns the lines of a row.
func (s *ChangesTable) changes(r *comparison.Row) (list []*change) {
	for _, m := range comparison.Measures() {
		switch {
		case m == comparison.Errors:
			list = append(list, s.errors(r)...)
		case r.Total && (m == comparison.RequestSize || m == comparison.BulkSize):
			// those of different operations are not compared
		case r.Changes(m) || s.all && hasValue(r, m):
			list = append(list, &change{Row: r, what: m.String(), noise: noise(r, m), before: measured(r.Before, m), after: measured(r.After, m)})
		}
	}
	return list
}

// hasValue reports whether there is something to show of a measure.
func hasValue(r *comparison.Row, m comparison.Measure) bool {
	return slices.ContainsFunc([]*comparison.Side{r.Before, r.After}, func(s *comparison.Side) bool {
		return s != nil && s.Has(m) && s.Value(m) != 0
	})
}

// errors returns a line for each error that has changed, or for each error.
func (s *ChangesTable) errors(r *comparison.Row) (list []*change) {
	errnos := slices.Clone(r.ChangedErrors)
	for _, side := range []*comparison.Side{r.Before, r.After} {
		if side != nil && s.all {
			errnos = slices.AppendSeq(errnos, maps.Keys(side.Errors))
		}
	}
	slices.Sort(errnos)
	for _, e := range slices.Compact(errnos) {
		c := &change{Row: r, what: string(records.AppendErrno(nil, e))}
		if slices.Contains(r.ChangedErrors, e) {
			c.noise = beyondNoise
		}
		if r.Before != nil {
			c.before = shareOf(r.Before.Errors[e], r.Before)
		}
		if r.After != nil {
			c.after = shareOf(r.After.Errors[e], r.After)
		}
		list = append(list, c)
	}
	return list
}

// measured returns the value of a measure, nothing where it is unknown.
func measured(s *comparison.Side, m comparison.Measure) quantity {
	if s == nil || !s.Has(m) {
		return quantity{}
	}
	v := s.Value(m)
	switch m {
	case comparison.Count:
		return quantity{s.Rate, fmt.Sprintf("%d (%s/s)", v, rateText(s.Rate))}
	case comparison.P50, comparison.P90, comparison.P99, comparison.Longest, comparison.RTT:
		return quantity{float64(v), string(render.AppendLatency(nil, v))}
	case comparison.RequestSize, comparison.BulkSize:
		return quantity{float64(v), string(schema.AppendSize(nil, v))}
	}
	return shareOf(v, s)
}

// shareOf returns a number of RPCs as the part that it is of all.
func shareOf(n int64, s *comparison.Side) quantity {
	share := float64(n) / float64(max(1, s.Count))
	if n == 0 {
		return quantity{0, "0"}
	}
	return quantity{share, fmt.Sprintf("%d (%s%%)", n, rateText(100*share))}
}

const beyondNoise = "yes"

// noise returns whether a change is beyond noise, as text.
func noise(r *comparison.Row, m comparison.Measure) string {
	switch {
	case !r.Changes(m):
		return ""
	case slices.Contains(r.Few, m):
		return fmt.Sprintf("few: %d and %d", r.Before.Latency.N, r.After.Latency.N)
	}
	return beyondNoise
}

// ratio returns the factor between two values.
func ratio(before, after float64) string {
	switch r := after / before; {
	case before == after:
		return "="
	case before == 0:
		return "new"
	case after == 0:
		return "gone"
	case r < .01 || r >= 1e5:
		return "×" + strconv.FormatFloat(r, 'g', 1, 64)
	case r < 9.95:
		return "×" + strconv.FormatFloat(r, 'f', 2, 64)
	default:
		return "×" + strconv.FormatFloat(r, 'f', 0, 64)
	}
}

// AppendChangesJSON appends rows of statistics that are grouped by dimensions, and connections, of
// two captures as JSON objects, a line each.
func AppendChangesJSON(dst []byte, by []track.Dimension, rows []*comparison.Row, connections []*comparison.Connection) []byte {
	of := func(by []track.Dimension) *render.RecordJSON[*comparison.Row] {
		return render.NewRecordJSON(records.Changes.Only(keysOf(&records.Changes, by)))
	}
	grouped, totals := of(by), of(nil)
	for _, r := range rows {
		if r.Total {
			dst = totals.AppendLine(dst, r)
		} else {
			dst = grouped.AppendLine(dst, r)
		}
	}
	return render.NewRecordJSON(&records.ConnectionChanges).AppendLines(dst, connections)
}
