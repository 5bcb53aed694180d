package tables

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// StatsOptions are the settings of the renderers of statistics.
type StatsOptions struct {
	By     []track.Dimension
	Step   int64 // of the intervals in nanoseconds, 0 without
	Rates  bool  // show rates
	Nested bool  // show what nested RPCs took
	Sort   string
	Width  int
	NIDs   render.NIDs
	Bars   bool // show the latencies and sizes as bars
}

// SortByRate is the order of rows that needs rates.
const SortByRate = "rate"

// statsSorts are the orders of rows, by descending value.
var statsSorts = []struct {
	name  string
	value func(r *track.Row, i *track.Interval) int64
}{
	{"count", func(r *track.Row, _ *track.Interval) int64 { return r.Count }},
	{"errors", func(r *track.Row, _ *track.Interval) int64 { return sum(r.Errors) }},
	{"unanswered", func(r *track.Row, _ *track.Interval) int64 { return r.Missing[track.Unanswered] }},
	{"p50", func(r *track.Row, _ *track.Interval) int64 { return r.Latency.Quantile(.5) }},
	{"p99", func(r *track.Row, _ *track.Interval) int64 { return r.Latency.Quantile(.99) }},
	{"max", func(r *track.Row, _ *track.Interval) int64 { return r.Latency.Max }},
	{"time", func(r *track.Row, _ *track.Interval) int64 { return r.Latency.Sum }},
	{"wait", func(r *track.Row, _ *track.Interval) int64 { return r.LockWait.Max }},
	{"bytes", func(r *track.Row, _ *track.Interval) int64 { return r.RequestBytes + r.ReplyBytes + r.BulkBytes }},
	{"depth", func(r *track.Row, _ *track.Interval) int64 { return r.DepthMax }},
	{SortByRate, func(r *track.Row, i *track.Interval) int64 {
		const digits = 1e6
		rate, _ := i.Rate(r)
		return int64(rate.RPCs * digits)
	}},
	{"name", func(*track.Row, *track.Interval) int64 { return 0 }},
}

// StatsSorts returns the names of the orders of rows.
func StatsSorts() []string {
	names := make([]string, len(statsSorts))
	for i := range statsSorts {
		names[i] = statsSorts[i].name
	}
	return names
}

// SortRows sorts the rows of an interval by an order, then by their dimensions.
func SortRows(i *track.Interval, by []track.Dimension, order string) []*track.Row {
	rows := i.List()
	names := make(map[*track.Row]string, len(rows))
	for _, r := range rows {
		var b []byte
		for _, d := range by {
			b = append(AppendDimension(b, r, d, render.NIDs{Full: true}), 0)
		}
		names[r] = string(b)
	}
	value := statsSorts[max(0, slices.Index(StatsSorts(), order))].value
	slices.SortFunc(rows, func(a, b *track.Row) int {
		if a.Others != b.Others {
			if a.Others {
				return 1
			}
			return -1
		}
		if c := cmp.Compare(value(b, i), value(a, i)); c != 0 {
			return c
		}
		// Several files may have had the same path.
		return cmp.Or(cmp.Compare(names[a], names[b]), compareFIDs(a.File, b.File), compareFIDs(a.Object, b.Object))
	})
	return rows
}

func compareFIDs(a, b track.FID) int {
	return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.OID, b.OID), cmp.Compare(a.Ver, b.Ver))
}

// AppendDimension appends the value of a dimension as text, nothing when it is
// unknown.
func AppendDimension(dst []byte, r *track.Row, d track.Dimension, nids render.NIDs) []byte {
	p, _ := records.Rows.Find(d.String())
	var v records.Value
	if !p.Value(&records.Row{Row: r}, 0, &v) {
		return dst
	}
	return render.AppendCell(dst, &v, p.Key.Unit, nids)
}

// keysOf returns the keys of rows that are grouped by dimensions: those of these in place of
// those of all dimensions.
func keysOf[R any](t *records.Table[R], by []track.Dimension) (keys []*records.Key[R]) {
	for _, k := range t.Keys() {
		switch names := track.DimensionNames(); {
		case !slices.Contains(names, k.Name):
			keys = append(keys, k)
		case k.Name == names[0]:
			for _, d := range by {
				p, _ := t.Find(d.String())
				keys = append(keys, p.Key)
			}
		}
	}
	return keys
}

// Keys returns the keys that rows have with these options: of the dimensions those of By, in
// their order.
func (o *StatsOptions) Keys() *records.Table[*records.Row] {
	return records.Rows.Only(slices.DeleteFunc(keysOf(&records.Rows, o.By), func(k *records.Key[*records.Row]) bool {
		return (k.Name == "time" || k.Name == "interval") && o.Step == 0 || !o.shows(k.Name)
	}))
}

// Rows returns the rows of an interval as records, in their order.
func (o *StatsOptions) Rows(i *track.Interval) (list []*records.Row) {
	for _, r := range SortRows(i, o.By, o.Sort) {
		list = append(list, &records.Row{Row: r, Interval: i})
	}
	return list
}

// NewStatsTSV makes a renderer of rows as lines of values, separated by tabs. Times are in
// seconds, unknown values are empty.
func NewStatsTSV(o *StatsOptions) *render.RecordFields[*records.Row] {
	var keys []string
	if o.Step > 0 {
		keys = append(keys, "time", "interval")
	}
	for _, d := range o.By {
		keys = append(keys, d.String())
	}
	t := new(render.RecordFields[*records.Row])
	for _, c := range slices.Concat(tsvColumns(keys...), tsvKind.columns, tsvColumns(rateKeys...)) {
		if !o.shows(c.keyPath()) {
			continue
		}
		p, _ := records.Rows.Find(c.keyPath())
		if c.show != nil {
			p.Key = &records.Key[*records.Row]{Type: records.Text, Get: func(r *records.Row, _ int, v *records.Value) bool {
				v.SetString(c.show(nil, r))
				return true
			}}
		}
		t.Add(c.title, p, true)
	}
	return t
}
