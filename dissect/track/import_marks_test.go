package track

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// on puts a message on a TCP connection.
func on(conn int) func(*dissect.Message) { return func(m *dissect.Message) { m.Conn = conn } }

// marked returns a segment of a TCP connection at a capture point.
func marked(source, conn int, marks lnet.TCPAnomalies) *lnet.TCPEvent {
	return &lnet.TCPEvent{Source: source, Conn: conn, TCPAnomalies: marks}
}

func TestImportMarks(t *testing.T) {
	w, imports := connected(t)
	// request sends a request and gives it to the Imports as the commands do.
	request := func(xid, h uint64, change ...func(*dissect.Message)) {
		var last *dissect.Message
		change = append(change, handle(h), func(m *dissect.Message) { last = m })
		imports.Message(w.request(xid, getter, change...), last)
	}
	once := lnet.TCPAnomalies{Retransmissions: 1}
	imports.TCPEvent(marked(0, 7, once)) // before the first message, such as a SYN
	request(xid, 1, on(7))
	imports.TCPEvent(marked(0, 7, lnet.TCPAnomalies{Retransmissions: 1, Fast: 1}))
	request(xid+1, 2, on(7)) // shares the connection
	imports.TCPEvent(marked(0, 7, lnet.TCPAnomalies{ZeroWindows: 1, OutOfOrder: 1}))
	imports.TCPEvent(marked(0, 8, once)) // nothing is known of it
	request(xid+2, 2, on(9), source(1))
	imports.TCPEvent(marked(1, 9, lnet.TCPAnomalies{ZeroWindows: 1, Spurious: 2}))
	w.end()
	list := imports.List()
	if len(list) != 2 {
		t.Fatalf("%d imports", len(list))
	}
	if m := list[0].TCP(); m != (lnet.TCPAnomalies{Retransmissions: 2, Fast: 1}) || list[0].Retransmits() != 2 {
		t.Errorf("first: %+v, %d sent again", m, list[0].Retransmits())
	}
	if m := list[1].TCP(); m != (lnet.TCPAnomalies{ZeroWindows: 1, OutOfOrder: 1, Spurious: 2}) {
		t.Errorf("second, of two capture points: %+v", m)
	}
}

// TestRetransmitsOverInfiniBand: packets with bytes of the RPCs count.
func TestRetransmitsOverInfiniBand(t *testing.T) {
	w, imports := connected(t)
	var last *dissect.Message
	r := w.request(xid, opcodes.OBD_PING, handle(1), carriedBy(1, lnet.Transfer{Resent: 3}), func(m *dissect.Message) {
		m.Transport, last = lnet.O2IB, m
	})
	imports.Message(r, last)
	w.reply(xid, opcodes.OBD_PING)
	w.end()
	if i := imports.List()[0]; i.Retransmits() != 3 || i.TCP() != (lnet.TCPAnomalies{}) {
		t.Errorf("%d sent again, %+v", i.Retransmits(), i.TCP())
	}
}
