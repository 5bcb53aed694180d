package paths

import (
	"net/netip"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

var (
	client = netip.MustParseAddrPort("192.0.2.3:1021")
	server = netip.MustParseAddrPort("192.0.2.2:988")
)

// send gives n messages of a second to Paths, each with a measurement.
func send(p *Paths, from, to netip.AddrPort, second int64, n, size int, ns int64) {
	for i := range n {
		m := &dissect.Message{}
		m.Src, m.Dst, m.Kind, m.LNetOff = from, to, lnet.Request, 0
		m.LNet.Src, m.LNet.Dst = nid(from), nid(to)
		m.RPC.Opcode, m.RPC.HasOpcode = opcodes.OST_READ, true
		m.Time, m.Frame, m.Size = 1e18+second*1e9+int64(i)*1e6, second*1000+int64(i)+1, size
		m.RoundTrips = lnet.RoundTrips{N: 1, Least: ns + int64(i)}
		p.Message(m)
	}
}

func nid(a netip.AddrPort) (n lnet.NID) {
	n.Len = uint8(copy(n.Addr[:], a.Addr().AsSlice()))
	return n
}

func TestPath(t *testing.T) {
	p := New()
	send(p, client, server, 0, 10, 100, 5e5)
	send(p, client, server, 0, 1, 100, 5e5) // a message that comes late
	path := p.Get(0, client.Addr(), server.Addr())
	if path == nil || path.Messages != 11 || path.Requests != 11 || path.Bytes != 1100 || path.FromNID != nid(client) || path.ToNID != nid(server) ||
		path.First.Frame != 1 || path.Last.Frame != 10 {
		t.Fatalf("%+v", path)
	}
	back := p.Get(0, server.Addr(), client.Addr())
	assert.That(t, back != nil && back.Messages == 0 && back.FromNID.Len == 0, "back: %+v", back)
}

func TestRoundTrips(t *testing.T) {
	p := New()
	for second := range int64(20) {
		switch {
		case second >= 5 && second < 9:
			send(p, client, server, second, 10, 10000, 50e6)
		case second == 12:
			send(p, client, server, second, MinSamples-1, 10000, 50e6) // too few
		case second == 15:
			send(p, client, server, second, 10, 100, 60e6) // no bulk data
		default:
			send(p, client, server, second, 10, 10000, 5e5+second)
		}
	}
	path := p.Get(0, client.Addr(), server.Addr())
	must.Equal(t, len(path.Slow), 2, path.Slow)
	s := path.Slow[0]
	assert.That(t, s.Seconds == 4 && s.Least == 50e6 && s.Bulk && s.From.Frame == 5001 && s.To.Frame == 8010, "first: %+v", s)
	if s := path.Slow[1]; s.Seconds != 1 || s.Least != 60e6 || s.Bulk {
		t.Errorf("second: %+v", s)
	}
	ns, ok := path.Typical()
	assert.That(t, ok && ns == 5e5+10, "typical %d, %v", ns, ok)
}

// TestRoundTripsAreBounded checks that a long capture needs no more memory, and that
// the median stays.
func TestRoundTripsAreBounded(t *testing.T) {
	p := New()
	for second := range int64(5000) {
		send(p, client, server, second, MinSamples, 100, 5e5+second%100)
		if second%10 == 0 {
			send(p, client, server, 3*second+1e5, MinSamples, 100, 30e6)
		}
	}
	path := p.Get(0, client.Addr(), server.Addr())
	assert.That(t, len(path.Slow) <= maxSpans && len(path.typical) <= maxTypical, "%d and %d seconds", len(path.Slow), len(path.typical))
	ns, _ := path.Typical()
	assert.That(t, ns >= 5e5+30 && ns <= 5e5+70, "typical %d", ns)
}

// TestSamplesOfPaths compares the sums over all paths with the counts of the dissector.
func TestSamplesOfPaths(t *testing.T) {
	for _, sample := range []string{"../../../pcaps/recovery.pcap.zst", "../../../pcaps/rdma_data.pcap.zst"} {
		p := New()
		p.KeepTimes()
		d := dissect.New(dissect.Options{Handle: p.Message, TCPEvent: p.TCPEvent, IBEvent: p.IBEvent})
		wiretest.Play(d, wiretest.ReadSample(t, sample))
		var messages, times int64
		var tcp lnet.TCPAnomalies
		for path := range p.All {
			messages += path.Messages
			times += path.Times.N
			tcp.Add(&path.TCP)
			_, ok := path.ResentPercent()
			assert.Equal(t, ok, d.Stats().TCP.Segments > 0, sample, "is over TCP")
		}
		assert.Equal(t, messages, d.Stats().Messages, sample, "messages")
		assert.Equal(t, tcp, d.Stats().TCP.Marks, sample, "TCP")
		assert.That(t, times > 0, "%s: no round trips", sample)
	}
}

// TestPathWithoutMessages: a host that refuses connections is on a path, of which no message was captured.
func TestPathWithoutMessages(t *testing.T) {
	p := New()
	p.TCPEvent(&lnet.TCPEvent{Src: client, Dst: server, Bytes: 100, TCPAnomalies: lnet.TCPAnomalies{Retransmissions: 1}})
	p.TCPEvent(&lnet.TCPEvent{Src: server, Dst: client, RST: true})
	p.IBEvent(&lnet.IBEvent{Src: server, Dst: client, Again: true})
	p.IBEvent(&lnet.IBEvent{Src: server, Dst: client}) // refuses a packet
	assert.That(t, p.Get(0, client.Addr(), server.Addr()) == nil, "messages of the path")
	var list []*Path
	for path := range p.All {
		list = append(list, path)
	}
	must.Equal(t, len(list), 2, "paths:")
	percent, ok := list[0].ResentPercent()
	assert.That(t, ok && percent == 100 && list[0].TCP.Retransmissions == 1 && list[0].Resets == 0, "there: %+v", list[0])
	assert.That(t, list[1].Resets == 1 && list[1].PacketsLost == 1 && list[1].ResentBytes == 0, "back: %+v", list[1])
	send(p, client, server, 0, 1, 300, 5e5)
	percent, _ = list[0].ResentPercent()
	assert.That(t, percent == 25 && p.Get(0, server.Addr(), client.Addr()) == list[1], "after a message: %v %%", percent)
}

func TestPathsDoNotAllocate(t *testing.T) {
	p := New()
	m := &dissect.Message{}
	m.Src, m.Dst, m.Kind = client, server, lnet.Request
	m.RoundTrips = lnet.RoundTrips{N: 1, Least: 5e5}
	p.Message(m)
	wiretest.NoAllocations(t, 1000, func() { m.Time += 1e8; p.Message(m) })
}
