package tables

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// byteRate is the unit of the column for bytes per second.
var byteRate = struct {
	title string
	bytes float64
	words string
}{"MB/s", 1e6, "1,000,000"}

// statsKind has the columns of statistics behind those of the dimensions.
var statsKind = Kind[*records.Row]{name: "table of stats", keys: &records.Rows, columns: []column[*records.Row]{
	{title: "count", dimZero: true, role: schema.Number},
	{title: "ops/s", key: "ops_rate", dimZero: true, role: schema.Number, show: func(_ *printer, r *records.Row) string {
		rate, ok := r.Interval.Rate(r.Row)
		if !ok {
			return ""
		}
		return rateText(rate.RPCs)
	}},
	{title: byteRate.title, key: "byte_rate", doc: "bytes of the requests, replies and bulk data of the RPCs that were answered in the window, " +
		"in units of " + byteRate.words + " per second", dimZero: true, role: schema.Number, show: func(_ *printer, r *records.Row) string {
		rate, ok := r.Interval.Rate(r.Row)
		if !ok {
			return ""
		}
		return rateText(rate.Bytes / byteRate.bytes)
	}},
	{title: "err", key: "errors", doc: "number of RPCs with an error in their final status", dimZero: true, role: schema.Bad,
		show: errorCount},
	{title: "unans", key: "unanswered", dimZero: true, rank: useful, role: schema.Warning},
	{title: "uncap", key: "not_captured", dimZero: true, rank: useful, role: schema.Warning},
	{title: "p50", key: "latency.p50", role: schema.Number},
	{title: "p90", key: "latency.p90", rank: useful, role: schema.Number},
	{title: "p99", key: "latency.p99", role: schema.Number},
	{title: "max", key: "latency.max", role: schema.Number},
	{title: "nested", key: "nested_time", round: true, role: schema.Number},
	{title: "own", key: "own_time.sum", doc: "sum of the rests of the latencies, of the RPCs of which a capture point sees what the server " +
		"sends to all others",
		role: schema.Number},
	{title: "own99", key: "own_time.p99", rank: extra, role: schema.Number},
	{title: "wait", key: "lock_wait.max", doc: "the longest wait for a lock that was not granted with the reply", rank: extra, round: true,
		role: schema.Number},
	{title: "bulk", key: "bulk_bytes", rank: extra, role: schema.Number},
	{title: "depth", key: "in_flight", doc: "number of RPCs of the row that were waiting for a reply when one was sent: on average and at most",
		rank: extra, role: schema.Number, show: func(_ *printer, r *records.Row) string {
			if r.DepthMax == 0 {
				return ""
			}
			return fmt.Sprintf("%.1f/%d", r.DepthMean(), r.DepthMax)
		}},
	{title: "time", key: "latency.sum", rank: extra, role: schema.Number},
	{title: "min", key: "latency.min", rank: extra, role: schema.Number},
	{title: "svc", key: "service_time_max", rank: extra, role: schema.Number, show: func(_ *printer, r *records.Row) string {
		if r.ServiceLimit == 0 {
			return ""
		}
		return fmt.Sprintf("<%ds", r.ServiceLimit)
	}},
	{title: "rtx", key: "retransmits", rank: extra, role: schema.Number},
	{title: "rtt", key: "rtt.p50", rank: extra, role: schema.Number},
	{title: "rdma", key: "rdma_time.p50", rank: extra, optional: true, role: schema.Number},
	{title: "sent", key: "request_bytes", rank: extra, role: schema.Number},
	{title: "got", key: "reply_bytes", rank: extra, role: schema.Number},
	{title: "errors", doc: "errors and how often each occurred; those in parentheses are not in the final status: of an intent, of a range, " +
		"or of a reply after which the request was sent again", left: true, rank: useful, blank: true, role: schema.Bad, show: allErrors},
}}

// The keys that rows have with --window and with --nested only.
var (
	rateKeys   = []string{"window", "ops_rate", "byte_rate"}
	nestedKeys = []string{"nested", "nested_time", "own_time"}
)

func (o *StatsOptions) shows(key string) bool {
	name, _, _ := strings.Cut(key, ".")
	return (o.Rates || !slices.Contains(rateKeys, name)) && (o.Nested || !slices.Contains(nestedKeys, name))
}

// tsvKind has the columns of lines separated by tabs, behind those of the dimensions.
var tsvKind = Kind[*records.Row]{name: "tsv of stats", keys: &records.Rows, columns: slices.Concat(
	tsvColumns("count", "replies"),
	[]column[*records.Row]{{title: "errors", doc: "number of RPCs with an error in their final status",
		show: errorCount}},
	tsvColumns("unanswered", "not_captured", "encrypted", "end", "one_way", "resends", "latency.min", "latency.p50", "latency.p90",
		"latency.p99", "latency.max", "latency.sum", "lock_waits", "lock_wait.max", "lock_wait.sum", "service_time_max", "retransmits",
		"retransmit_time", "rtt.p50", "request_bytes", "reply_bytes", "bulk_bytes", "in_flight.max", "in_flight.mean"),
	[]column[*records.Row]{
		{title: "error_names", key: "errors", doc: "errors in the final status, and how often each occurred"},
		{title: "other_errors", doc: "number of errors that are not in the final status",
			show: func(_ *printer, r *records.Row) string { return strconv.FormatInt(sum(r.OtherErrors), 10) }},
		{title: "other_error_names", key: "other_errors", doc: "errors that are not in the final status, and how often each occurred"},
	},
	tsvColumns("rdma_time.p50", "rdma_time.max", "nested", "nested_time", "own_time.p50", "own_time.p99", "own_time.sum"),
)}

// tsvColumns makes a column for each key, with its unformatted value. The title is the path of the key with _ in place of dots,
// without "latency.".
func tsvColumns(keys ...string) (list []column[*records.Row]) {
	for _, key := range keys {
		list = append(list, column[*records.Row]{title: strings.ReplaceAll(strings.TrimPrefix(key, "latency."), ".", "_"), key: key})
	}
	return list
}

func errorCount(_ *printer, r *records.Row) string { return strconv.FormatInt(sum(r.Errors), 10) }

// rateText returns a number per second, with two significant digits at least.
func rateText(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < .005:
		return "<0.01"
	case v < .995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 9.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// allErrors returns the errors, in parentheses those that are not in the
// final status.
func allErrors(_ *printer, r *records.Row) string {
	if len(r.OtherErrors) == 0 {
		return errorsText(r.Errors)
	}
	return strings.TrimSpace(errorsText(r.Errors) + " (" + errorsText(r.OtherErrors) + ")")
}

// errorsText returns how often each error occurred: ENOENT:3 EIO:1.
func errorsText(counts map[int32]int64) string {
	return string(render.AppendCounts(nil, records.ErrorCounts(counts), " "))
}

func sum(counts map[int32]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}
