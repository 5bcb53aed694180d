package html

import (
	"cmp"
	"strings"

	"github.com/lshark/lshark/dissect/track/locks"
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
	r.paragraph(counted(l.Count, "lock") + ", of which " + count(l.Waiting) + " had to wait for others.")
	if len(l.Slowest) > 0 {
		r.lockWaits()
	}
	if len(l.Holders) == 0 {
		r.nothing("No message shows who kept a lock waiting.")
		return
	}
	r.holders()
}

// lockWaits appends the locks that waited longest.
func (r *renderer) lockWaits() {
	t := &table{id: "lock-waits", caption: "Locks that waited longest for others", rest: "lshark locks --slowest N", omitted: r.Locks.Waiting - int64(len(r.Locks.Slowest)), columns: []column{
		{title: "Resource"}, {title: "Lock"}, {title: "Waited", num: true}, {title: "Blocked by"}, {title: "Client"}, {title: "Target"}, {title: "Job"},
		{title: "Asked", num: true, help: "seconds since the first frame"}, {title: "Held", num: true}, {title: "Ended"}, {title: "Frame", num: true}}}
	for _, l := range r.Locks.Slowest {
		waited, known := l.Waited()
		held, granted := l.Held()
		end := cell{text: l.End.How.String()}
		switch l.End.How {
		case locks.Evicted, locks.Failed, locks.Refused:
			end.class = "bad"
		}
		t.add(textCell(string(l.Desc.AppendResource(nil))), textCell(string(tables.AppendLock(nil, l))), latencyCell(waited, known), textCell(r.blockers(l)),
			cell{text: string(r.NIDs.Append(nil, l.Client))}, textCell(cmp.Or(l.Target(), l.TargetIndex())), textCell(l.Job),
			r.timeCell(l.Asked), latencyCell(held, granted), end, cell{text: frame(l.Asked)})
	}
	r.table(t)
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
		return strings.Join(names[:most], ", ") + " and " + counted(int64(len(names)-most), "other")
	}
	return strings.Join(names, ", ")
}

// holders appends who kept others waiting.
func (r *renderer) holders() {
	list := r.Locks.Holders
	t := &table{id: "holders", caption: "Who kept others waiting, the longest time in total first", rest: "lshark locks --blockers", omitted: int64(len(list) - min(maxHolders, len(list))), columns: []column{
		{title: "Holder"}, {title: "Job"}, {title: "Resource"}, {title: "Type"}, {title: "Waits", num: true, help: "locks that had to wait for it"},
		{title: "Time", num: true, help: "how long these waited, in total"}, {title: "Longest", num: true}, {title: "Target"}, {title: "Waiters"}}}
	for _, h := range list[:min(maxHolders, len(list))] {
		t.add(cell{text: string(r.NIDs.Append(nil, h.Client))}, textCell(h.Job), textCell(string(h.Resource.AppendResource(nil))), textCell(records.LockType(&h.Resource)),
			numberCell(h.Waits), latencyCell(h.Time, true), latencyCell(h.Longest, true), textCell(h.Target), textCell(r.nodes(h.Waiters)))
	}
	r.table(t)
}
