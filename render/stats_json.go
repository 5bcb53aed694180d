package render

import (
	"strconv"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/track"
)

// StatsJSON renders statistics as one JSON object a row.
type StatsJSON struct {
	opt   StatsOptions
	stamp stamp
}

// NewStatsJSON makes a JSON renderer.
func NewStatsJSON(o StatsOptions) *StatsJSON { return &StatsJSON{opt: o} }

// AppendInterval appends the rows of an interval.
func (j *StatsJSON) AppendInterval(dst []byte, i *track.Interval) []byte {
	for _, r := range sortRows(i, j.opt.By, j.opt.Sort) {
		dst = append(dst, '{')
		if j.opt.Step > 0 {
			dst = j.stamp.iso(append(dst, `"time":"`...), i.From)
			dst = appendSeconds(append(dst, `","interval":`...), i.To-i.From)
			dst = append(dst, ',')
		}
		dst = j.row(dst, r)
		dst = append(dst, '}', '\n')
	}
	return dst
}

func (j *StatsJSON) row(dst []byte, r *track.Row) []byte {
	if r.Others {
		dst = append(dst, `"others":true,`...)
	}
	for _, d := range j.opt.By {
		dst = append(append(append(dst, '"'), d.String()...), '"', ':')
		dst = append(appendDimensionJSON(dst, r, d), ',')
	}
	dst = strconv.AppendInt(append(dst, `"count":`...), r.Count, 10)
	dst = strconv.AppendInt(append(dst, `,"replies":`...), r.Replies, 10)
	dst = appendCounts(append(dst, `,"errors":`...), r.Errors)
	if len(r.OtherErrors) > 0 {
		dst = appendCounts(append(dst, `,"other_errors":`...), r.OtherErrors)
	}
	dst = strconv.AppendInt(append(dst, `,"unanswered":`...), r.Unanswered, 10)
	dst = strconv.AppendInt(append(dst, `,"one_way":`...), r.OneWay, 10)
	dst = strconv.AppendInt(append(dst, `,"resends":`...), r.Resends, 10)
	dst = appendDistribution(append(dst, `,"latency":`...), &r.Latency)
	dst = appendDistribution(append(dst, `,"service":`...), &r.Service)
	dst = strconv.AppendInt(append(dst, `,"request_bytes":`...), r.RequestBytes, 10)
	dst = strconv.AppendInt(append(dst, `,"reply_bytes":`...), r.ReplyBytes, 10)
	dst = strconv.AppendInt(append(dst, `,"bulk_bytes":`...), r.BulkBytes, 10)
	dst = append(dst, `,"io_sizes":{`...)
	first := true
	for n, c := range r.IO {
		if c == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = strconv.AppendInt(append(dst, '"'), 1<<n, 10)
		dst = strconv.AppendInt(append(dst, `":`...), c, 10)
	}
	dst = strconv.AppendInt(append(dst, `},"in_flight":{"max":`...), r.DepthMax, 10)
	dst = strconv.AppendFloat(append(dst, `,"mean":`...), r.DepthMean(), 'f', 3, 64)
	return append(dst, '}')
}

// appendCounts appends how often each error came.
func appendCounts(dst []byte, counts map[int32]int64) []byte {
	dst = append(dst, '{')
	for i, e := range byCount(counts) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendErrno(append(dst, '"'), e), '"', ':')
		dst = strconv.AppendInt(dst, counts[e], 10)
	}
	return append(dst, '}')
}

// appendDimensionJSON appends the value of a dimension; what is not known is null.
func appendDimensionJSON(dst []byte, r *track.Row, d track.Dimension) []byte {
	switch d {
	case track.ByUID, track.ByPortal:
		if known := appendDimension(dst, r, d, true); len(known) > len(dst) {
			return known
		}
	case track.ByTarget:
		if r.Target != "" {
			return schema.AppendJSONString(dst, []byte(r.Target))
		}
	case track.ByJob:
		return schema.AppendJSONString(dst, r.JobName())
	case track.ByVariant:
		return append(append(append(dst, '"'), r.Variant...), '"')
	default:
		var buf [64]byte
		if b := appendDimension(buf[:0], r, d, true); len(b) > 0 {
			return append(append(append(dst, '"'), b...), '"')
		}
	}
	return append(dst, null...)
}

// appendDistribution appends a distribution of times in seconds.
func appendDistribution(dst []byte, d *track.Distribution) []byte {
	if d.N == 0 {
		return append(dst, null...)
	}
	dst = appendSeconds(append(dst, `{"min":`...), d.Min)
	for _, q := range quantiles {
		dst = append(append(append(dst, ',', '"'), q.name...), '"', ':')
		dst = appendSeconds(dst, d.Quantile(q.q))
	}
	dst = appendSeconds(append(dst, `,"max":`...), d.Max)
	dst = appendSeconds(append(dst, `,"sum":`...), d.Sum)
	return append(dst, '}')
}

var quantiles = []struct {
	name string
	q    float64
}{{"p50", .5}, {"p90", .9}, {"p99", .99}}

// appendSeconds appends nanoseconds as seconds, without zeros at the end.
func appendSeconds(dst []byte, ns int64) []byte {
	dst = appendElapsed(dst, ns, 9)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	if dst[len(dst)-1] == '.' {
		dst = dst[:len(dst)-1]
	}
	return dst
}
