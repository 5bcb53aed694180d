package dissect

import (
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// pings returns a func that gives a Dissector another ping and its reply.
func pings(t testing.TB, d *Dissector) func() {
	t.Helper()
	var list []*lnet.Message
	frames := wiretest.Dialog(wiretest.ByReply, wiretest.Msg(wiretest.Body(wiretest.TypeRequest, opcodes.OBD_PING)),
		wiretest.Msg(wiretest.Body(wiretest.TypeReply, opcodes.OBD_PING)))
	wiretest.Play(lnet.NewDecoder(lnet.Options{Handle: func(m *lnet.Message) {
		if m.Kind == lnet.Request || m.Kind == lnet.Reply {
			list = append(list, m.Clone())
		}
	}}), frames)
	list = list[:2] // the dialog ends with another reply
	xid := uint64(wiretest.DialogXID)
	return func() {
		xid += 1 << keyShift
		for _, m := range list {
			m.LNet.MatchBits = xid
			m.LNet.Handle = [16]byte{byte(xid >> keyShift), byte(xid >> 8 >> keyShift)}
			m.Time++
			d.message(m)
		}
	}
}

// TestNoAllocation: in steady state an RPC costs no allocation.
func TestNoAllocation(t *testing.T) {
	paired := 0
	d := New(Options{Handle: func(m *Message) {
		if m.Kind == lnet.Reply && m.Req != nil && m.Req.XID == m.LNet.MatchBits {
			paired++
		}
	}})
	d.requests.bounds.answered = 100
	ping := pings(t, d)
	const runs = 200_000
	for range runs {
		ping()
	}
	if paired != runs {
		t.Fatalf("%d of %d replies found their requests", paired, runs)
	}
	wiretest.NoAllocations(t, 10_000, ping)
}

// BenchmarkPair pairs replies with their requests; an RPC is one operation.
func BenchmarkPair(b *testing.B) {
	d := New(Options{Handle: func(*Message) {}})
	ping := pings(b, d)
	b.ReportAllocs()
	for b.Loop() {
		ping()
	}
}
