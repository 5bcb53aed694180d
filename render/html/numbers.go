package html

import (
	"cmp"
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/tables"
)

// thin is a narrow space that does not break, between a number and its unit.
const thin = "\u202f"

// latency returns a time span as tables show it, such as 2.9 ms.
func latency(ns int64) string {
	s := string(render.AppendLatency(nil, ns))
	unit := strings.TrimLeft(s, "-0123456789.")
	number := strings.TrimSuffix(s, unit)
	if unit == "us" {
		unit = "µs"
	}
	return number + thin + unit
}

// span returns a long time span in words: 2 h 5 min, 3 min 20 s, 4.25 s.
func span(ns int64) string { return render.Span(ns, thin) }

func trimZeros(s string) string { return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") }

// size returns a number of bytes with a unit: 512 B, 1.5 MiB.
func size(n int64) string { return schema.SizeText(n, thin) }

// seconds returns nanoseconds as seconds, as in JSON.
func seconds(ns int64) string { return string(render.AppendElapsed(nil, ns, 9)) }

// The rows that tables of statistics show at most.
const (
	maxOperations = 100
	maxGroups     = 25
)

func (r *renderer) operations() {
	if r.Operations == nil {
		r.nothing("The capture has no RPCs.")
		return
	}
	r.statistics("by-op", "RPCs by operation: latencies are those from request to reply", "Operation", r.Operations, track.ByOp, maxOperations)
}

// top appends the statistics of jobs, clients and targets.
func (r *renderer) top() {
	if r.Operations == nil {
		r.nothing("The capture has no RPCs.")
		return
	}
	r.statistics("by-job", "RPCs by job", "Job", r.Jobs, track.ByJob, maxGroups)
	r.statistics("by-client", "RPCs by client, also when that is a server", "Client", r.Clients, track.ByClient, maxGroups)
	r.statistics("by-target", "RPCs by target", "Target", r.Targets, track.ByTarget, maxGroups)
}

// statistics appends the table of an interval, the rows with the most RPCs first.
func (r *renderer) statistics(id markup, caption, name string, i *track.Interval, by track.Dimension, most int) {
	rows := tables.SortRows(i, []track.Dimension{by}, "count")
	var greatest int64
	for _, row := range rows {
		greatest = max(greatest, row.Count)
	}
	type row = *track.Row
	quantile := func(q float64) func(row) cell {
		return func(x row) cell { return latencyCell(x.Latency.Quantile(q), x.Latency.N > 0) }
	}
	table[row]{id: id, caption: caption, rest: "lshark stats --by " + by.String(), columns: []column[row]{
		{title: name, cell: func(x row) cell { return cell{text: r.groupName(x, by)} }},
		{title: "RPCs", class: num, cell: func(x row) cell {
			c := numberCell(x.Count)
			c.bar, c.barOf = x.Count, greatest
			return c
		}},
		{title: "Errors", class: num, cell: func(x row) cell { return problemCell(sum(x.Errors)) }},
		{title: "No answer", class: num, help: "RPCs that the server did not answer, though the reply was due and everything that the server " +
			"sent was captured", cell: func(x row) cell { return problemCell(x.Missing[track.Unanswered]) }},
		{title: "p50", class: num, help: "median latency", cell: quantile(.5)},
		{title: "p90", class: num, help: "90th percentile of the latencies", cell: quantile(.9)},
		{title: "p99", class: num, help: "99th percentile of the latencies", cell: quantile(.99)},
		{title: "Max", class: num, help: "longest latency", cell: func(x row) cell { return latencyCell(x.Latency.Max, x.Latency.N > 0) }},
		{title: "Total time", class: num, help: "sum of the latencies",
			cell: func(x row) cell { return totalCell(x.Latency.Sum, x.Latency.N > 0) }},
		{title: "Lock wait", class: num, help: "longest wait for a lock, from the request to the grant",
			cell: func(x row) cell { return latencyCell(x.LockWait.Max, x.LockWait.N > 0) }},
		{title: "Bulk", class: num, help: "bytes of bulk data", cell: func(x row) cell { return sizeCell(x.BulkBytes) }},
		{title: "Requests", class: num, help: "bytes of the requests", cell: func(x row) cell { return sizeCell(x.RequestBytes) }},
		{title: "Replies", class: num, help: "bytes of the replies", cell: func(x row) cell { return sizeCell(x.ReplyBytes) }},
		{title: "In flight", class: num, help: "most RPCs of the row that were waiting for a reply at the same time",
			cell: func(x row) cell { return numberCell(x.DepthMax) }},
		{title: "Errors by name", cell: func(x row) cell { return textCell(errorNames(x.Errors)) }},
	}}.most(&r.writer, rows, most)
}

// groupName returns what the RPCs of a row have in common.
func (r *renderer) groupName(row *track.Row, by track.Dimension) string {
	label := string(tables.AppendDimension(nil, row, by, r.NIDs))
	switch {
	case row.Others:
		return "all others"
	case label == "" && by == track.ByJob:
		return "(no job)"
	}
	return cmp.Or(label, "(unknown)")
}

// totalCell returns a cell with a sum of times, empty without any.
func totalCell(ns int64, known bool) cell {
	if !known {
		return cell{text: "–"}
	}
	return spanCell(ns)
}
