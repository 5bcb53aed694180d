package track

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
)

// resent is what TCP did with a message, of which a segment was lost from 1 ms
// to 3 ms after another time.
func resent(after int64) *lnet.Transfer {
	return &lnet.Transfer{Resent: 1, Lost: 2 * ms, LostFrom: after + ms, LostTo: after + 3*ms}
}

func carriedBy(number int64, t lnet.Transfer) func(*dissect.Message) {
	return func(m *dissect.Message) { m.Number, m.Transfer = number, t }
}

func TestRetransmits(t *testing.T) {
	w := newWire(t, Options{})
	begin := w.now
	w.request(xid, getter, carriedBy(1, lnet.Transfer{RTT: ms}))
	w.pass(4 * ms)
	w.rpcs.Later(1, resent(begin))
	w.reply(xid, getter, carriedBy(2, *resent(begin + ms/2)))
	w.rpcs.Later(2, resent(w.now))  // behind the latency
	w.rpcs.Later(99, resent(begin)) // of an unknown message
	r := w.one()
	ns, ok := r.RetransmitTime()
	if rtt, known := r.RTT(); r.Retransmits() != 3 || !ok || ns != 4*ms || !known || rtt != ms {
		t.Errorf("%d segments, %d ns (%v), RTT %d", r.Retransmits(), ns, ok, rtt)
	}
}

func TestRetransmitTimeIsUnknown(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, getter, carriedBy(1, lnet.Transfer{}))
	w.pass(200 * ms)
	w.reply(xid, getter, carriedBy(2, lnet.Transfer{Resent: 1, NotCaptured: true, TimeUnknown: true}))
	r := w.one()
	if _, ok := r.RetransmitTime(); ok || r.Retransmits() != 1 || !r.LossNotCaptured() {
		t.Errorf("%d segments, time known %v", r.Retransmits(), ok)
	}
}

func TestNodeTimeOfLostReply(t *testing.T) {
	for name, c := range map[string]struct {
		request, reply lnet.Transfer
		known          bool
	}{
		"captured":               {lnet.Transfer{}, lnet.Transfer{}, true},
		"request again":          {*resent(0), lnet.Transfer{}, true},
		"late ACK":               {lnet.Transfer{AckedLate: true}, lnet.Transfer{}, false},
		"reply not captured":     {lnet.Transfer{}, lnet.Transfer{Resent: 1, NotCaptured: true}, false},
		"reply again, but known": {lnet.Transfer{}, *resent(0), true},
	} {
		w := newWire(t, Options{})
		w.request(xid, getter, carriedBy(1, lnet.Transfer{}))
		w.pass(ms)
		w.request(xid, getter, source(1), carriedBy(2, c.request))
		w.pass(ms)
		w.reply(xid, getter, source(1), carriedBy(3, c.reply))
		w.pass(ms)
		w.reply(xid, getter, carriedBy(4, lnet.Transfer{}))
		r := w.one()
		if ns, ok := r.NodeTime(); ok != c.known || ok && ns != ms {
			t.Errorf("%s: node time %d, known %v", name, ns, ok)
		}
	}
}
