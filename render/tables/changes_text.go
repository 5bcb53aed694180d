package tables

import (
	"fmt"
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
	Omitted Omitted

	opt  StatsOptions
	keys *StatsTable // for the dimensions
	all  bool        // also what has not changed
	few  bool        // some changes rest on few RPCs
}

// NewChangesTable makes a renderer. With all, it shows what has not changed, too.
func NewChangesTable(o StatsOptions, all bool) *ChangesTable {
	return &ChangesTable{opt: o, keys: NewStatsTable(o), all: all}
}

// changesKind has the columns behind those of the dimensions; line fills them.
var changesKind = Kind[*comparison.Row]{name: "table of diff", columns: []column[*comparison.Row]{
	{title: "what", doc: "what has changed: a measure with the name of its JSON key, or an error", left: true, whole: true},
	{title: "before", doc: "its value in the first capture: of count with the RPCs per second, of what happens to some RPCs with their share"},
	{title: "after", doc: "the same in the second capture"},
	{title: "change", doc: "factor between the two: of count between the rates, of what happens to some RPCs between the shares; " +
		"new and gone where one of them is 0"},
	{title: "beyond noise", doc: "with --all or where RPCs are few: the value has changed by more than chance and the usual differences " +
		"explain, or so few " +
		"values differ that it may be chance", left: true, optional: true},
}}

// Append appends the table, nothing when there are no lines.
func (s *ChangesTable) Append(dst *schema.Marked, rows []*comparison.Row) {
	var cols []tableColumn
	for _, d := range s.opt.By {
		cols = append(cols, tableColumn{title: d.String(), left: true})
	}
	for i := range changesKind.columns {
		cols = append(cols, changesKind.columns[i].head())
	}
	t := newGrid(cols)
	s.few = slices.ContainsFunc(rows, func(r *comparison.Row) bool { return len(r.Few) > 0 })
	for _, r := range rows {
		s.row(t, r)
	}
	if len(t.cells) == 0 {
		return
	}
	t.render(dst, s.opt.Width)
	s.Omitted.add(t)
}

func (s *ChangesTable) row(t *grid, r *comparison.Row) {
	for _, m := range comparison.Measures() {
		switch {
		case m == comparison.Errors:
			s.errors(t, r)
		case r.Total && (m == comparison.RequestSize || m == comparison.BulkSize):
			// those of different operations are not compared
		case r.Changes(m) || s.all && hasValue(r, m):
			s.line(t, r, m.String(), s.noise(r, m), func(side *comparison.Side) (quantity, bool) {
				return measured(side, m), side != nil && side.Has(m)
			})
		}
	}
}

// hasValue reports whether there is something to show of a measure.
func hasValue(r *comparison.Row, m comparison.Measure) bool {
	for _, side := range []*comparison.Side{r.Before, r.After} {
		if side != nil && side.Has(m) && side.Value(m) != 0 {
			return true
		}
	}
	return false
}

// errors adds a line for each error that has changed, or for each error.
func (s *ChangesTable) errors(t *grid, r *comparison.Row) {
	counts := make(map[int32]int64)
	for _, side := range []*comparison.Side{r.Before, r.After} {
		if side != nil && s.all {
			for e, n := range side.Errors {
				counts[e] += n
			}
		}
	}
	for _, e := range r.ChangedErrors {
		counts[e] = max(counts[e], 1)
	}
	list := make([]int32, 0, len(counts))
	for e := range counts {
		list = append(list, e)
	}
	slices.Sort(list)
	for _, e := range list {
		noise := ""
		if slices.Contains(r.ChangedErrors, e) {
			noise = beyondNoise
		}
		s.line(t, r, string(records.AppendErrno(nil, e)), noise, func(side *comparison.Side) (quantity, bool) {
			if side == nil {
				return quantity{}, false
			}
			n := side.Errors[e]
			return quantity{share(n, side.Count), appendShare(nil, n, side.Count)}, true
		})
	}
}

// quantity is a value that two captures are compared by, and its text.
type quantity struct {
	v    float64
	text []byte
}

func measured(s *comparison.Side, m comparison.Measure) quantity {
	if s == nil {
		return quantity{}
	}
	v := s.Value(m)
	switch m {
	case comparison.Count:
		text := strconv.AppendInt(nil, v, 10)
		return quantity{s.Rate, append(appendRate(append(text, " ("...), s.Rate), "/s)"...)}
	case comparison.P50, comparison.P90, comparison.P99, comparison.Longest, comparison.RTT:
		return quantity{float64(v), render.AppendLatency(nil, v)}
	case comparison.RequestSize, comparison.BulkSize:
		return quantity{float64(v), schema.AppendSize(nil, v)}
	}
	return quantity{share(v, s.Count), appendShare(nil, v, s.Count)}
}

func share(n, of int64) float64 { return float64(n) / float64(max(1, of)) }

// appendShare appends a number of RPCs and the part that it is of all.
func appendShare(dst []byte, n, of int64) []byte {
	dst = strconv.AppendInt(dst, n, 10)
	if n == 0 {
		return dst
	}
	return append(appendRate(append(dst, " ("...), 100*share(n, of)), "%)"...)
}

const beyondNoise = "yes"

// noise returns whether a change is beyond noise, as text.
func (s *ChangesTable) noise(r *comparison.Row, m comparison.Measure) string {
	switch {
	case !r.Changes(m):
		return ""
	case slices.Contains(r.Few, m):
		return fmt.Sprintf("few: %d and %d", r.Before.Latency.N, r.After.Latency.N)
	}
	return beyondNoise
}

// line adds a line; get returns the quantity of one side and whether it is known.
// noise is empty where nothing has changed.
func (s *ChangesTable) line(t *grid, r *comparison.Row, what, noise string, get func(*comparison.Side) (quantity, bool)) {
	for k, d := range s.opt.By {
		t.put(schema.Action, s.dimension(nil, r, k, d))
	}
	mark := schema.Dim
	if noise != "" {
		mark = schema.Warning
	}
	t.put(schema.Label, []byte(what))
	before, hasBefore := get(r.Before)
	after, hasAfter := get(r.After)
	t.put(schema.Number, before.orDash(hasBefore))
	t.put(schema.Number, after.orDash(hasAfter))
	if hasBefore != hasAfter && what != comparison.Count.String() && noise == "" {
		t.put(mark, []byte("-"))
	} else {
		t.put(mark, appendChange(nil, before.v, after.v))
	}
	if !s.all && !s.few {
		noise = ""
	}
	t.put(mark, []byte(noise))
}

func (q quantity) orDash(ok bool) []byte {
	if !ok {
		return []byte("-")
	}
	return q.text
}

func appendChange(dst []byte, before, after float64) []byte {
	switch {
	case before == after:
		return append(dst, '=')
	case before == 0:
		return append(dst, "new"...)
	case after == 0:
		return append(dst, "gone"...)
	}
	ratio := after / before
	dst = append(dst, "×"...)
	switch {
	case ratio < .01 || ratio >= 1e5:
		return strconv.AppendFloat(dst, ratio, 'g', 1, 64)
	case ratio < 9.95:
		return strconv.AppendFloat(dst, ratio, 'f', 2, 64)
	}
	return strconv.AppendFloat(dst, ratio, 'f', 0, 64)
}

func (s *ChangesTable) dimension(dst []byte, r *comparison.Row, k int, d track.Dimension) []byte {
	if r.Total {
		if k == 0 {
			return append(dst, "(all)"...)
		}
		return dst
	}
	from := len(dst)
	if dst = s.keys.dimension(dst, &track.Row{Key: r.Key}, d); len(dst) == from {
		return append(dst, '-')
	}
	return dst
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
