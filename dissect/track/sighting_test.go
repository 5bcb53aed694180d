package track

import (
	"net/netip"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/fifo"
)

// both sends a message that two capture points see, 1 ms apart.
func (w *wire) both(first, second int, send func(change ...func(m *dissect.Message)) *RPC) {
	send(source(first))
	w.pass(ms)
	send(source(second))
}

func TestTwoCapturePoints(t *testing.T) {
	w := newWire(t, Options{})
	w.both(0, 1, func(c ...func(*dissect.Message)) *RPC { return w.request(xid, reader, c...) })
	w.pass(5 * ms)
	for part := range uint64(2) {
		w.both(1, 0, func(c ...func(*dissect.Message)) *RPC {
			return w.send(lnet.Bulk, server, client, append(c, rpc(xid, reader), matchBits(xid+part), size(1000))...)
		})
	}
	w.both(1, 0, func(c ...func(*dissect.Message)) *RPC { return w.reply(xid, reader, c...) })
	r := w.one()
	ns, _ := r.Latency()
	assert.That(t, ns == 9*ms, "latency %d", ns)
	if ns, ok := r.NodeTime(); !ok || ns != 7*ms {
		t.Errorf("node time %d, %v", ns, ok)
	}
	if r.Sends != 1 || r.BulkBytes() != 2000 || len(r.Seen) != 2 {
		t.Errorf("sends %d, bulk %d, sightings %d", r.Sends, r.BulkBytes(), len(r.Seen))
	}
}

// The point that saw the request first is the client's, whatever its number.
func TestClientSideIsTheFirst(t *testing.T) {
	w := newWire(t, Options{})
	w.both(1, 0, func(c ...func(*dissect.Message)) *RPC { return w.request(xid, reader, c...) })
	w.both(0, 1, func(c ...func(*dissect.Message)) *RPC { return w.reply(xid, reader, c...) })
	r := w.one()
	all, _ := r.Latency()
	node, _ := r.NodeTime()
	if all != 2*ms || node != 0 || r.Requested().Frame != 1 {
		t.Errorf("latency %d, node time %d, request in frame %d", all, node, r.Requested().Frame)
	}
}

func TestResendAtTwoPoints(t *testing.T) {
	w := newWire(t, Options{})
	sent := 0
	w.rpcs.opt.Sent = func(*RPC, *dissect.Message) { sent++ }
	for _, f := range []uint32{0, dissect.FlagResent, dissect.FlagResent} {
		w.both(0, 1, func(c ...func(*dissect.Message)) *RPC { return w.request(xid, reader, append(c, flags(f))...) })
	}
	w.both(1, 0, func(c ...func(*dissect.Message)) *RPC { return w.reply(xid, reader, c...) })
	r := w.one()
	assert.That(t, r.Sends == 3 && sent == 3, "sends %d, %d hooks", r.Sends, sent)
}

// A router's neighbour sees each message before and after the router.
func TestRoutedMessageCountsOnce(t *testing.T) {
	w := newWire(t, Options{})
	router := nid(9)
	w.request(xid, reader, leg(client, router))
	w.pass(ms)
	w.request(xid, reader, leg(router, server))
	w.pass(ms)
	for _, l := range []func(*dissect.Message){leg(server, router), leg(router, client)} {
		w.send(lnet.Bulk, server, client, rpc(xid, reader), size(1000), l)
		w.pass(ms)
	}
	w.reply(xid, reader, leg(server, router))
	w.reply(xid, reader, leg(router, client))
	if r := w.one(); r.Sends != 1 || r.BulkBytes() != 1000 {
		t.Errorf("sends %d, bulk %d", r.Sends, r.BulkBytes())
	}
}

func TestRoutedFetchCountsOnce(t *testing.T) {
	w := newWire(t, Options{})
	router := nid(9)
	w.request(xid, writer, leg(client, router))
	for _, l := range []func(*dissect.Message){leg(server, router), leg(router, client)} {
		w.send(lnet.Get, server, client, rpc(xid, writer), size(1000), l)
	}
	for _, l := range []func(*dissect.Message){leg(client, router), leg(router, server)} {
		w.send(lnet.GetReply, client, server, rpc(xid, writer), size(1000), l)
	}
	w.reply(xid, writer)
	assert.Equal(t, w.one().BulkBytes(), 1000, "bulk")
}

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
		ns, ok := r.NodeTime()
		assert.That(t, ok == c.known && (!ok || ns == ms), "%s: node time %d, known %v", name, ns, ok)
	}
}

func TestDuplicates(t *testing.T) {
	a, b := netip.MustParseAddrPort("192.0.2.3:1021"), netip.MustParseAddrPort("192.0.2.1:988")
	message := func(source int, seq uint32) *dissect.Message {
		return &dissect.Message{Message: lnet.Message{Src: a, Dst: b, Seq: seq, Size: 200, Kind: lnet.Request, Source: source}}
	}
	var d Duplicates
	for i, tt := range []struct {
		source int
		seq    uint32
		again  bool
	}{{0, 1, false}, {1, 1, true}, {1, 201, false}, {0, 201, true}, {0, 401, false}, {0, 401, false}} {
		assert.Equal(t, d.Seen(message(tt.source, tt.seq)), tt.again, "message", i, "seen again")
	}
	for seq := range uint32(3 * duplicateWindow) {
		d.Seen(message(0, 1000+seq))
	}
	assert.That(t, fifo.Len(d.sources) <= duplicateWindow, "%d messages are remembered", fifo.Len(d.sources))
}

// rdma makes a message one of an RDMA transfer, whose writes went on from a time until
// another one, counted in milliseconds before the message.
func rdma(from, to int64, status int32) func(m *dissect.Message) {
	return func(m *dissect.Message) {
		m.Transport = lnet.O2IB
		m.IB = &lnet.IB{DestQP: 0x11, Status: status, Parts: make([]lnet.IBPart, 3)}
		if to != from {
			at := func(before int64) link.Frame { return link.Frame{Time: m.Time - before*ms} }
			m.IB.Writes = lnet.IBWrites{Packets: 2, Bytes: 1000, First: at(from), Last: at(to)}
		}
	}
}

// TestRDMATime: the times of writes that overlap count once.
func TestRDMATime(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, reader)
	w.pass(20 * ms)
	w.send(lnet.Bulk, server, client, rpc(xid, reader), size(1000), matchBits(xid), rdma(10, 4, 0))
	w.pass(ms)
	w.send(lnet.Bulk, server, client, rpc(xid, reader), size(1000), matchBits(xid+1), rdma(8, 2, 0))
	w.pass(10 * ms)
	w.reply(xid, reader, rdma(2, 1, 0))
	r := w.one()
	if ns, ok := r.RDMATime(); !ok || ns != 10*ms || r.BulkBytes() != 2000 {
		t.Errorf("%d ns, %v, %d bytes", ns, ok, r.BulkBytes())
	}
	row := &Row{}
	row.add(r, 1)
	assert.That(t, row.RDMATime.N == 1 && row.RDMATime.Max == 10*ms, "%+v", row.RDMATime)
}

// TestNoRDMATime: an RPC without RDMA writes has no time of them.
func TestNoRDMATime(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, reader)
	w.reply(xid, reader)
	ns, ok := w.one().RDMATime()
	assert.That(t, !ok, "%d ns", ns)
}

// TestFailedRDMA: a transfer that failed is an error of its RPC, once, whichever capture
// points saw it. The bytes of one that did not fail are none.
func TestFailedRDMA(t *testing.T) {
	const eio = -5
	w := newWire(t, Options{})
	for s := range 2 {
		w.request(xid, reader, source(s))
		w.send(lnet.Bulk, server, client, rpc(xid, reader), size(1000), source(s), rdma(0, 0, eio))
		w.reply(xid, reader, source(s), rdma(2, 1, 1000))
	}
	r := w.one()
	assert.That(t, len(r.OtherErrors) == 1 && r.OtherErrors[0] == eio && !r.Failed(), "errors %v, status %d", r.OtherErrors, r.Status)
}

// TestRouterBetweenTransports: beside a router between TCP and InfiniBand, each message
// is seen over both, and counts once.
func TestRouterBetweenTransports(t *testing.T) {
	w := newWire(t, Options{})
	far := server
	far.Type = 5 // o2ib
	router := nid(9)
	ends := func(m *dissect.Message) { m.LNet.Dst = far }
	back := func(m *dissect.Message) { m.LNet.Src = far }
	w.request(xid, writer, ends, leg(client, router))
	w.request(xid, writer, ends, leg(router, server), rdma(0, 0, 0))
	w.send(lnet.Get, far, client, rpc(xid, writer), size(1000), leg(server, router), rdma(0, 0, 0))
	w.send(lnet.Get, far, client, rpc(xid, writer), size(1000), leg(router, client))
	w.pass(10 * ms)
	w.send(lnet.GetReply, client, far, rpc(xid, writer), size(1000), leg(client, router))
	w.send(lnet.GetReply, client, far, rpc(xid, writer), size(1000), leg(router, server), rdma(3, 1, 1000))
	w.reply(xid, writer, back, leg(server, router), rdma(0, 0, 0))
	w.reply(xid, writer, back, leg(router, client))
	r := w.one()
	if ns, ok := r.RDMATime(); r.Sends != 1 || r.BulkBytes() != 1000 || !ok || ns != 2*ms || r.Server != far || len(r.OtherErrors) != 0 {
		t.Errorf("sends %d, bulk %d, writes %d ns, server %v, errors %v", r.Sends, r.BulkBytes(), ns, r.Server, r.OtherErrors)
	}
}
