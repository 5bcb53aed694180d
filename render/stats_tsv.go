package render

import (
	"strconv"

	"github.com/lshark/lshark/track"
)

// StatsTSV renders statistics as lines of values with tabs between them, a
// line of names first. Times are in seconds; what is not known is empty.
type StatsTSV struct {
	opt   StatsOptions
	stamp stamp
}

// NewStatsTSV makes a renderer.
func NewStatsTSV(o StatsOptions) *StatsTSV { return &StatsTSV{opt: o} }

// statsColumn is a number of a row.
type statsColumn struct {
	name   string
	append func(dst []byte, r *track.Row) []byte
}

func count(get func(r *track.Row) int64) func([]byte, *track.Row) []byte {
	return func(dst []byte, r *track.Row) []byte { return strconv.AppendInt(dst, get(r), 10) }
}

func seconds(get func(d *track.Distribution) int64) func([]byte, *track.Row) []byte {
	return func(dst []byte, r *track.Row) []byte {
		if r.Latency.N == 0 {
			return dst
		}
		return appendSeconds(dst, get(&r.Latency))
	}
}

var statsColumns = []statsColumn{
	{"count", count(func(r *track.Row) int64 { return r.Count })},
	{"replies", count(func(r *track.Row) int64 { return r.Replies })},
	{"errors", count(failures)},
	{"unanswered", count(func(r *track.Row) int64 { return r.Unanswered })},
	{"one_way", count(func(r *track.Row) int64 { return r.OneWay })},
	{"resends", count(func(r *track.Row) int64 { return r.Resends })},
	{"min", seconds(func(d *track.Distribution) int64 { return d.Min })},
	{"p50", seconds(func(d *track.Distribution) int64 { return d.Quantile(.5) })},
	{"p90", seconds(func(d *track.Distribution) int64 { return d.Quantile(.9) })},
	{"p99", seconds(func(d *track.Distribution) int64 { return d.Quantile(.99) })},
	{"max", seconds(func(d *track.Distribution) int64 { return d.Max })},
	{"sum", seconds(func(d *track.Distribution) int64 { return d.Sum })},
	{"service_sum", func(dst []byte, r *track.Row) []byte { return appendSeconds(dst, r.Service.Sum) }},
	{"request_bytes", count(func(r *track.Row) int64 { return r.RequestBytes })},
	{"reply_bytes", count(func(r *track.Row) int64 { return r.ReplyBytes })},
	{"bulk_bytes", count(func(r *track.Row) int64 { return r.BulkBytes })},
	{"in_flight_max", count(func(r *track.Row) int64 { return r.DepthMax })},
	{"in_flight_mean", func(dst []byte, r *track.Row) []byte {
		return strconv.AppendFloat(dst, r.DepthMean(), 'f', 3, 64)
	}},
	{"error_names", func(dst []byte, r *track.Row) []byte { return appendErrors(dst, r.Errors, ",") }},
	{"other_errors", count(func(r *track.Row) int64 { return sum(r.OtherErrors) })},
	{"other_error_names", func(dst []byte, r *track.Row) []byte { return appendErrors(dst, r.OtherErrors, ",") }},
}

func appendErrors(dst []byte, counts map[int32]int64, sep string) []byte {
	for k, e := range byCount(counts) {
		if k > 0 {
			dst = append(dst, sep...)
		}
		dst = append(appendErrno(dst, e), ':')
		dst = strconv.AppendInt(dst, counts[e], 10)
	}
	return dst
}

// Header appends the line of the names.
func (t *StatsTSV) Header(dst []byte) []byte {
	if t.opt.Step > 0 {
		dst = append(dst, "time\tinterval\t"...)
	}
	for _, d := range t.opt.By {
		dst = append(append(dst, d.String()...), '\t')
	}
	for k := range statsColumns {
		if k > 0 {
			dst = append(dst, '\t')
		}
		dst = append(dst, statsColumns[k].name...)
	}
	return append(dst, '\n')
}

// AppendInterval appends the rows of an interval.
func (t *StatsTSV) AppendInterval(dst []byte, i *track.Interval) []byte {
	for _, r := range sortRows(i, t.opt.By, t.opt.Sort) {
		if t.opt.Step > 0 {
			dst = append(t.stamp.iso(dst, i.From), '\t')
			dst = append(appendSeconds(dst, i.To-i.From), '\t')
		}
		for _, d := range t.opt.By {
			dst = append(appendDimension(dst, r, d, true), '\t')
		}
		for k := range statsColumns {
			if k > 0 {
				dst = append(dst, '\t')
			}
			dst = statsColumns[k].append(dst, r)
		}
		dst = append(dst, '\n')
	}
	return dst
}
