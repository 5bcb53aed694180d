package track

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
)

// importMarks counts the packets of the connections that carry an import.
type importMarks struct {
	overTCP bool
	resent  int64                      // packets of its RPCs that were sent again, over another transport
	points  map[int]*lnet.TCPAnomalies // segments by what TCP did, by capture point
}

func (l *importMarks) addMarks(source int, marks *lnet.TCPAnomalies) {
	if l.points == nil {
		l.points = map[int]*lnet.TCPAnomalies{}
	}
	if l.points[source] == nil {
		l.points[source] = &lnet.TCPAnomalies{}
	}
	l.points[source].Add(marks)
}

// Retransmits is the number of packets that were sent again: over TCP all that
// count for the import, else those with bytes of its RPCs.
func (l *importMarks) Retransmits() int64 {
	if l.overTCP {
		return l.TCP().Retransmissions
	}
	return l.resent
}

// TCP counts the segments of the TCP connections that carry the messages, by what
// TCP did. Several imports share a TCP connection: a segment counts for the one
// whose message came last. What several capture points saw counts once.
func (l *importMarks) TCP() (m lnet.TCPAnomalies) {
	for _, p := range l.points {
		m.Retransmissions = max(m.Retransmissions, p.Retransmissions)
		m.Fast = max(m.Fast, p.Fast)
		m.Spurious = max(m.Spurious, p.Spurious)
		m.OutOfOrder = max(m.OutOfOrder, p.OutOfOrder)
		m.ZeroWindows = max(m.ZeroWindows, p.ZeroWindows)
	}
	return m
}

// carrier is a TCP connection.
type carrier struct {
	imp     *Import           // of the last message, nil before the first
	pending lnet.TCPAnomalies // until the first message
}

const maxCarriers = 1 << 16

// Message takes a message of any kind, with its RPC.
func (t *Imports) Message(r *RPC, m *dissect.Message) {
	if r == nil || r.Connection == nil || r.Connection.imp == nil || m.Transport != lnet.TCP {
		return
	}
	r.Connection.imp.overTCP = true
	k := fifo.GetOrNew(t.carriers, m.Conn)
	if k.imp == nil && k.pending != (lnet.TCPAnomalies{}) {
		r.Connection.imp.importMarks.addMarks(m.Source, &k.pending)
	}
	k.imp = r.Connection.imp
}

// TCPEvent takes a segment of a TCP connection.
func (t *Imports) TCPEvent(m *lnet.TCPEvent) {
	if m.TCPAnomalies == (lnet.TCPAnomalies{}) {
		return
	}
	if k := fifo.GetOrNew(t.carriers, m.Conn); k.imp != nil {
		k.imp.importMarks.addMarks(m.Source, &m.TCPAnomalies)
	} else {
		k.pending.Add(&m.TCPAnomalies)
	}
}
