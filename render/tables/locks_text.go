package tables

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// Locks is the table of locks.
var Locks = Kind[*locks.Lock]{name: "table of locks", keys: &records.Locks, columns: []column[*locks.Lock]{
	{title: "asked", rank: extra, role: schema.Dim, show: func(p *printer, l *locks.Lock) string { return p.time(l.Asked) }},
	{title: "client", left: true, role: schema.Node},
	{title: "resource", left: true, whole: true, role: schema.Object,
		show: func(_ *printer, l *locks.Lock) string { return string(l.Desc.AppendResource(nil)) }},
	{title: "lock", key: "mode", doc: "mode of the lock, and its bits, range or group id", left: true, rank: useful, role: schema.Label,
		show: lockText},
	{title: "waited", dimZero: true, round: true, mark: func(l *locks.Lock) schema.Role {
		if l.Blocked || len(l.BlockedBy) > 0 {
			return schema.Warning
		}
		return schema.Number
	}},
	{title: "blocked by", key: "blocked_by", doc: "nodes and jobs with locks that kept it waiting", left: true, rank: neededFilled, role: schema.Bad,
		show: blockersText},
	{title: "ended", left: true, rank: useful, mark: func(l *locks.Lock) schema.Role { return cmp.Or(endRoles[l.End.How], schema.Dim) },
		show: func(_ *printer, l *locks.Lock) string { return l.End.How.String() }},
	{title: "held", rank: useful, round: true, role: schema.Number},
	{title: "frame", key: "asked.frame", rank: extra, role: schema.Dim,
		show: func(_ *printer, l *locks.Lock) string { return frame(l.Asked) }},
	{title: "bl", key: "callbacks", doc: "number of callbacks that asked the client to give the lock back", dimZero: true, rank: extra,
		role: schema.Warning,
		show: func(_ *printer, l *locks.Lock) string {
			n := 0
			for i := range l.Callbacks {
				if l.Callbacks[i].Asks() {
					n++
				}
			}
			return strconv.Itoa(n)
		}},
	{title: "target", left: true, rank: extra, role: schema.Node,
		show: func(_ *printer, l *locks.Lock) string { return cmp.Or(l.Target(), l.TargetIndex()) }},
	{title: "server", left: true, rank: extra, role: schema.Node},
	{title: "job", left: true, rank: extra, role: schema.Dim},
	{title: "handle", left: true, whole: true, role: schema.Dim},
}}

// StuckLocks is the table of locks that are stuck: it has how each ended before other columns.
var StuckLocks = Kind[*locks.Lock]{name: Locks.name, keys: Locks.keys, columns: stuckColumns()}

func stuckColumns() []column[*locks.Lock] {
	list := slices.Clone(Locks.columns)
	for i := range list {
		switch c := &list[i]; c.title {
		case "ended":
			c.rank, c.whole = needed, true
		case "lock":
			c.rank = needed
		case "waited", "blocked by":
			c.rank = useful
		}
	}
	return list
}

// Holders is the table of who kept others waiting.
var Holders = Kind[*locks.Holder]{name: "table of blockers", keys: &records.Holders, columns: []column[*locks.Holder]{
	{title: "holder", key: "client", left: true, role: schema.Node},
	{title: "job", left: true, role: schema.Dim},
	{title: "resource", left: true, whole: true, role: schema.Object},
	{title: "type", left: true, rank: useful, role: schema.Dim},
	{title: "waits", role: schema.Number},
	{title: "time", key: "waited", round: true, role: schema.Bad},
	{title: "longest", rank: useful, round: true, role: schema.Number},
	{title: "target", left: true, rank: extra, role: schema.Node},
	{title: "server", left: true, rank: extra, role: schema.Node},
	{title: "waiters", left: true, rank: useful, role: schema.Node},
}}

// blockersText returns who kept a lock waiting, each node and job once, the longest first.
func blockersText(p *printer, l *locks.Lock) string {
	var list []string
	for _, b := range l.BlockedBy {
		if who := p.nid(b.Client) + before("/", b.Job); !slices.Contains(list, who) {
			list = append(list, who)
		}
	}
	return strings.Join(list, " ")
}

// lockText returns mode, and range or bits.
func lockText(_ *printer, l *locks.Lock) string {
	mode, ok := l.Mode()
	if !ok {
		return records.LockType(&l.Desc)
	}
	line := schema.PlainLine(nil)
	line.Value(schema.Flag, opcodes.LdlmMode, mode)
	switch l.Desc.Kind {
	case opcodes.FlockLock:
		line.Key("flock")
	case opcodes.ExtentLock, opcodes.InodeLock:
	default:
		line.Key("plain")
	}
	switch {
	case l.Desc.IsGroup():
		line.Key("gid ")
		line.Num(l.Desc.Group)
	case l.Desc.Kind == opcodes.InodeLock:
		line.Key("")
		line.Flags(opcodes.LdlmInodebits, l.Desc.Bits)
	case l.Desc.Kind == opcodes.ExtentLock || l.Desc.Kind == opcodes.FlockLock:
		line.Key("")
		line.Range(l.Desc.Start, l.Desc.End)
	}
	return string(line.Text)
}

var endRoles = map[locks.How]schema.Role{locks.Evicted: schema.Bad, locks.Failed: schema.Bad, locks.Refused: schema.Bad,
	locks.Unfollowed: schema.Bad, locks.Open: schema.Good}
