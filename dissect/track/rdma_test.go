package track

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/link"
)

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
	if row.RDMATime.N != 1 || row.RDMATime.Max != 10*ms {
		t.Errorf("%+v", row.RDMATime)
	}
}

// TestNoRDMATime: an RPC without RDMA writes has no time of them.
func TestNoRDMATime(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, reader)
	w.reply(xid, reader)
	if ns, ok := w.one().RDMATime(); ok {
		t.Errorf("%d ns", ns)
	}
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
	if len(r.OtherErrors) != 1 || r.OtherErrors[0] != eio || r.Failed() {
		t.Errorf("errors %v, status %d", r.OtherErrors, r.Status)
	}
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
