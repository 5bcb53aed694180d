package html

import (
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/tables"
)

// The sections that consist of tables of commands.

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
	if most := slices.Max(append(counts, 0)); most > 0 {
		for k, n := range counts {
			t.rows[k][1].html += proportion(n, most)
		}
	}
	r.table(&t)
}

// files appends the files with the most bytes.
func (r *renderer) files() {
	list := r.Files.List
	if len(list) == 0 {
		r.nothing("No RPC was about a file.")
		return
	}
	r.records(table{id: "by-file", caption: "Files with the most bytes", rest: "lshark files", omitted: int(r.Files.Count) - len(list)},
		tables.Files.Sheet(r.options(), r.Capture.First, list))
}

// maxHolders is how many of those are shown that kept others waiting.
const maxHolders = 25

// locks appends the locks that waited longest, and who kept others waiting.
func (r *renderer) locks() {
	l := &r.Locks
	if l.Count == 0 {
		r.nothing("The capture shows no lock.")
		return
	}
	r.paragraph(render.Counted(l.Count, "lock") + ", of which " + render.Thousands(l.Waiting) + " had to wait for others.")
	if len(l.Slowest) > 0 {
		r.records(table{id: "lock-waits", caption: "Locks that waited longest for others", rest: "lshark locks --slowest N",
			omitted: int(l.Waiting) - len(l.Slowest)}, tables.Locks.Sheet(r.options(), r.Capture.First, l.Slowest))
	}
	if len(l.Holders) == 0 {
		r.nothing("No message shows who kept a lock waiting.")
		return
	}
	holders, omitted := first(l.Holders, maxHolders)
	r.records(table{id: "holders", caption: "Who kept others waiting, the longest time in total first", rest: "lshark locks --blockers", omitted: omitted},
		tables.Holders.Sheet(r.options(), r.Capture.First, holders))
}

// recoveries appends the targets that were gone.
func (r *renderer) recoveries() {
	list := r.Connections.Recoveries
	if len(list) == 0 {
		return
	}
	list, omitted := first(list, maxRecoveries)
	r.records(table{id: "recoveries", caption: "Targets that were gone", rest: "lshark recovery", omitted: omitted},
		tables.Recoveries.Sheet(r.options(), r.Capture.First, list))
}
