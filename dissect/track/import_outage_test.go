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
