package track

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
)

// traffic is a steady stream of reads: request, bulk and reply, with some
// in flight at any time.
type traffic struct {
	m    dissect.Message
	n    uint64
	rpcs *Pairing
}

const inFlight = 32

func newTraffic(rpcs *Pairing) *traffic {
	t := &traffic{rpcs: rpcs}
	t.m.RPC.JobID = []byte("dd.0")
	for range 4 * (maxLingering + maxEnded) { // until all pools are filled
		t.step()
	}
	return t
}

func (t *traffic) send(kind lnet.Kind, n uint64) {
	m := &t.m
	m.Kind = kind
	m.Frame++
	m.Time += 1000
	m.RPC.XID, m.RPC.HasXID, m.RPC.Opcode, m.RPC.HasOpcode, m.RPC.Handle = xid+n<<7, true, reader, true, 77
	m.LNet.Src, m.LNet.Dst, m.LNet.MatchBits = client, server, m.RPC.XID
	if m.RPC.Bytes = 1 << 10; kind != lnet.Request {
		m.LNet.Src, m.LNet.Dst = server, client
		m.RPC.Bytes = 1 << 20
	}
	t.rpcs.Message(m)
}

// step sends three messages.
func (t *traffic) step() {
	t.n++
	t.send(lnet.Request, t.n)
	if t.n > inFlight {
		t.send(lnet.Bulk, t.n-inFlight)
		t.send(lnet.Reply, t.n-inFlight)
	}
}

func (t *traffic) run(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		t.step()
	}
	b.ReportMetric(3*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

func BenchmarkPairing(b *testing.B) { newTraffic(NewPairing(Options{})).run(b) }

func BenchmarkStats(b *testing.B) {
	s := NewStats(StatsOptions{By: []Dimension{ByOp, ByTarget, ByJob}})
	newTraffic(NewPairing(Options{Sent: s.Sent, Answered: s.Answered, Done: s.Done})).run(b)
}

func BenchmarkImports(b *testing.B) {
	i := NewImports()
	newTraffic(NewPairing(Options{Sent: i.Sent, Answered: i.Answered, Done: i.Done})).run(b)
}

func TestNoAllocations(t *testing.T) {
	s := NewStats(StatsOptions{By: []Dimension{ByOp, ByTarget, ByJob}})
	i := NewImports()
	tr := newTraffic(NewPairing(Options{
		Sent:     func(r *RPC, m *dissect.Message) { s.Sent(r, m); i.Sent(r, m) },
		Answered: func(r *RPC, m *dissect.Message) { s.Answered(r, m); i.Answered(r, m) },
		Done:     func(r *RPC) { s.Done(r); i.Done(r) },
	}))
	if n := testing.AllocsPerRun(2000, tr.step); n > 0.1 {
		t.Errorf("%v allocations for three messages", n)
	}
}
