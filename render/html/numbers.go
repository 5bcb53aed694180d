package html

import (
	"slices"
	"strconv"
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
	r.statistics("by-op", "RPCs by operation: latencies are those from request to reply", r.Operations, track.ByOp, maxOperations)
}

// top appends the statistics of jobs, clients and targets.
func (r *renderer) top() {
	if r.Operations == nil {
		r.nothing("The capture has no RPCs.")
		return
	}
	r.statistics("by-job", "RPCs by job", r.Jobs, track.ByJob, maxGroups)
	r.statistics("by-client", "RPCs by client, also when that is a server", r.Clients, track.ByClient, maxGroups)
	r.statistics("by-target", "RPCs by target", r.Targets, track.ByTarget, maxGroups)
}

// statistics appends the table of an interval, the rows with the most RPCs first.
func (r *renderer) statistics(id markup, caption string, i *track.Interval, by track.Dimension, most int) {
	s := (&tables.StatsOptions{By: []track.Dimension{by}, Sort: "count", NIDs: r.NIDs}).Sheet(i, most)
	t := table{id: id, caption: caption, rest: "lshark stats --by " + by.String(), omitted: len(i.List()) - len(s.Rows)}
	r.fill(&t, s)
	counts := make([]int64, len(s.Rows))
	for k, row := range s.Rows {
		counts[k], _ = strconv.ParseInt(row[1].Text, 10, 64)
	}
	for k, n := range counts {
		if n > 0 {
			t.rows[k][1].html += bar(n, slices.Max(counts))
		}
	}
	r.table(&t)
}
