package link

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/capture/pcapfilter"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

var (
	linkA = wiretest.End{Addr: netip.MustParseAddr("10.0.0.1"), Port: 1023, Seq: 77}
	linkB = wiretest.End{Addr: netip.MustParseAddr("10.0.0.2"), Port: 988, Seq: 88}
	six1  = netip.MustParseAddr("fd00::1")
	six2  = netip.MustParseAddr("fd00::2")
	text  = []byte("what the segment carries")
)

const ackFlag = 0x10

func testSegment() []byte { return wiretest.TCP(&linkA, &linkB, ackFlag, 77, text) }
func packet4() []byte     { return wiretest.IP(linkA.Addr, linkB.Addr, protoTCP, testSegment()) }
func packet6() []byte     { return wiretest.IP(six1, six2, protoTCP, testSegment()) }

// vlan puts a tag before the Ethernet type.
func vlan(frame []byte, typ uint16) []byte {
	return wiretest.Join(frame[:12], binary.BigEndian.AppendUint16(nil, typ), []byte{0, 5}, frame[12:])
}

func sll(packet []byte, typ uint16) []byte {
	return wiretest.Join(make([]byte, 14), binary.BigEndian.AppendUint16(nil, typ), packet)
}

func sll2(packet []byte, typ uint16) []byte {
	return wiretest.Join(binary.BigEndian.AppendUint16(nil, typ), make([]byte, 18), packet)
}

func udp(dport uint16, body []byte) []byte {
	b := make([]byte, 8)
	binary.BigEndian.PutUint16(b[2:], dport)
	binary.BigEndian.PutUint16(b[4:], uint16(8+len(body)))
	return append(b, body...)
}

func vxlanFrame() []byte {
	inner := wiretest.Join([]byte{8, 0, 0, 0, 0, 0, 1, 0}, wiretest.Ethernet(packet4()))
	return wiretest.Ethernet(wiretest.IP(six1, six2, protoUDP, udp(portVXLAN, inner)))
}

func greFrame(flags, proto uint16, options int, body []byte) []byte {
	b := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, flags), proto)
	return wiretest.Ethernet(wiretest.IP(linkB.Addr, linkA.Addr, protoGRE, wiretest.Join(b, make([]byte, options), body)))
}

// options4 gives an IPv4 packet a header with options.
func options4(packet []byte) []byte {
	b := wiretest.Join(packet[:20], []byte{1, 1, 1, 0}, packet[20:])
	b[0] = 0x46
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	return b
}

// extended6 puts an extension header before the segment.
func extended6(proto byte, header []byte) []byte {
	b := wiretest.IP(six1, six2, proto, wiretest.Join(header, testSegment()))
	return b
}

func noLength(packet []byte) []byte {
	b := bytes.Clone(packet)
	if b[0]>>4 == 4 {
		b[2], b[3] = 0, 0
	} else {
		b[4], b[5] = 0, 0
	}
	return b
}

// linkFrame is a frame with testSegment.
type linkFrame struct {
	name string
	link capture.LinkType
	data []byte
}

// linkFrames returns frames of each link type and tunnel.
func linkFrames() []linkFrame {
	eth := wiretest.Ethernet(packet4())
	jumboHeader := []byte{protoTCP, 0, optJumbo, 4, 0, 0, 0, byte(8 + 20 + len(text))}
	return []linkFrame{
		{"Ethernet", capture.LinkEthernet, eth},
		{"Ethernet, IPv6", capture.LinkEthernet, wiretest.Ethernet(packet6())},
		{"802.1Q", capture.LinkEthernet, vlan(eth, etherVLAN)},
		{"QinQ", capture.LinkEthernet, vlan(vlan(eth, etherVLAN), etherQinQ)},
		{"old QinQ", capture.LinkEthernet, vlan(vlan(vlan(eth, etherVLAN), etherVLAN), etherOldQinQ)},
		{"padding", capture.LinkEthernet, wiretest.Join(eth, make([]byte, 30))},
		{"SLL", capture.LinkLinuxSLL, sll(packet4(), etherIPv4)},
		{"SLL2", capture.LinkLinuxSLL2, sll2(packet6(), etherIPv6)},
		{"raw", capture.LinkRaw, packet4()},
		{"raw, IPv6", capture.LinkRaw, packet6()},
		{"raw of BSD", capture.LinkRawBSD, packet4()},
		{"raw of OpenBSD", capture.LinkRawOpenBSD, packet6()},
		{"IPv4", capture.LinkIPv4, packet4()},
		{"IPv6", capture.LinkIPv6, packet6()},
		{"NULL", capture.LinkNull, wiretest.Join([]byte{2, 0, 0, 0}, packet4())},
		{"NULL, big-endian", capture.LinkNull, wiretest.Join([]byte{0, 0, 0, 30}, packet6())},
		{"LOOP", capture.LinkLoop, wiretest.Join([]byte{0, 0, 0, 2}, packet4())},
		{"IP options", capture.LinkRaw, options4(packet4())},
		{"no total length", capture.LinkRaw, noLength(packet4())},
		{"no payload length", capture.LinkRaw, noLength(packet6())},
		{"jumbogram", capture.LinkRaw, noLength(extended6(protoHopByHop, jumboHeader))},
		{"routing header", capture.LinkRaw, extended6(protoRouting, []byte{protoTCP, 0, 0, 0, 0, 0, 0, 0})},
		{"authentication", capture.LinkRaw, extended6(protoAuth, append([]byte{protoTCP, 1}, make([]byte, 10)...))},
		{"only fragment", capture.LinkRaw, extended6(protoFragment, []byte{protoTCP, 0, 0, 0, 0, 0, 0, 9})},
		{"IP in IP", capture.LinkRaw, wiretest.IP(linkB.Addr, linkA.Addr, protoIPv4, packet4())},
		{"IP in IP, the other number", capture.LinkRaw, wiretest.IP(six1, six2, protoIPIP, packet4())},
		{"IPv6 in IP", capture.LinkRaw, wiretest.IP(linkB.Addr, linkA.Addr, protoIPv6, packet6())},
		{"VXLAN", capture.LinkEthernet, vxlanFrame()},
		{"GRE", capture.LinkEthernet, greFrame(0, etherIPv4, 0, packet4())},
		{"GRE, all options", capture.LinkEthernet, greFrame(greChecksum|greKey|greSequence, etherIPv6, 12, packet6())},
		{"GRE, Ethernet", capture.LinkEthernet, greFrame(greKey, etherTEB, 4, eth)},
		{"ERSPAN I", capture.LinkEthernet, greFrame(0, etherERSPAN, 0, eth)},
		{"ERSPAN II", capture.LinkEthernet, greFrame(greSequence, etherERSPAN, 12, eth)},
		{"ERSPAN III", capture.LinkEthernet, greFrame(greSequence, greERSPAN3, 16, eth)},
	}
}

func TestLinks(t *testing.T) {
	all, err := pcapfilter.New("", capture.LinkEthernet)
	must.NoError(t, err)
	for _, c := range linkFrames() {
		var d Decoder
		f := capture.Frame{Number: 1, Len: len(c.data), Data: c.data, Link: c.link}
		if d.Decode(&f) != TCP {
			t.Errorf("%s: no segment", c.name)
			continue
		}
		if ok, err := all.Match(f.Link, f.Data, f.Len); !ok || err != nil {
			t.Errorf("%s: capture filters leave out link type %d: %v", c.name, c.link, err)
		}
		g := &d.Segment
		if !bytes.Equal(g.Data, text) || g.Size != len(text) || g.Flow.SrcPort != 1023 || g.Flow.DstPort != 988 || g.Seq != 77 || g.Ack != 88 {
			t.Errorf("%s: %q of %d, %d>%d", c.name, g.Data, g.Size, g.Flow.SrcPort, g.Flow.DstPort)
		}
		for n := range c.data {
			f.Data = c.data[:n]
			if d.Decode(&f) != None && (g.Size != len(text) || !bytes.HasPrefix(text, g.Data)) {
				t.Errorf("%s: cut at %d: %q of %d", c.name, n, g.Data, g.Size)
			}
		}
	}
}

// TestLinkAllocations: no header is allocated, with options or without.
func TestLinkAllocations(t *testing.T) {
	for _, c := range append(linkFrames(),
		linkFrame{"TCP options", capture.LinkRaw, tcpOptions(packet4(), []byte{1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 1, 1})},
		linkFrame{"cut", capture.LinkRaw, packet4()[:35]}) {
		var d Decoder
		f := capture.Frame{Number: 1, Len: len(c.data) + 20, Data: c.data, Link: c.link}
		n := testing.AllocsPerRun(100, func() {
			if d.Decode(&f) != TCP {
				t.Fatalf("%s: no segment", c.name)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations a frame", c.name, n)
		}
	}
}

// tcpOptions puts options behind the TCP header of an IPv4 packet.
func tcpOptions(packet, options []byte) []byte {
	b := wiretest.Join(packet[:40], options, packet[40:])
	b[32] = byte(5+len(options)/4) << 4
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	return b
}

// TestInvalidOptions: a segment whose options are invalid is a segment.
func TestInvalidOptions(t *testing.T) {
	for name, b := range map[string][]byte{
		"TCP, too long":  tcpOptions(packet4(), []byte{8, 40, 0, 0}),
		"TCP, too short": tcpOptions(packet4(), []byte{8, 0, 0, 0}),
		"IPv4, too long": options4(packet4()),
	} {
		if name[0] == 'I' {
			b[20], b[21] = 7, 200
		}
		var d Decoder
		if d.Decode(&capture.Frame{Len: len(b), Data: b, Link: capture.LinkRaw}) != TCP || !bytes.Equal(d.Segment.Data, text) || d.Segment.Seq != 77 {
			t.Errorf("%s: %+v", name, d.Segment)
		}
	}
}

// TestCookedAddress: an address that is longer than its header is no reason to
// give up a frame.
func TestCookedAddress(t *testing.T) {
	for _, length := range []uint16{9, 1 << 15, 1<<16 - 1} {
		b := sll(packet4(), etherIPv4)
		binary.BigEndian.PutUint16(b[4:], length)
		var d Decoder
		if d.Decode(&capture.Frame{Len: len(b), Data: b, Link: capture.LinkLinuxSLL}) != TCP || !bytes.Equal(d.Segment.Data, text) {
			t.Errorf("address of %d bytes: %+v", length, d.Segment)
		}
	}
}

// TestNotTCP has frames without a segment.
func TestNotTCP(t *testing.T) {
	for _, data := range [][]byte{
		nil,
		make([]byte, 60),
		wiretest.Ethernet(wiretest.IP(linkA.Addr, linkB.Addr, protoUDP, udp(53, testSegment()))),
		greFrame(1, etherIPv4, 0, packet4()),
		bytes.Repeat(binary.BigEndian.AppendUint16(nil, etherVLAN), 700),
	} {
		var d Decoder
		if d.Decode(&capture.Frame{Len: len(data), Data: data, Link: capture.LinkEthernet}) != None {
			t.Errorf("%x: a segment", data)
		}
	}
}

// fragments4 cuts the body of an IPv4 packet into fragments of n bytes.
func fragments4(packet []byte, n int) [][]byte {
	var all [][]byte
	body := packet[20:]
	for at := 0; at < len(body); at += n {
		part := body[at:min(at+n, len(body))]
		b := wiretest.IP(linkA.Addr, linkB.Addr, protoTCP, part)
		flags := uint16(at / 8)
		if at+n < len(body) {
			flags |= 0x2000
		}
		binary.BigEndian.PutUint16(b[4:], 7)
		binary.BigEndian.PutUint16(b[6:], flags)
		all = append(all, b)
	}
	return all
}

func fragments6(n int) [][]byte {
	var all [][]byte
	body := testSegment()
	for at := 0; at < len(body); at += n {
		head := []byte{protoTCP, 0, 0, 0, 0, 0, 0, 7}
		flags := uint16(at)
		if at+n < len(body) {
			flags |= 1
		}
		binary.BigEndian.PutUint16(head[2:], flags)
		all = append(all, wiretest.IP(six1, six2, protoFragment, wiretest.Join(head, body[at:min(at+n, len(body))])))
	}
	return all
}

func TestFragments(t *testing.T) {
	for _, parts := range [][][]byte{fragments4(packet4(), 8), fragments4(packet4(), 24), fragments6(16)} {
		for turn := range parts {
			var d Decoder
			whole := 0
			for i := range parts {
				p := parts[(i+turn)%len(parts)]
				f := capture.Frame{Number: int64(i + 1), Len: len(p), Data: p, Link: capture.LinkRaw}
				if d.Decode(&f) != None {
					whole++
					if !bytes.Equal(d.Segment.Data, text) || d.Segment.Size != len(text) || d.Segment.Number != int64(len(parts)) {
						t.Errorf("%d fragments: %q of %d in frame %d", len(parts), d.Segment.Data, d.Segment.Size, d.Segment.Number)
					}
				}
				if i < len(parts)-1 && d.Decode(&f) != None {
					t.Errorf("%d fragments: whole by a duplicate", len(parts))
				}
			}
			if whole != 1 || d.frags.bytes != 0 || len(d.frags.packets) != 0 {
				t.Errorf("%d fragments from %d: %d whole, %d bytes left", len(parts), turn, whole, d.frags.bytes)
			}
		}
	}
}

func TestFragmentBounds(t *testing.T) {
	var d Decoder
	p := fragments4(packet4(), 24)[0]
	for id := range 100000 {
		binary.BigEndian.PutUint16(p[4:], uint16(id))
		d.Decode(&capture.Frame{Len: len(p), Data: p, Link: capture.LinkRaw, Source: id >> 16})
		if len(d.frags.packets) > maxFragmentedPackets || d.frags.bytes > maxFragmentBytes {
			t.Fatalf("%d packets, %d bytes", len(d.frags.packets), d.frags.bytes)
		}
	}
	late := fragments4(packet4(), 24)
	for i, part := range late {
		f := capture.Frame{Len: len(part), Data: part, Link: capture.LinkRaw, Time: int64(i) * (maxFragmentAge + 1), Source: 9}
		if d.Decode(&f) != None {
			t.Error("fragments of different packets put together")
		}
	}
}

// TestFragmentsOverlap: fragments that overlap, of packets whose last fragment
// never comes, keep to the bound too, and leave room for others.
func TestFragmentsOverlap(t *testing.T) {
	var d Decoder
	body := make([]byte, 60000)
	add := func(id, place int, body []byte) {
		p := wiretest.IP(linkA.Addr, linkB.Addr, protoTCP, body)
		binary.BigEndian.PutUint16(p[4:], uint16(id))
		binary.BigEndian.PutUint16(p[6:], 0x2000|uint16(place))
		d.Decode(&capture.Frame{Len: len(p), Data: p, Link: capture.LinkRaw})
	}
	for id := range 4 {
		add(id, 0, body[:8])
	}
	for place := 1; place < 100; place++ {
		for id := range 4 {
			add(id, place, body)
			if held := d.frags.held(); held > maxFragmentBytes {
				t.Fatalf("%d bytes held", held)
			}
		}
	}
	for i, part := range fragments4(packet4(), 24) {
		f := capture.Frame{Number: int64(i + 1), Len: len(part), Data: part, Link: capture.LinkRaw, Source: 1}
		if whole := d.Decode(&f) == TCP; i == 1 && !whole {
			t.Error("no room for a packet of two fragments")
		}
	}
}

// held counts the bytes that are kept.
func (fs *fragments) held() (n int) {
	for _, p := range fs.packets {
		for _, f := range p.parts {
			n += len(f.data)
		}
	}
	return n
}
