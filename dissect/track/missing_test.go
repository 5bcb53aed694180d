package track

import (
	"net/netip"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
)

func between(from, to lnet.NID) func(*dissect.Message) {
	return func(m *dissect.Message) {
		m.Src, m.Dst = addr(from), addr(to)
		m.RPC.Timeout = 10
	}
}

// lose reports a loss of what one node sent to another, now, on a connection with
// messages between some nodes.
func (w *wire) lose(point int, from, to lnet.NID, nids ...lnet.NID) {
	w.rpcs.Lost(&lnet.Loss{Source: point, Src: netip.AddrPortFrom(addr(from).Addr(), 988), Dst: addr(to), From: w.now, To: w.now, Bytes: 1, NIDs: nids})
}

// of returns the RPC with an xid, after the end of the capture.
func (w *wire) of(xid uint64) *RPC {
	w.t.Helper()
	w.end()
	for _, r := range w.done {
		if r.XID == xid {
			return r
		}
	}
	w.t.Fatalf("no RPC %d", xid)
	return nil
}

// behindRouter returns the NIDs of as many nodes as a Loss may have.
func behindRouter(first lnet.NID) []lnet.NID {
	list := []lnet.NID{first}
	for i := byte(100); len(list) < lnet.MaxLossNIDs; i++ {
		list = append(list, nid(i))
	}
	return list
}

func TestMissing(t *testing.T) {
	const second = int64(time.Second)
	sent := between(client, server)
	for name, c := range map[string]struct {
		happens func(w *wire)
		want    Missing
	}{
		"end":              {func(w *wire) { w.request(xid, getter, sent); w.pass(20 * second) }, CaptureEnded},
		"deadline":         {func(w *wire) { w.request(xid, getter, sent); w.pass(40 * second) }, Unanswered},
		"without estimate": {func(w *wire) { w.request(xid, getter); w.pass(1000 * second) }, CaptureEnded},
		"sent again":       {func(w *wire) { w.request(xid, getter, sent); w.request(xid, getter, sent, flags(dissect.FlagResent)) }, Unanswered},
		"early reply": {func(w *wire) {
			w.request(xid, getter, sent)
			w.pass(10 * second)
			w.send(lnet.EarlyReply, server, client, rpc(xid, getter), func(m *dissect.Message) { m.RPC.Timeout = 40 })
			w.pass(40 * second)
		}, CaptureEnded},
		"loss":             {func(w *wire) { w.request(xid, getter, sent); w.lose(0, server, client); w.pass(40 * second) }, NotCaptured},
		"loss before":      {func(w *wire) { w.lose(0, server, client); w.pass(1); w.request(xid, getter, sent) }, CaptureEnded},
		"loss behind":      {func(w *wire) { w.request(xid, getter, sent); w.pass(40 * second); w.lose(0, server, client) }, Unanswered},
		"loss of requests": {func(w *wire) { w.request(xid, getter, sent); w.lose(0, client, server) }, CaptureEnded},
		"other client":     {func(w *wire) { w.request(xid, getter, sent); w.lose(0, server, client2) }, CaptureEnded},
		"one point of two": {func(w *wire) {
			w.request(xid, getter, sent)
			w.request(xid, getter, sent, source(1))
			w.lose(1, server, client)
		}, CaptureEnded},
		"both points": {func(w *wire) {
			w.request(xid, getter, sent)
			w.request(xid, getter, sent, source(1))
			w.lose(1, server, client)
			w.lose(0, server, client)
		}, NotCaptured},
		"other router":         {func(w *wire) { w.request(xid, getter, sent); w.lose(0, nid(50), client, client, server) }, NotCaptured},
		"router of many":       {func(w *wire) { w.request(xid, getter, sent); w.lose(0, nid(50), client, behindRouter(client)...) }, NotCaptured},
		"router of another":    {func(w *wire) { w.request(xid, getter, sent); w.lose(0, nid(50), client, client, nid(51)) }, CaptureEnded},
		"unused connection":    {func(w *wire) { w.request(xid, getter, sent); w.lose(0, nid(50), client) }, NotCaptured},
		"unused, other client": {func(w *wire) { w.request(xid, getter, sent); w.lose(0, nid(50), client2) }, CaptureEnded},
		"other rail": {func(w *wire) {
			w.request(xid+1, getter, handle(7))
			w.send(lnet.Request, nid(60), nid(61), rpc(xid+2, getter), handle(7))
			w.reply(xid+1, getter)
			w.send(lnet.Reply, nid(61), nid(60), rpc(xid+2, getter))
			w.request(xid, getter, sent, handle(7))
			w.lose(0, nid(61), nid(60), nid(60), nid(61))
		}, NotCaptured},
		"rail of another": {func(w *wire) {
			w.request(xid, getter, sent, handle(7))
			w.lose(0, nid(61), nid(60), nid(60), nid(61))
		}, CaptureEnded},
		"encrypted":                   {func(w *wire) { w.request(xid, getter, encrypted); w.pass(10 * second) }, CaptureEnded},
		"encrypted, long ago":         {func(w *wire) { w.request(xid, getter, encrypted); w.pass(100 * second) }, EncryptedReply},
		"encrypted, sent again":       {func(w *wire) { w.request(xid, getter, encrypted); w.request(xid, getter, encrypted) }, Unanswered},
		"encrypted, loss":             {func(w *wire) { w.request(xid, getter, encrypted); w.lose(0, server, client); w.pass(100 * second) }, NotCaptured},
		"encrypted, past the timeout": {func(w *wire) { w.request(xid, getter, encrypted); w.pass(4000 * second) }, Unanswered},
		"encrypted reply of another": {func(w *wire) {
			w.request(xid, getter, encrypted)
			w.reply(xid+1, getter, encrypted)
		}, EncryptedReply},
		"encrypted reply before": {func(w *wire) {
			w.reply(xid+1, getter, encrypted)
			w.pass(1)
			w.request(xid, getter, encrypted)
		}, CaptureEnded},
		"encrypted reply to another": {func(w *wire) {
			w.request(xid, getter, encrypted)
			w.send(lnet.Reply, server, client2, rpc(xid+1, getter), encrypted)
		}, CaptureEnded},
		"encrypted, answered": {func(w *wire) { w.request(xid, getter, encrypted); w.reply(xid, getter, encrypted) }, NotMissing},
		"answered":            {func(w *wire) { w.request(xid, getter, sent); w.lose(0, server, client); w.reply(xid, getter) }, NotMissing},
	} {
		w := newWire(t, Options{})
		c.happens(w)
		w.rpcs.Advance(w.now)
		if r := w.of(xid); r.Missing != c.want {
			t.Errorf("%s: %v, want %v", name, r.Missing, c.want)
		}
	}
}

// The times of losses are bounded.
func TestLossesAreBounded(t *testing.T) {
	var l Spans
	for i := range int64(10 * maxLossSpans) {
		l.Add(Span{10 * i, 10*i + 1}, maxLossSpans)
	}
	if len(l) != maxLossSpans || !l.Overlap(Span{6000, 6005}) || l.Overlap(Span{3, 8}) {
		t.Errorf("%d spans", len(l))
	}
}
