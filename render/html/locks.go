package html

import (
	"cmp"
	"strings"

	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

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
		r.lockWaits()
	}
	if len(l.Holders) == 0 {
		r.nothing("No message shows who kept a lock waiting.")
		return
	}
	r.holders()
}

func (r *renderer) lockWaits() {
	type row = *locks.Lock
	table[row]{id: "lock-waits", caption: "Locks that waited longest for others", rest: "lshark locks --slowest N",
		omitted: r.Locks.Waiting - int64(len(r.Locks.Slowest)), columns: []column[row]{
			{title: "Resource", cell: func(l row) cell { return textCell(string(l.Desc.AppendResource(nil))) }},
			{title: "Lock", cell: func(l row) cell { return textCell(string(tables.AppendLock(nil, l))) }},
			{title: "Waited", class: num, cell: func(l row) cell { return latencyCell(l.Waited()) }},
			{title: "Blocked by", cell: func(l row) cell { return textCell(r.blockers(l)) }},
			{title: "Client", cell: func(l row) cell { return r.nodeCell(l.Client) }},
			{title: "Target", cell: func(l row) cell { return textCell(cmp.Or(l.Target(), l.TargetIndex())) }},
			{title: "Job", cell: func(l row) cell { return textCell(l.Job) }},
			{title: "Asked", class: num, help: "seconds since the first frame", cell: func(l row) cell { return r.timeCell(l.Asked) }},
			{title: "Held", class: num, cell: func(l row) cell { return latencyCell(l.Held()) }},
			{title: "Ended", cell: func(l row) cell {
				switch how := l.End.How; how {
				case locks.Evicted, locks.Failed, locks.Refused:
					return badCell(how.String())
				default:
					return cell{text: how.String()}
				}
			}},
			{title: "Frame", class: num, cell: func(l row) cell { return cell{text: frame(l.Asked)} }},
		}}.append(&r.writer, r.Locks.Slowest)
}

// blockers returns who kept a lock waiting, each node and job once.
func (r *renderer) blockers(l *locks.Lock) string {
	var names []string
	for _, b := range tables.Blockers(l) {
		name := string(r.NIDs.Append(nil, b.Client))
		if b.Job != "" {
			name += " (" + b.Job + ")"
		}
		names = append(names, name)
	}
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and " + render.Counted(int64(len(names)-most), "other")
	}
	return strings.Join(names, ", ")
}

// holders appends who kept others waiting.
func (r *renderer) holders() {
	type row = *locks.Holder
	table[row]{id: "holders", caption: "Who kept others waiting, the longest time in total first", rest: "lshark locks --blockers",
		columns: []column[row]{
			{title: "Holder", cell: func(h row) cell { return r.nodeCell(h.Client) }},
			{title: "Job", cell: func(h row) cell { return textCell(h.Job) }},
			{title: "Resource", cell: func(h row) cell { return textCell(string(h.Resource.AppendResource(nil))) }},
			{title: "Type", cell: func(h row) cell { return textCell(records.LockType(&h.Resource)) }},
			{title: "Waits", class: num, help: "locks that had to wait for it", cell: func(h row) cell { return numberCell(h.Waits) }},
			{title: "Time", class: num, help: "how long these waited, in total", cell: func(h row) cell { return latencyCell(h.Time, true) }},
			{title: "Longest", class: num, cell: func(h row) cell { return latencyCell(h.Longest, true) }},
			{title: "Target", cell: func(h row) cell { return textCell(h.Target) }},
			{title: "Waiters", cell: func(h row) cell { return textCell(r.nodes(h.Waiters)) }},
		}}.most(&r.writer, r.Locks.Holders, maxHolders)
}
