package model

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/tables"
)

// Table is a table of a command, whose rows lead to the RPCs that they are about.
type Table struct {
	Name  string
	Lines func(c *Capture, o render.SummaryOptions) []Line
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
func tableLines(text []byte, filters []string) []Line {
	lines := textLines(text)
	for i, f := range filters {
		lines[i+1].Filter = f
	}
	return lines
}

// statsBy makes the table of the RPCs that have ended by a dimension, as lshark stats shows it.
func statsBy(by track.Dimension, field string) func(*Capture, render.SummaryOptions) []Line {
	return func(c *Capture, o render.SummaryOptions) []Line {
		list := []track.Dimension{by}
		stats := track.NewStats(track.StatsOptions{By: list})
		rows := c.Rows.NewReader()
		from, to := c.Rows.Range(store.RPCs)
		for id := from; id < to; id++ {
			if r, err := rows.RPC(id); err == nil {
				stats.Done(r.RPC)
			}
		}
		var lines []Line
		for _, i := range stats.Intervals() {
			var filters []string
			for _, r := range tables.SortRows(i, list, "count") {
				value := tables.AppendDimension(nil, r, by, render.NIDs{Full: true})
				switch {
				case r.Others:
					filters = append(filters, "")
				case len(value) == 0:
					filters = append(filters, "not "+field)
				default:
					filters = append(filters, field+" == "+filter.Literal(string(value)))
				}
			}
			table := tables.NewStatsTable(tables.StatsOptions{By: list, Sort: "count", Colors: o.Colors, Width: o.Width, NIDs: o.NIDs})
			lines = append(lines, tableLines(table.AppendInterval(nil, i), filters)...)
		}
		return lines
	}
}

// lockLines returns the locks that have ended, the longest waits first.
func lockLines(c *Capture, o render.SummaryOptions) []Line {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*locks.Lock
	for k, l := range fifo.All(c.ended) {
		if keysOf(l)[0] == k {
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
		filters = append(filters, "lock_handle == "+string(schema.AppendHex(nil, cmp.Or(l.Handle, l.ClientHandle))))
	}
	return tableLines(tables.Locks.New(o, c.Rows.First()).Append(nil, list), filters)
}

// fileLines returns the files, those with the most RPCs first.
func fileLines(c *Capture, o render.SummaryOptions) []Line {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.files.List()
	slices.SortStableFunc(list, func(a, b *files.File) int { return cmp.Compare(b.RPCs, a.RPCs) })
	list = list[:min(len(list), maxTableRows)]
	var filters []string
	for _, f := range list {
		filters = append(filters, "fid == "+string(schema.AppendFID(nil, f.FID.Seq, f.FID.OID, f.FID.Ver)))
	}
	return tableLines(tables.Files.New(o, c.Rows.First()).Append(nil, list), filters)
}
