package logs

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

// Recent reads logs along with a capture and holds the lines about RPCs that were read
// last.
type Recent struct {
	table
	lines []recentLine   // a ring of maxRecent
	taken int            // lines so far: the last one is at taken-1, modulo maxRecent
	byXID map[uint64]int // the last line about each RPC, in the count of taken
}

// recentLine is what is shown of a track.LogLine, in a third of its size.
type recentLine struct {
	kind                debuglog.Kind
	served              bool
	log                 int32
	opcode              uint32
	status, replyStatus int32
	number, time        int64
	service, total      int64
	peer                lnet.NID
	process, text       string
	xid                 uint64
	older               int // the line before it with the same xid, in the count of taken, -1: none
}

// The bounds of what is held.
const (
	maxRecent   = 1 << 16 // lines
	maxRPCLines = 1 << 7  // of an RPC
)

// NewRecent returns the logs beside a capture. It opens none.
func NewRecent(files []File) *Recent {
	return &Recent{table: newTable(files, nil), lines: make([]recentLine, maxRecent), byXID: map[uint64]int{}}
}

// Open opens the logs and compares their clocks, as Logs.Open does.
func (x *Recent) Open(head *Head) (notes []string, err error) {
	if notes, err = compare(x.logs, head); err == nil {
		err = x.begin(true)
	}
	return notes, err
}

// Of returns the lines about the RPC of a request or reply, up to half a second after the
// message, in the order of time.
func (x *Recent) Of(m *dissect.Message) []*track.LogLine {
	for l := x.earliest(); l != nil && l.next.Time+l.offset <= m.Time+margin; l = x.earliest() {
		if l.next.Kind <= debuglog.Note {
			x.add(&l.next, l.number, l.offset)
		}
		x.read(l)
	}
	s := Subject{m.RPC.XID, m.RPC.Opcode, m.RPC.HasOpcode, m.LNet.Src, m.LNet.Dst}
	switch m.Kind {
	case lnet.Request:
	case lnet.Reply, lnet.EarlyReply:
		s.Client, s.Server = s.Server, s.Client
	default:
		return nil
	}
	if !m.RPC.HasXID {
		return nil
	}
	all := x.with(s.XID)
	shared := map[int]bool{} // logs in which other RPCs have the xid, too
	for _, line := range all {
		_, ok := x.logs[line.Log].writer(&line.Event, []*Subject{&s})
		shared[line.Log] = shared[line.Log] || !ok && !isMention(&line.Event)
	}
	var list []*track.LogLine
	for _, line := range all {
		if node, ok := x.logs[line.Log].writer(&line.Event, []*Subject{&s}); ok && !(isMention(&line.Event) && shared[line.Log]) {
			line.Node = node
			list = append(list, line)
		}
	}
	return list
}

// with returns the lines with an xid, oldest first.
func (x *Recent) with(xid uint64) (list []*track.LogLine) {
	at, ok := x.byXID[xid]
	for ; ok && at >= 0 && at >= x.taken-maxRecent; at = x.lines[at%maxRecent].older {
		l := &x.lines[at%maxRecent]
		list = append(list, &track.LogLine{Log: int(l.log), File: x.logs[l.log].Name, Event: debuglog.Event{
			Kind: l.kind, Line: l.number, Time: l.time, XID: xid, Opcode: l.opcode, Peer: l.peer, Process: l.process, Served: l.served,
			Service: l.service, Total: l.total, Status: l.status, ReplyStatus: l.replyStatus, Text: l.text}})
	}
	slices.Reverse(list)
	return list[:min(len(list), maxRPCLines)]
}

// add adds an event of a log whose clock is behind by an offset, in place of the oldest line
// when there are too many.
func (x *Recent) add(e *debuglog.Event, log int, offset int64) {
	place := &x.lines[x.taken%maxRecent]
	if last, ok := x.byXID[place.xid]; ok && last == x.taken-maxRecent {
		delete(x.byXID, place.xid)
	}
	older, ok := x.byXID[e.XID]
	if !ok {
		older = -1
	}
	*place = recentLine{e.Kind, e.Served, int32(log), e.Opcode, e.Status, e.ReplyStatus, e.Line, e.Time + offset,
		e.Service, e.Total, e.Peer, e.Process, e.Text, e.XID, older}
	x.byXID[e.XID] = x.taken
	x.taken++
}
