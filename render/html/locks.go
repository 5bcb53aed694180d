package html

import (
	"github.com/lshark/lshark/render"
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
