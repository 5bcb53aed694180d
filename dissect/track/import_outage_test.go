package track

import (
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

type outageScript struct {
	script
	imports *Imports
}

// TestOutage lets a client lose its connection after some pings, and looks at how it was
// lost when it is evicted.
func TestOutage(t *testing.T) {
	const second = int64(time.Second)
	notConnected := func(s *outageScript) { s.plain(opcodes.OBD_PING, export, status(opcodes.ENOTCONN)) }
	for name, c := range map[string]struct {
		play    func(s *outageScript)
		silence int64 // seconds
		absent  bool
		lostBy  bool
	}{
		"pings":           {func(s *outageScript) { s.pass(5 * second); notConnected(s) }, 5, false, true},
		"after a silence": {func(s *outageScript) { s.pass(40 * second); notConnected(s) }, 40, false, true},
		"connects without a reply": {func(s *outageScript) {
			for range 3 {
				s.pass(10 * second)
				s.connect(2, 0, export)
			}
		}, 30, false, false},
		"connects refused": {func(s *outageScript) {
			for range 3 {
				s.pass(10 * second)
				s.connect(2, 0, export, status(-11))
			}
		}, 10, false, false},
		"hole in it": {func(s *outageScript) {
			s.imports.Lost(&lnet.Loss{From: s.now + second, To: s.now + 2*second})
			s.pass(40 * second)
			notConnected(s)
		}, 0, false, true},
		"hole between other nodes": {func(s *outageScript) {
			s.imports.Lost(&lnet.Loss{From: s.now + second, To: s.now + 2*second, NIDs: []lnet.NID{nid(8), nid(9)}})
			s.pass(40 * second)
			notConnected(s)
		}, 40, false, true},
		"hole before": {func(s *outageScript) {
			s.imports.Lost(&lnet.Loss{From: s.now - 2*second, To: s.now - second})
			s.pass(40 * second)
			notConnected(s)
		}, 40, false, true},
		"target was absent": {func(s *outageScript) {
			s.pass(second)
			notConnected(s)
			s.connect(2, 0, export, status(opcodes.ENODEV))
		}, 1, true, true},
	} {
		w, imports := connected(t)
		s := &outageScript{script{w, xid}, imports}
		s.connect(1, opcodes.ConnectInitial, 0, handle(export))
		s.plain(opcodes.LDLM_ENQUEUE, export)
		for range 5 {
			s.pass(5 * second)
			s.plain(opcodes.OBD_PING, export)
		}
		c.play(s)
		s.connect(3, 0, export, handle(export+1))
		i := imports.List()[0]
		o := i.Outage()
		if o == nil || o.Evicted.IsZero() || i.Evictions != 1 {
			t.Fatalf("%s: not evicted: %+v", name, o)
		}
		if o.Silence/second != c.silence || o.Interval/second != 5 || o.Absent.IsZero() == c.absent || o.HasLostBy != c.lostBy {
			t.Errorf("%s: %+v", name, o)
		}
		s.plain(opcodes.OST_WRITE, export, status(opcodes.ENOTCONN)) // sent after it
		if s.end(); o.Refused.Count != 0 {
			t.Errorf("%s: %d requests were refused", name, o.Refused.Count)
		}
	}
}

// TestDeniedAgain: a client that tries on after it was denied its connection is not evicted again.
func TestDeniedAgain(t *testing.T) {
	w, imports := connected(t)
	s := &outageScript{script{w, xid}, imports}
	asClient := func(m *dissect.Message) { m.Msg.Bufs[connectData] = wiretest.ConnectData(flagVersion, 0x02110000) }
	deny := func(cnt uint32) *Outage {
		s.ask(opcodes.OST_CONNECT, []change{connectTo(target, uuid, cookie), asClient, connCnt(cnt), handle(export)}, []change{status(opcodes.EACCES)})
		return imports.List()[0].Outage()
	}
	s.plain(getter, export)
	if o := deny(2); o.Evicted.IsZero() || o.Status != opcodes.EACCES {
		t.Errorf("denied: %+v", o)
	}
	if o := deny(3); !o.Evicted.IsZero() {
		t.Errorf("denied again: %+v", o)
	}
}

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
