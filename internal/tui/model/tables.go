package model

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/tables"
)

// Table is a table of a command, whose rows lead to the RPCs that they are about.
type Table struct {
	Name  string
	Lines func(c *Capture, x *Selection, o render.SummaryOptions) []Line
}

// Tables are the tables there are.
var Tables = []Table{
	{"clients", statsBy(track.ByClient, "rpc.client")},
	{"targets", statsBy(track.ByTarget, "rpc.target")},
	{"operations", statsBy(track.ByOp, "opcode")},
	{"jobs", statsBy(track.ByJob, "rpc.job")},
	{"locks", lockLines},
	{"files", fileLines},
}

// maxTableRows is the number of rows of a table.
const maxTableRows = 1000

// tableLines returns the lines of a table: its heading, and rows with their filters.
func tableLines(text *schema.Marked, filters []string) []Line {
	lines := textLines(text)
	for i, f := range filters {
		lines[i+1].Filter = f
	}
	return lines
}

// statsBy makes the table of the RPCs that have ended by a dimension, as lshark stats shows it.
func statsBy(by track.Dimension, field string) func(*Capture, *Selection, render.SummaryOptions) []Line {
	return func(c *Capture, x *Selection, o render.SummaryOptions) []Line {
		list := []track.Dimension{by}
		stats := track.NewStats(track.StatsOptions{By: list})
		x.rpcs(c, stats.Done)
		var lines []Line
		for _, i := range stats.Intervals() {
			var filters []string
			for _, r := range tables.SortRows(i, list, "count") {
				value := tables.AppendDimension(nil, r, by, render.NIDs{Full: true})
				switch {
				case r.Others:
					filters = append(filters, "")
				case len(value) == 0:
					filters = append(filters, x.and("not "+field))
				default:
					filters = append(filters, x.and(field+" == "+filter.Literal(string(value))))
				}
			}
			table := tables.NewStatsTable(tables.StatsOptions{By: list, Sort: "count", Width: o.Width, NIDs: o.NIDs})
			var text schema.Marked
			table.AppendInterval(&text, i)
			lines = append(lines, tableLines(&text, filters)...)
		}
		return lines
	}
}

// lockLines returns the locks that have ended, the longest waits first.
func lockLines(c *Capture, x *Selection, o render.SummaryOptions) []Line {
	selected := func(*locks.Lock) bool { return true }
	if x != nil {
		handles := x.subject(c).Handles.has
		selected = func(l *locks.Lock) bool { return handles[l.Handle] || handles[l.ClientHandle] }
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*locks.Lock
	for k, l := range fifo.All(c.ended) {
		if keysOf(l)[0] == k && selected(l) {
			list = append(list, l)
		}
	}
	waited := func(l *locks.Lock) int64 {
		if ns, ok := l.Waited(); ok {
			return ns
		}
		return -1
	}
	slices.SortFunc(list, func(a, b *locks.Lock) int {
		return cmp.Or(cmp.Compare(waited(b), waited(a)), cmp.Compare(a.Asked.Time, b.Asked.Time), cmp.Compare(a.Handle, b.Handle))
	})
	list = list[:min(len(list), maxTableRows)]
	var filters []string
	for _, l := range list {
		filters = append(filters, x.and("lock_handle == "+string(schema.AppendHex(nil, cmp.Or(l.Handle, l.ClientHandle)))))
	}
	var text schema.Marked
	tables.Locks.New(o, c.Rows.First()).Append(&text, list)
	return tableLines(&text, filters)
}

// fileLines returns the files, those with the most RPCs first. Most RPCs of OSTs have the FIDs of objects only.
func fileLines(c *Capture, x *Selection, o render.SummaryOptions) []Line {
	var selected map[track.FID]bool
	if x != nil {
		selected = x.subject(c).FIDs.has
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.engine.Files().List()
	slices.SortStableFunc(list, func(a, b *files.File) int { return cmp.Compare(b.RPCs, a.RPCs) })
	var kept []*files.File
	var filters []string
	for _, f := range list {
		fids := []track.FID{f.FID}
		if x != nil {
			objects, _ := f.Objects()
			for i := range objects {
				fids = append(fids, objects[i].FID)
			}
			fids = slices.DeleteFunc(fids, func(fid track.FID) bool { return !selected[fid] })
		}
		if len(fids) == 0 || len(kept) == maxTableRows {
			continue
		}
		var b []byte
		for _, fid := range fids {
			b = schema.AppendFID(append(b, ", "...), fid.Seq, fid.OID, fid.Ver)
		}
		filter := "fid == " + string(b[2:])
		if len(fids) > 1 {
			filter = "fid in {" + string(b[2:]) + "}"
		}
		kept, filters = append(kept, f), append(filters, x.and(filter))
	}
	var text schema.Marked
	tables.Files.New(o, c.Rows.First()).Append(&text, kept)
	return tableLines(&text, filters)
}
