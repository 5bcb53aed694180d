package track

import (
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

func TestMain(m *testing.M) { wiretest.Main(m) }

const fewRPCs = 70_000 // until there are as many imports and handles as may be

// Half of the imports are forgotten at once: what is held is compared as long after that.
var manyRPCs = flag.Int("rpcs", fewRPCs+3*maxImports/2, "RPCs of TestMemoryIsFlat")

// TestMemoryIsFlat plays months of traffic: each RPC of a connection of its
// own, some unanswered, some connects. What is held after a while is what is
// held later.
func TestMemoryIsFlat(t *testing.T) {
	i := NewImports()
	s := NewStats(StatsOptions{By: []Dimension{ByOp, ByTarget}, Step: 600e9, Patience: 60e9, Flush: func(*Interval) {}})
	w := &wire{t: t, now: 1e18, rpcs: NewPairing(Options{
		Sent:     func(r *RPC, m *dissect.Message) { i.Sent(r, m); s.Sent(r, m) },
		Answered: func(r *RPC, m *dissect.Message) { i.Answered(r, m); s.Answered(r, m) },
		Done:     func(r *RPC) { i.Done(r); s.Done(r) },
	})}
	n := uint64(0)
	play := func(rpcs int) {
		for range rpcs {
			n++
			w.pass(300 * ms)
			handle := func(m *dissect.Message) { m.RPC.Handle = n }
			if n%50 == 0 {
				w.connect(n)
				continue
			}
			w.request(n<<6, opcodes.OBD_PING, handle)
			if n%10 != 0 {
				w.reply(n<<6, opcodes.OBD_PING, handle)
			}
		}
	}
	wiretest.Flat(t, play, fewRPCs, *manyRPCs-fewRPCs)
	if len(i.list) > maxImports || fifo.Len(w.rpcs.connections.handles) > maxHandles || len(w.rpcs.connections.names) > maxHandles {
		t.Errorf("%d imports, %d handles, %d names", len(i.list), fifo.Len(w.rpcs.connections.handles), len(w.rpcs.connections.names))
	}
	for _, c := range fifo.All(w.rpcs.connections.handles) {
		assert.That(t, c.imp == nil || c.imp.Last.Time >= w.now-int64(1e18), "a handle leads to a connection that was forgotten")
	}
	runtime.KeepAlive(s)
}

// connect sends a connect of a client of its own.
func (w *wire) connect(n uint64) {
	uuid := make([]byte, 40)
	binary.LittleEndian.PutUint64(uuid, n|1<<63)
	bufs := [][]byte{make([]byte, opcodes.PtlrpcBody.Size), []byte("lustre-OST0000_UUID"), uuid, make([]byte, 8), make([]byte, 72)}
	w.request(n<<6, opcodes.OST_CONNECT, func(m *dissect.Message) { m.Msg = &schema.Msg{Bufs: bufs} })
	w.reply(n<<6, opcodes.OST_CONNECT, func(m *dissect.Message) { m.RPC.Handle = n })
}

// TestLogsAreBounded lets connections come and go for ever.
func TestLogsAreBounded(t *testing.T) {
	const rounds = 300
	total := 0
	var list []*Import
	for range 2000 {
		list = append(list, &Import{Connection: &Connection{}, ImportLog: ImportLog{total: &total}})
	}
	for round := range rounds {
		for _, i := range list {
			p := Point{Frame: int64(round), Time: int64(round)}
			i.add(Event{Point: p, Kind: EventConnect})
			i.setState(ImportState(1+round%5), p)
		}
	}
	sum := 0
	for _, i := range list {
		if sum += len(i.History) + len(i.Events); i.Dropped+len(i.History)+len(i.Events) != 2*rounds {
			t.Fatalf("%d dropped, %d and %d kept", i.Dropped, len(i.History), len(i.Events))
		}
		must.Equal(t, i.Events[len(i.Events)-1].Frame, rounds-1, "the last event is of frame")
	}
	assert.That(t, sum == total && sum <= maxLogTotal+len(list)*fewLog, "%d entries, counted as %d", sum, total)
}

// TestSameXIDIsBounded has thousands of clients with the same xid.
func TestSameXIDIsBounded(t *testing.T) {
	done := 0
	w := &wire{t: t, now: 1e18, rpcs: NewPairing(Options{Done: func(r *RPC) { done++ }})}
	const clients = 5000
	for n := range clients {
		from := nid(0)
		from.Addr[0], from.Addr[1] = byte(n), byte(n>>8)
		w.send(lnet.Request, from, server, rpc(64, opcodes.OST_WRITE))
	}
	same := 0
	for e := w.rpcs.byXID.First(64); e != nil; e = e.Next() {
		same++
	}
	if same != fifo.MaxSameKey || w.rpcs.queue(waiting).Len()+w.rpcs.queue(lingering).Len()+w.rpcs.queue(ended).Len() != fifo.MaxSameKey {
		t.Errorf("%d with one xid, %d open, %d done, %d spent", same, w.rpcs.queue(waiting).Len(), w.rpcs.queue(lingering).Len(), w.rpcs.queue(ended).Len())
	}
	w.rpcs.Close()
	assert.Equal(t, done, clients, "RPCs handed out")
}

// TestNamesAreBounded has a name of a megabyte.
func TestNamesAreBounded(t *testing.T) {
	variant := &schema.Variant{Subject: func(*schema.Msg) (fid, name []byte) { return nil, []byte(strings.Repeat("x", 1<<20)) }}
	w := newWire(t, Options{})
	w.request(64, opcodes.MDS_REINT, func(m *dissect.Message) { m.RPC.Variant, m.Msg = variant, &schema.Msg{} })
	if r := w.one(); len(r.name) != maxName || cap(r.name) > 2*maxName {
		t.Errorf("%d bytes of %d", len(r.name), cap(r.name))
	}
}

// TestMutatedSamples changes bytes behind the headers of link and IP in the samples. What
// a message claims must not lead to a panic.
func TestMutatedSamples(t *testing.T) {
	const headers, most = 34, 250 // bytes that stay, and up to where others change
	for _, path := range wiretest.Samples(t) {
		seeds := uint64(10)
		if strings.Contains(path, "rdma") {
			seeds = 80
		}
		frames := wiretest.ReadSample(t, path)
		for seed := range wiretest.Rounds(seeds) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			mutated := frames[:0:0]
			for _, f := range frames {
				f.Data = append([]byte(nil), f.Data...)
				if n := min(len(f.Data), most); n > headers && rnd.IntN(4) == 0 {
					for range 1 + rnd.IntN(5) {
						f.Data[headers+rnd.IntN(n-headers)] = byte(rnd.Uint32())
					}
				}
				mutated = append(mutated, f)
			}
			done := 0
			imports := NewImports()
			pairing := NewPairing(Options{Sent: imports.Sent, Answered: imports.Answered, Done: func(r *RPC) { done++; imports.Done(r) }})
			wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) { pairing.Message(m) }, TransferUpdate: pairing.TransferUpdate, Lost: pairing.Lost}), mutated)
			pairing.Close()
			imports.Close()
			assert.That(t, done != 0, "%s: no RPC left", path)
		}
	}
}

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
	for range 4 * 2 * maxHeld { // until all pools are filled
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
	n := testing.AllocsPerRun(2000, tr.step)
	assert.That(t, n <= 0.1, "%v allocations for three messages", n)
}
