package track

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
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
	if ns, _ := r.Latency(); ns != 9*ms {
		t.Errorf("latency %d", ns)
	}
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
	if r := w.one(); r.Sends != 3 || sent != 3 {
		t.Errorf("sends %d, %d hooks", r.Sends, sent)
	}
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
	if r := w.one(); r.BulkBytes() != 1000 {
		t.Errorf("bulk %d", r.BulkBytes())
	}
}
