package pcapfilter

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/lshark/lshark/internal/must"
)

// testPacket describes a frame.
type testPacket struct {
	link     LinkType
	tags     []uint16
	src, dst string
	proto    layers.IPProtocol
	sport    uint16
	dport    uint16
	fragment uint16 // offset in 8 bytes
	seq      uint32
	payload  int // bytes
	syn      bool
}

// testFrame is a frame that was captured whole.
type testFrame struct {
	link LinkType
	data []byte
}

// build serializes a packet behind the header of its link type.
func (p testPacket) build(t testing.TB) testFrame {
	t.Helper()
	src, dst := net.ParseIP(p.src), net.ParseIP(p.dst)
	var list []gopacket.SerializableLayer
	etherType := layers.EthernetTypeIPv4
	if src.To4() != nil {
		list = append(list, &layers.IPv4{Version: 4, IHL: 5, TTL: 64, SrcIP: src, DstIP: dst, Protocol: p.proto, FragOffset: p.fragment})
	} else {
		etherType = layers.EthernetTypeIPv6
		list = append(list, &layers.IPv6{Version: 6, HopLimit: 64, SrcIP: src, DstIP: dst, NextHeader: p.proto})
	}
	switch p.proto {
	case layers.IPProtocolTCP:
		list = append(list, &layers.TCP{SrcPort: layers.TCPPort(p.sport), DstPort: layers.TCPPort(p.dport), Seq: p.seq, SYN: p.syn, ACK: true})
	case layers.IPProtocolUDP:
		list = append(list, &layers.UDP{SrcPort: layers.UDPPort(p.sport), DstPort: layers.UDPPort(p.dport)})
	}
	list = append(list, gopacket.Payload(make([]byte, p.payload)))
	buf := gopacket.NewSerializeBuffer()
	must.NoError(t, gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true}, list...))
	data := append(linkHeader(p.link, p.tags, etherType), buf.Bytes()...)
	return testFrame{p.link, data}
}

// linkHeader is what stands before the packet.
func linkHeader(link LinkType, tags []uint16, etherType layers.EthernetType) []byte {
	first := uint16(etherType)
	var behind []byte
	for i := len(tags) - 1; i >= 0; i-- {
		behind = append(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, tags[i]), first), behind...)
		first = 0x8100
	}
	six := etherType == layers.EthernetTypeIPv6
	var b []byte
	switch link {
	case LinkEthernet:
		b = binary.BigEndian.AppendUint16(make([]byte, 12), first)
	case LinkLinuxSLL:
		b = binary.BigEndian.AppendUint16(make([]byte, 14), first)
	case LinkLinuxSLL2:
		b = append(binary.BigEndian.AppendUint16(nil, first), make([]byte, 18)...)
	case LinkNull:
		b = []byte{2, 0, 0, 0}
		if six {
			b[0] = 10
		}
	case LinkLoop:
		b = []byte{0, 0, 0, 2}
		if six {
			b[3] = 24
		}
	}
	return append(b, behind...)
}
