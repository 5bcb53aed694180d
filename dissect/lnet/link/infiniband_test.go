package link

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/capture/pcapfilter"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// writeData is the payload of testWrite, with padding behind it.
var writeData = []byte("what the RDMA write carries")

func testWrite() []byte {
	return wiretest.InfiniBand(wiretest.Join(wiretest.BTH(wiretest.RCWriteOnly, 0x22, 77, true), wiretest.RETH(0x1122334455667788, 0x99, 27)), writeData)
}

func roceEnds() (from, to *wiretest.QueuePair) {
	c := wiretest.NewQueuePairs()
	return &c.A, &c.B
}

// roceFrames returns frames with testWrite.
func roceFrames() []linkFrame {
	a, b := roceEnds()
	eth4 := wiretest.RoCEv2(a, b, testWrite())
	a.Addr, b.Addr = six1, six2
	eth6 := wiretest.RoCEv2(a, b, testWrite())
	packet4, packet6 := eth4[14:], eth6[14:]
	vxlan := wiretest.Join([]byte{8, 0, 0, 0, 0, 0, 1, 0}, eth4)
	grh := wiretest.GRH(six1.As16(), six2.As16(), len(testWrite()))
	roce1 := wiretest.Join(make([]byte, 12), []byte{0x89, 0x15}, grh, testWrite())
	local := wiretest.Join(wiretest.LRH(7, 9, false, len(testWrite())), testWrite())
	global := wiretest.Join(wiretest.LRH(7, 9, true, len(grh)+len(testWrite())), grh, testWrite())
	vcrc := []byte{0xdd, 0xdd}
	return []linkFrame{
		{"Ethernet", capture.LinkEthernet, eth4},
		{"Ethernet, IPv6", capture.LinkEthernet, eth6},
		{"padding", capture.LinkEthernet, wiretest.Join(eth4, make([]byte, 30))},
		{"802.1Q", capture.LinkEthernet, vlan(eth4, etherVLAN)},
		{"QinQ", capture.LinkEthernet, vlan(vlan(eth6, etherVLAN), etherQinQ)},
		{"SLL", capture.LinkLinuxSLL, sll(packet4, etherIPv4)},
		{"SLL2", capture.LinkLinuxSLL2, sll2(packet6, etherIPv6)},
		{"raw", capture.LinkRaw, packet4},
		{"no total length", capture.LinkRaw, noLength(packet4)},
		{"VXLAN", capture.LinkEthernet, wiretest.Ethernet(wiretest.IP(six1, six2, protoUDP, udp(portVXLAN, vxlan)))},
		{"ERSPAN III", capture.LinkEthernet, greFrame(greSequence, greERSPAN3, 16, eth6)},
		{"RoCEv1", capture.LinkEthernet, roce1},
		{"RoCEv1, padding", capture.LinkEthernet, wiretest.Join(roce1, make([]byte, 30))},
		{"RoCEv1, 802.1Q", capture.LinkEthernet, vlan(roce1, etherVLAN)},
		{"RoCEv1, SLL2", capture.LinkLinuxSLL2, sll2(roce1[14:], etherRoCE)},
		{"InfiniBand", capture.LinkInfiniBand, local},
		{"InfiniBand, VCRC", capture.LinkInfiniBand, wiretest.Join(local, vcrc)},
		{"InfiniBand, GRH", capture.LinkInfiniBand, global},
		{"InfiniBand, mirrored", capture.LinkInfiniBand, wiretest.Join([]byte{0, 0, 0, 1, 0, byte((16+len(global))/4 + 1), 0, 2, 0, 0, 0x11, 0x23, 0, 0, 0, 0}, global, vcrc, vcrc)},
		{"InfiniBand, IPv6", capture.LinkInfiniBand, wiretest.Join([]byte{0, 1, 0, 1, 0, byte((8 + len(packet6)) / 4), 0, 2}, packet6)},
		{"InfiniBand, IPv4", capture.LinkInfiniBand, wiretest.Join([]byte{0, 0, 0, 1, 0, byte((12 + len(packet4)) / 4), 0, 2, 0, 0, 8, 0}, packet4)},
		{"ERF", capture.LinkERF, wiretest.ERF(wiretest.ERFInfiniBand, 0, local)},
		{"ERF, VCRC and padding", capture.LinkERF, wiretest.Join(wiretest.ERF(wiretest.ERFInfiniBand, 3, wiretest.Join(global, vcrc)), make([]byte, 7))},
		{"ERF, Ethernet", capture.LinkERF, wiretest.ERF(wiretest.ERFEthernet, 0, eth4)},
		{"ERF, Ethernet and an extension", capture.LinkERF, wiretest.ERF(wiretest.ERFEthernet, 1, eth6)},
		{"ERF, IPv4", capture.LinkERF, wiretest.ERF(erfIPv4, 0, packet4)},
	}
}

func TestInfiniBand(t *testing.T) {
	all, err := pcapfilter.New("", capture.LinkEthernet)
	must.NoError(t, err)
	for _, c := range roceFrames() {
		var d Decoder
		f := capture.Frame{Number: 3, Time: 4, Source: 5, Len: len(c.data), Data: c.data, Link: c.link}
		if d.Decode(&f) != InfiniBand {
			t.Errorf("%s: no packet", c.name)
			continue
		}
		if ok, err := all.Match(f.Link, f.Data, f.Len); !ok || err != nil {
			t.Errorf("%s: capture filters leave out link type %d: %v", c.name, c.link, err)
		}
		g := &d.Packet
		if g.Number != 3 || g.Time != 4 || g.Source != 5 || g.BTH.Opcode.Operation() != ib.Write || g.BTH.DestQP != 0x22 || g.BTH.PSN != 77 ||
			!g.Extensions.Has(ib.HasRETH) || g.RETH.VA != 0x1122334455667788 || g.RETH.RKey != 0x99 || g.RETH.Length != 27 ||
			!bytes.Equal(g.Headers, testWrite()[:28]) || !bytes.Equal(g.Data, writeData) || g.Size != len(writeData) {
			t.Errorf("%s: %+v", c.name, g)
		}
		for n := range c.data {
			f.Data = c.data[:n]
			if d.Decode(&f) == None {
				continue
			}
			whole := g.Extensions.Has(ib.HasRETH)
			if g.Size != len(writeData) || !bytes.HasPrefix(writeData, g.Data) || g.BTH.PSN != 77 || whole != (len(g.Headers) == 28) || !whole && len(g.Data) > 0 {
				t.Errorf("%s: cut at %d: %+v", c.name, n, g)
			}
		}
		f.Data = c.data
		if n := testing.AllocsPerRun(100, func() { d.Decode(&f) }); n != 0 {
			t.Errorf("%s: %v allocations a frame", c.name, n)
		}
	}
}

// TestAddresses: the addresses are those of the network layer that there is.
func TestAddresses(t *testing.T) {
	lid := func(n byte) (a [16]byte) { a[15] = n; return a }
	four := func(a netip.Addr) [16]byte { return a.As16() }
	from, to := roceEnds()
	for _, c := range roceFrames() {
		src, dst := six1.As16(), six2.As16()
		port, local := uint16(0), false
		switch c.name {
		case "InfiniBand", "InfiniBand, VCRC", "ERF":
			src, dst, local = lid(7), lid(9), true
		case "RoCEv1", "RoCEv1, padding", "RoCEv1, 802.1Q", "RoCEv1, SLL2", "InfiniBand, GRH", "InfiniBand, mirrored", "ERF, VCRC and padding":
		case "Ethernet, IPv6", "QinQ", "SLL2", "ERSPAN III", "InfiniBand, IPv6", "ERF, Ethernet and an extension":
			port = from.Port
		default:
			src, dst, port = four(from.Addr), four(to.Addr), from.Port
		}
		var d Decoder
		d.Decode(&capture.Frame{Len: len(c.data), Data: c.data, Link: c.link})
		if g := &d.Packet; g.Src != src || g.Dst != dst || g.SrcPort != port || g.Local != local {
			t.Errorf("%s: %v %d, %v, local %v", c.name, netip.AddrFrom16(g.Src), g.SrcPort, netip.AddrFrom16(g.Dst), g.Local)
		}
	}
}

// TestQueuePairs decodes a connection: what was sent is what the packets have.
func TestQueuePairs(t *testing.T) {
	message := bytes.Repeat([]byte("message "), 400)
	data := bytes.Repeat([]byte("data "), 1001)
	c := wiretest.NewQueuePairs().Connect(nil, nil).Send(false, message).Ack(true).Write(true, 0x1000, 7, data).Send(true, text).Ack(false)
	var d Decoder
	got := map[string][]byte{}
	psn := map[uint32]uint32{}
	for i := range c.Frames {
		if d.Decode(&c.Frames[i]) != InfiniBand {
			t.Fatalf("frame %d: no packet", i+1)
		}
		g := &d.Packet
		key := fmt.Sprintf("%x %d", g.BTH.DestQP, g.BTH.Opcode.Operation())
		got[key] = append(got[key], g.Data...)
		if g.BTH.Opcode.Service() != ib.RC {
			if g.BTH.DestQP != ib.QP1 || g.Size != 256 {
				t.Errorf("frame %d: %+v", i+1, g)
			}
			continue
		}
		operation := g.BTH.Opcode.Operation()
		isResponse := operation == ib.ReadResponse || operation == ib.Acknowledge
		if next, seen := psn[g.BTH.DestQP]; seen && !isResponse && g.BTH.PSN != next {
			t.Errorf("frame %d: PSN %d, want %d", i+1, g.BTH.PSN, next)
		}
		if isResponse {
			if !g.Syndrome.ACK() {
				t.Errorf("frame %d: syndrome %#x", i+1, g.Syndrome)
			}
			continue
		}
		psn[g.BTH.DestQP] = g.BTH.PSN + 1
	}
	for key, want := range map[string][]byte{"22 1": message, "11 2": data, "11 1": text} {
		if !bytes.Equal(got[key], want) {
			t.Errorf("%s: %d bytes, want %d", key, len(got[key]), len(want))
		}
	}
}

// TestNotInfiniBand has frames on the port of RoCE without a packet.
func TestNotInfiniBand(t *testing.T) {
	a, b := roceEnds()
	long := wiretest.InfiniBand(wiretest.BTH(wiretest.RCSendOnly, 1, 1, false), make([]byte, maxPayload+4))
	version := testWrite()
	version[1] |= 1
	for name, packet := range map[string][]byte{
		"nothing":        nil,
		"no ICRC":        testWrite()[:28],
		"too long":       long,
		"next version":   version,
		"shorter header": testWrite()[:11],
	} {
		var d Decoder
		data := wiretest.RoCEv2(a, b, packet)
		if kind := d.Decode(&capture.Frame{Len: len(data), Data: data, Link: capture.LinkEthernet}); kind != None {
			t.Errorf("%s: %+v", name, d.Packet)
		}
	}
	lrh := wiretest.Join(wiretest.LRH(7, 9, false, len(testWrite())), testWrite())
	next := bytes.Clone(lrh)
	next[0] |= 1
	short := bytes.Clone(lrh)
	short[5] = 1
	grh := wiretest.Join(wiretest.LRH(7, 9, true, 40+len(testWrite())), wiretest.GRH(six1.As16(), six2.As16(), len(testWrite())), testWrite())
	grh[8+6] = protoTCP
	mirrored := bytes.Repeat([]byte{0, 0, 0, 1, 7, 0xff, 0, 2, 0, 0, 0x11, 0x23, 0, 0, 0, 0}, 100)
	for name, data := range map[string][]byte{
		"next version of the link": next,
		"length below the header":  short,
		"GRH before TCP":           grh,
		"mirrored without end":     mirrored,
		"raw header without end":   mirrored[:10],
	} {
		var d Decoder
		if kind := d.Decode(&capture.Frame{Len: len(data), Data: data, Link: capture.LinkInfiniBand}); kind != None {
			t.Errorf("%s: %+v", name, d.Packet)
		}
	}
	for name, data := range map[string][]byte{
		"flow control of a link":    wiretest.ERF(25, 0, lrh),
		"extensions without end":    wiretest.ERF(21, 3, lrh)[:33],
		"record within its headers": wiretest.ERF(21, 0, lrh)[:16],
	} {
		var d Decoder
		if kind := d.Decode(&capture.Frame{Len: len(data), Data: data, Link: capture.LinkERF}); kind != None {
			t.Errorf("%s: %+v", name, d.Packet)
		}
	}
}
