package track

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
)

// resent is what TCP did with a message, of which a segment was lost from 1 ms
// to 3 ms after another time.
func resent(after int64) *lnet.Transfer {
	return &lnet.Transfer{Resent: 1, Timed: 1, Lost: 2 * ms, LostFrom: after + ms, LostTo: after + 3*ms}
}

func carriedBy(number int64, t lnet.Transfer) func(*dissect.Message) {
	return func(m *dissect.Message) { m.Number, m.Transfer = number, t }
}

func TestRetransmits(t *testing.T) {
	w := newWire(t, Options{})
	begin := w.now
	w.request(xid, getter, carriedBy(1, lnet.Transfer{RTT: ms}))
	w.pass(4 * ms)
	w.rpcs.TransferUpdate(1, resent(begin))
	w.reply(xid, getter, carriedBy(2, *resent(begin + ms/2)))
	w.rpcs.TransferUpdate(2, resent(w.now))  // behind the latency
	w.rpcs.TransferUpdate(99, resent(begin)) // of an unknown message
	r := w.one()
	ns, ok := r.RetransmitTime()
	if rtt, known := r.RTT(); r.Retransmits() != 3 || !ok || ns != 4*ms || !known || rtt != ms {
		t.Errorf("%d segments, %d ns (%v), RTT %d", r.Retransmits(), ns, ok, rtt)
	}
}

func TestRetransmitTimeIsUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		request, bulk, more, reply lnet.Transfer
		known, notCaptured         bool
	}{
		"known":                 {bulk: *resent(0), known: true},
		"reply not captured":    {reply: lnet.Transfer{Resent: 1, NotCaptured: true}, notCaptured: true},
		"not settled":           {request: lnet.Transfer{Resent: 1}},
		"more bulk data":        {bulk: *resent(0), more: lnet.Transfer{RTT: ms}},
		"late ACK":              {request: lnet.Transfer{Resent: 1, Timed: 1, AckedLate: true}, notCaptured: true},
		"bulk data in no delay": {bulk: lnet.Transfer{Resent: 1, Timed: 1}, more: lnet.Transfer{RTT: ms}, known: true},
	} {
		w := newWire(t, Options{})
		begin := w.now
		after := func(l lnet.Transfer) lnet.Transfer {
			if l.Lost != 0 {
				l.LostFrom, l.LostTo = l.LostFrom+begin, l.LostTo+begin
			}
			return l
		}
		w.request(xid, getter, carriedBy(1, c.request))
		w.pass(3 * ms)
		part := func(number int64, l lnet.Transfer) {
			w.send(lnet.Bulk, server, client, rpc(xid, getter), carriedBy(number, after(l)), func(m *dissect.Message) { m.RPC.Bytes = 10 })
		}
		part(2, c.bulk)
		if c.more != (lnet.Transfer{}) {
			w.pass(ms)
			part(3, c.more)
		}
		w.pass(200 * ms)
		w.reply(xid, getter, carriedBy(4, c.reply))
		r := w.one()
		if _, ok := r.RetransmitTime(); ok != c.known || r.Retransmits() != 1 || r.LossNotCaptured() != c.notCaptured {
			t.Errorf("%s: %d segments, time known %v, loss not captured %v", name, r.Retransmits(), ok, r.LossNotCaptured())
		}
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
