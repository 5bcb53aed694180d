package track

import (
	"net/netip"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
)

func between(from, to lnet.NID) func(*dissect.Message) {
	return func(m *dissect.Message) {
		m.Src, m.Dst = addr(from), addr(to)
		m.RPC.Timeout = 10
	}
}

// lose reports a loss of what one node sent to another, now.
func (w *wire) lose(point int, from, to lnet.NID) {
	w.rpcs.Lost(&lnet.Loss{Source: point, Src: netip.AddrPortFrom(addr(from).Addr(), 988), Dst: addr(to), From: w.now, To: w.now, Bytes: 1})
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
		"answered": {func(w *wire) { w.request(xid, getter, sent); w.lose(0, server, client); w.reply(xid, getter) }, NotMissing},
	} {
		w := newWire(t, Options{})
		c.happens(w)
		w.rpcs.Advance(w.now)
		if r := w.one(); r.Missing != c.want {
			t.Errorf("%s: %v, want %v", name, r.Missing, c.want)
		}
	}
}

// The times of losses are bounded.
func TestLossesAreBounded(t *testing.T) {
	var l spans
	for i := range int64(10 * maxLossSpans) {
		l.add(Span{10 * i, 10*i + 1})
	}
	if len(l) != maxLossSpans || !l.overlaps(Span{6000, 6005}) || l.overlaps(Span{3, 8}) {
		t.Errorf("%d spans", len(l))
	}
}
