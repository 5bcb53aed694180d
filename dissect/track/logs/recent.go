package logs

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// Recent reads logs along with a capture and holds the lines about RPCs that were written
// last.
type Recent struct {
	table
	byXID *fifo.Map[uint64, []*track.LogLine]
}

// The bounds of what is held.
const (
	maxRecent      = 1 << 14 // RPCs
	maxRecentLines = 1 << 7  // of an RPC
)

// NewRecent returns the logs beside a capture. It opens none.
func NewRecent(files []File) *Recent {
	return &Recent{newTable(files, nil), fifo.NewMap[uint64, []*track.LogLine](maxRecent)}
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
		x.hold(l)
	}
	s := Subject{m.RPC.XID, m.RPC.Opcode, m.RPC.HasOpcode, m.LNet.Src, m.LNet.Dst}
	switch m.Kind {
	case lnet.Request:
	case lnet.Reply, lnet.EarlyReply:
		s.Client, s.Server = s.Server, s.Client
	default:
		return nil
	}
	all, _ := x.byXID.Get(s.XID)
	if !m.RPC.HasXID || len(all) == 0 {
		return nil
	}
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

// hold takes the next event of a log.
func (x *Recent) hold(l *log) {
	if e := &l.next; e.Kind <= debuglog.Note {
		lines, _ := x.byXID.Get(e.XID)
		if len(lines) < maxRecentLines {
			line := l.line(e, lnet.NID{})
			x.byXID.Put(e.XID, append(lines, &line))
		}
	}
	x.read(l)
}
