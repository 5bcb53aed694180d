package html

import (
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render/tables"
)

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
	t := &table{id: id, caption: caption, rest: "lshark stats --by " + by.String(), columns: []column{
		{title: name}, {title: "RPCs", num: true}, {title: "Errors", num: true},
		{title: "No answer", num: true, help: "RPCs that the server did not answer, though the reply was due and everything that the server sent was captured"},
		{title: "p50", num: true, help: "median latency"}, {title: "p90", num: true, help: "90th percentile of the latencies"}, {title: "p99", num: true, help: "99th percentile of the latencies"},
		{title: "Max", num: true, help: "longest latency"}, {title: "Total time", num: true, help: "sum of the latencies"},
		{title: "Lock wait", num: true, help: "longest wait for a lock, from the request to the grant"},
		{title: "Bulk", num: true, help: "bytes of bulk data"}, {title: "Requests", num: true, help: "bytes of the requests"}, {title: "Replies", num: true, help: "bytes of the replies"},
		{title: "In flight", num: true, help: "most RPCs of the row that were waiting for a reply at the same time"}, {title: "Errors by name"},
	}}
	rows := tables.SortRows(i, []track.Dimension{by}, "count")
	var greatest int64
	for _, row := range rows {
		greatest = max(greatest, row.Count)
	}
	for k, row := range rows {
		if k == most {
			t.omitted = int64(len(rows) - most)
			break
		}
		label := string(tables.AppendDimension(nil, row, by, r.NIDs))
		switch {
		case row.Others:
			label = "all others"
		case label == "" && by == track.ByJob:
			label = "(no job)"
		case label == "":
			label = "(unknown)"
		}
		calls := numberCell(row.Count)
		calls.bar, calls.barOf = row.Count, greatest
		l, known := &row.Latency, row.Latency.N > 0
		t.add(cell{text: label}, calls, problemCell(sum(row.Errors)), problemCell(row.Missing[track.Unanswered]),
			latencyCell(l.Quantile(.5), known), latencyCell(l.Quantile(.9), known), latencyCell(l.Quantile(.99), known), latencyCell(l.Max, known),
			totalCell(l.Sum, known), latencyCell(row.LockWait.Max, row.LockWait.N > 0),
			sizeCell(row.BulkBytes), sizeCell(row.RequestBytes), sizeCell(row.ReplyBytes), numberCell(row.DepthMax), textCell(errorNames(row.Errors)))
	}
	r.table(t)
}

// totalCell returns a cell with a sum of times, empty without any.
func totalCell(ns int64, known bool) cell {
	if !known {
		return cell{text: "–"}
	}
	return spanCell(ns)
}
