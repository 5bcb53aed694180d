package tables

import (
	"strconv"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// StatsTSV renders statistics as lines of values, separated by tabs. Times are in
// seconds, unknown values are empty.
type StatsTSV struct {
	opt     StatsOptions
	columns []tsvColumn
}

// tsvColumn is a key of rows in a column.
type tsvColumn struct {
	name  string
	total bool // show the sum of the counts
	path  records.Path[*records.Row]
	field *render.RecordField[*records.Row]
	value records.Value
}

// tsvColumns are the columns after the dimensions, with the paths of their keys.
var tsvColumns = []struct {
	name, path string
	total      bool
}{
	{"count", "count", false},
	{"replies", "replies", false},
	{"errors", "errors", true},
	{"unanswered", "unanswered", false},
	{"not_captured", "not_captured", false},
	{"encrypted", "encrypted", false},
	{"end", "end", false},
	{"one_way", "one_way", false},
	{"resends", "resends", false},
	{"min", "latency.min", false},
	{"p50", "latency.p50", false},
	{"p90", "latency.p90", false},
	{"p99", "latency.p99", false},
	{"max", "latency.max", false},
	{"sum", "latency.sum", false},
	{"lock_waits", "lock_waits", false},
	{"lock_wait_max", "lock_wait.max", false},
	{"lock_wait_sum", "lock_wait.sum", false},
	{"service_time_max", "service_time_max", false},
	{"retransmits", "retransmits", false},
	{"retransmit_time", "retransmit_time", false},
	{"rtt_p50", "rtt.p50", false},
	{"request_bytes", "request_bytes", false},
	{"reply_bytes", "reply_bytes", false},
	{"bulk_bytes", "bulk_bytes", false},
	{"in_flight_max", "in_flight.max", false},
	{"in_flight_mean", "in_flight.mean", false},
	{"error_names", "errors", false},
	{"other_errors", "other_errors", true},
	{"other_error_names", "other_errors", false},
	{"rdma_time_p50", "rdma_time.p50", false},
	{"rdma_time_max", "rdma_time.max", false},
}

// NewStatsTSV makes a renderer.
func NewStatsTSV(o StatsOptions) *StatsTSV {
	t := &StatsTSV{opt: o}
	if o.Step > 0 {
		t.add("time", "time", false)
		t.add("interval", "interval", false)
	}
	for _, d := range o.By {
		t.add(d.String(), d.String(), false)
	}
	for _, c := range tsvColumns {
		t.add(c.name, c.path, c.total)
	}
	if o.Rates {
		for _, name := range rateKeys {
			t.add(name, name, false)
		}
	}
	return t
}

// add adds a column with the value at a path.
func (t *StatsTSV) add(name, path string, total bool) {
	p, ok := records.Rows.Find(path)
	if !ok {
		panic("render: rows have no key " + path)
	}
	t.columns = append(t.columns, tsvColumn{name: name, total: total, path: p, field: render.NewRecordField(p, true)})
}

// Header appends a line with the names.
func (t *StatsTSV) Header(dst []byte) []byte {
	for k := range t.columns {
		if k > 0 {
			dst = append(dst, '\t')
		}
		dst = append(dst, t.columns[k].name...)
	}
	return append(dst, '\n')
}

// AppendInterval appends the rows of an interval.
func (t *StatsTSV) AppendInterval(dst []byte, i *track.Interval) []byte {
	for _, r := range SortRows(i, t.opt.By, t.opt.Sort) {
		row := records.Row{Row: r, Interval: i}
		for k := range t.columns {
			if k > 0 {
				dst = append(dst, '\t')
			}
			dst = t.columns[k].append(dst, &row)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// append appends the value of a row.
func (c *tsvColumn) append(dst []byte, r *records.Row) []byte {
	if !c.total {
		return c.field.Append(dst, r)
	}
	n := int64(0)
	if c.path.Value(r, 0, &c.value) {
		for _, count := range c.value.Counts {
			n += count.N
		}
	}
	return strconv.AppendInt(dst, n, 10)
}
