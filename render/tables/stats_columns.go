package tables

import (
	"strconv"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// statsColumn is a column of the table of statistics, behind those of the
// dimensions.
type statsColumn struct {
	tableColumn
	style  func(c *render.Colors) *render.Style
	append func(dst []byte, r *records.Row) []byte
	rate   bool // only where there are rates
}

// statsColumns are the columns in their order; those of a higher rank are shown
// only where there is room for them.
var statsColumns = []statsColumn{
	countColumn("count", func(c *render.Colors) *render.Style { return &c.Num }, func(r *track.Row) int64 { return r.Count }),
	rateColumn("ops/s", func(r *track.Rate) float64 { return r.RPCs }),
	rateColumn("MB/s", func(r *track.Rate) float64 { return r.Bytes / 1e6 }),
	countColumn("err", func(c *render.Colors) *render.Style { return &c.Bad }, failures),
	usefulColumn(countColumn("unans", func(c *render.Colors) *render.Style { return &c.Warn }, func(r *track.Row) int64 { return r.Missing[track.Unanswered] })),
	usefulColumn(countColumn("uncap", func(c *render.Colors) *render.Style { return &c.Warn }, func(r *track.Row) int64 { return r.Missing[track.NotCaptured] })),
	latencyColumn("p50", needed, func(d *track.Distribution) int64 { return d.Quantile(.5) }),
	latencyColumn("p90", useful, func(d *track.Distribution) int64 { return d.Quantile(.9) }),
	latencyColumn("p99", needed, func(d *track.Distribution) int64 { return d.Quantile(.99) }),
	latencyColumn("max", needed, func(d *track.Distribution) int64 { return d.Max }),
	numberColumn("wait", appendLongestLockWait),
	sizeColumn("bulk", func(r *track.Row) int64 { return r.BulkBytes }),
	numberColumn("depth", appendDepth),
	latencyColumn("time", extra, func(d *track.Distribution) int64 { return d.Sum }),
	latencyColumn("min", extra, func(d *track.Distribution) int64 { return d.Min }),
	numberColumn("svc", appendServiceTime),
	numberColumn("rtx", func(dst []byte, r *records.Row) []byte { return strconv.AppendInt(dst, r.Retransmits, 10) }),
	numberColumn("rtt", appendRTT),
	optionalColumn(numberColumn("rdma", appendRDMATime)),
	sizeColumn("sent", func(r *track.Row) int64 { return r.RequestBytes }),
	sizeColumn("got", func(r *track.Row) int64 { return r.ReplyBytes }),
	{tableColumn: tableColumn{title: "errors", left: true, rank: useful}, style: func(c *render.Colors) *render.Style { return &c.Bad }, append: appendAllErrors},
}

// countColumn is a column of counts, which are dim where they are 0.
func countColumn(title string, style func(c *render.Colors) *render.Style, get func(r *track.Row) int64) statsColumn {
	return statsColumn{tableColumn: tableColumn{title: title, dimZero: true}, style: style, append: func(dst []byte, r *records.Row) []byte {
		return strconv.AppendInt(dst, get(r.Row), 10)
	}}
}

func numberColumn(title string, append func(dst []byte, r *records.Row) []byte) statsColumn {
	return statsColumn{tableColumn: tableColumn{title: title, rank: extra}, style: func(c *render.Colors) *render.Style { return &c.Num }, append: append}
}

func latencyColumn(title string, rank rank, get func(d *track.Distribution) int64) statsColumn {
	c := numberColumn(title, func(dst []byte, r *records.Row) []byte {
		if r.Latency.N == 0 {
			return append(dst, '-')
		}
		return render.AppendLatency(dst, get(&r.Latency))
	})
	c.rank = rank
	return c
}

func sizeColumn(title string, get func(r *track.Row) int64) statsColumn {
	return numberColumn(title, func(dst []byte, r *records.Row) []byte { return render.AppendSize(dst, get(r.Row)) })
}

// rateColumn is a column of numbers per second.
func rateColumn(title string, get func(r *track.Rate) float64) statsColumn {
	c := numberColumn(title, func(dst []byte, r *records.Row) []byte {
		rate, ok := r.Interval.Rate(r.Row)
		if !ok {
			return append(dst, '-')
		}
		return appendRate(dst, get(&rate))
	})
	c.rank, c.dimZero, c.rate = needed, true, true
	return c
}

// appendRate appends a number per second, with two significant digits at least.
func appendRate(dst []byte, v float64) []byte {
	switch {
	case v == 0:
		return append(dst, '0')
	case v < .005:
		return append(dst, "<0.01"...)
	case v < .995:
		return strconv.AppendFloat(dst, v, 'f', 2, 64)
	case v < 9.95:
		return strconv.AppendFloat(dst, v, 'f', 1, 64)
	}
	return strconv.AppendFloat(dst, v, 'f', 0, 64)
}

func optionalColumn(c statsColumn) statsColumn {
	c.optional = true
	return c
}

func usefulColumn(c statsColumn) statsColumn {
	c.rank = useful
	return c
}

// appendDepth appends how many RPCs were in flight, on average and at most.
func appendDepth(dst []byte, r *records.Row) []byte {
	if r.DepthMax == 0 {
		return append(dst, '-')
	}
	dst = strconv.AppendFloat(dst, r.DepthMean(), 'f', 1, 64)
	return strconv.AppendInt(append(dst, '/'), r.DepthMax, 10)
}

// appendRTT appends the median of the round trips.
func appendRTT(dst []byte, r *records.Row) []byte {
	if r.RTT.N == 0 {
		return append(dst, '-')
	}
	return render.AppendLatency(dst, r.RTT.Quantile(.5))
}

// appendRDMATime appends the median of the times of RDMA writes.
func appendRDMATime(dst []byte, r *records.Row) []byte {
	if r.RDMATime.N == 0 {
		return append(dst, '-')
	}
	return render.AppendLatency(dst, r.RDMATime.Quantile(.5))
}

// appendServiceTime appends the limit of all service times.
func appendServiceTime(dst []byte, r *records.Row) []byte {
	if r.ServiceLimit == 0 {
		return append(dst, '-')
	}
	return append(strconv.AppendInt(append(dst, '<'), r.ServiceLimit, 10), 's')
}

// appendLongestLockWait appends the longest wait for a lock.
func appendLongestLockWait(dst []byte, r *records.Row) []byte {
	if r.LockWait.N == 0 {
		return append(dst, '-')
	}
	return render.AppendLockWait(dst, r.LockWait.Max)
}

// appendAllErrors appends the errors, in parentheses those that are not in the
// final status.
func appendAllErrors(dst []byte, r *records.Row) []byte {
	start := len(dst)
	if dst = appendErrors(dst, r.Errors, " "); len(r.OtherErrors) == 0 {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	return append(appendErrors(append(dst, '('), r.OtherErrors, " "), ')')
}
