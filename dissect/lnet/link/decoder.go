// Package link finds the packets of a transport in the frames of a capture: TCP
// segments and InfiniBand packets, behind any link layer, VLAN tags, tunnels and
// IP fragments.
//
//	var d link.Decoder
//	for r.Next(&frame) == nil {
//		switch d.Decode(&frame) {
//		case link.TCP:
//			fmt.Println(d.Segment.Flow, d.Segment.Seq, d.Segment.Size)
//		case link.InfiniBand:
//			fmt.Println(d.Packet.Number)
//		}
//	}
//
// Decode finds one packet in a frame, and says of which kind it is: then Segment or Packet is
// set until the next call. Their Data are the bytes that were captured, Size is the length on
// the wire. decoder.go has the link layers, ip.go IP and tunnels, tcp_options.go the options of
// TCP, infiniband.go packets over InfiniBand and RoCE, and erf.go frames of capture cards.
// Headers lists the headers in front of the packet, for programs that rewrite frames (headers.go).
package link

import (
	"encoding/binary"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/lshark/lshark/dissect/capture"
)

// Ethernet types.
const (
	etherIPv4    = uint16(layers.EthernetTypeIPv4)
	etherARP     = uint16(layers.EthernetTypeARP)
	etherTEB     = uint16(layers.EthernetTypeTransparentEthernetBridging) // an Ethernet frame
	etherVLAN    = uint16(layers.EthernetTypeDot1Q)
	etherIPv6    = uint16(layers.EthernetTypeIPv6)
	etherQinQ    = uint16(layers.EthernetTypeQinQ)
	etherERSPAN  = uint16(layers.EthernetTypeERSPAN) // type II, or type I without a sequence number
	etherRoCE    = 0x8915                            // the first version of RDMA over Ethernet
	etherOldQinQ = 0x9100                            // stacked VLANs before 802.1ad
)

const maxTunnels = 4 // headers of the same layer inside each other

// span is a part of a frame: the bytes that were captured of it, and its length
// on the wire, which is not less.
type span struct {
	data []byte
	wire int
}

// from returns the span without its first n bytes.
func (p span) from(n int) span {
	return span{p.data[min(n, len(p.data)):], max(p.wire-n, 0)}
}

// limit returns the first n bytes of the span, where n is a length in a header
// inside it; the rest is padding. A length beyond the frame is accepted, because
// the frame may be a part of a packet whose length the capture does not have.
func (p span) limit(n int) span {
	return span{p.data[:min(n, len(p.data))], n}
}

// Flow identifies one direction of a TCP connection at one capture point.
type Flow struct {
	Src, Dst         [16]byte // IP addresses, those of IPv4 in the mapped form
	SrcPort, DstPort uint16
	Source           int32 // capture point
}

// Reverse returns the opposite direction.
func (f *Flow) Reverse() Flow {
	return Flow{Src: f.Dst, Dst: f.Src, SrcPort: f.DstPort, DstPort: f.SrcPort, Source: f.Source}
}

// UnknownWindow is the Window of a segment in which it was cut off.
const UnknownWindow = -1

// Frame identifies a frame of the capture.
type Frame struct {
	Order  int64 // number over all files: capture.Frame.Number
	Time   int64
	Number int64  // in its file
	File   string // name of that file, empty when only one is read
}

// set makes id identify f. It runs for each frame: no Frame is copied.
func (id *Frame) set(f *capture.Frame) {
	id.Order, id.Time, id.Number, id.File = f.Number, f.Time, f.Number, f.File
	if f.File != "" {
		id.Number = f.FileNumber
	}
}

// Segment is a TCP segment with its frame.
type Segment struct {
	Flow   Flow
	Flags  uint8 // FIN, SYN and the others, as in the header
	Seq    uint32
	Ack    uint32
	Window int32  // as in the header, or UnknownWindow
	Data   []byte // captured bytes of the payload
	Size   int    // bytes of the payload on the wire
	Stamps Timestamps
	Twice  Range   // of the other direction: the sender has received it twice (D-SACK)
	MAC    [6]byte // Ethernet address of the frame's sender; zero without Ethernet
	Frame
}

// Kind is the kind of the packet in a frame.
type Kind uint8

// Kinds of packets. None stands for a frame without a packet of a transport.
const (
	None Kind = iota
	TCP
	InfiniBand
)

// Decoder finds the packet of a transport in a frame. The zero value is ready for
// use.
//
// gopacket's layers decode the headers. Each gets the bytes of its header only,
// all of which were captured: the payload is a span, whose length is not lost
// where a snaplen cut the frame. The layers are called directly and used again
// for each frame, so none of them is allocated. What gopacket v1.1.19 cannot
// decode, or not without an allocation, is decoded here: the reason stands
// beside it.
type Decoder struct {
	Segment Segment // found last
	Packet  Packet  // found last

	listing bool // Headers was called, not Decode
	headers []Header
	end     int // capacity of the frame, by which a header's place in it is known

	time   int64   // of the frame
	source int32   // of the frame
	mac    [6]byte // of the frame, as in Segment
	frags  fragments

	ethernetLayer layers.Ethernet
	vlanLayer     layers.Dot1Q
	cookedLayer   layers.LinuxSLL
	ipv4Layer     layers.IPv4
	ipv6Layer     layers.IPv6
	extension     layers.IPv6ExtensionSkipper
	tcpLayer      layers.TCP
	udpLayer      layers.UDP
	greLayer      layers.GRE
	vxlanLayer    layers.VXLAN
}

// Lengths of headers, in bytes.
const (
	ethernetSize = 14
	vlanSize     = 4
	arpSize      = 28 // for IPv4 over Ethernet
	sllSize      = 16
	sll2Size     = 20
	familySize   = 4
)

// Decode looks for a packet of a transport in a frame. It sets d.Segment and
// returns TCP, or sets d.Packet and returns InfiniBand; else it returns None. The
// bytes of the segment or packet are valid until the next call.
func (d *Decoder) Decode(f *capture.Frame) Kind {
	kind := d.link(f)
	switch kind {
	case TCP:
		d.Segment.Frame.set(f)
		d.Segment.Flow.Source, d.Segment.MAC = int32(f.Source), d.mac
	case InfiniBand:
		d.Packet.Frame.set(f)
		d.Packet.Source, d.Packet.MAC = int32(f.Source), d.mac
	case None:
	}
	return kind
}

// link decodes a frame by its link type.
func (d *Decoder) link(f *capture.Frame) Kind {
	d.time, d.source, d.mac = f.Time, int32(f.Source), [6]byte{}
	p := span{f.Data, max(f.Len, len(f.Data))}
	if f.Link == capture.LinkEthernet {
		return d.ethernet(p, 0)
	}
	d.mac = [6]byte{}
	switch f.Link {
	case capture.LinkLinuxSLL:
		return d.cooked(p)
	case capture.LinkLinuxSLL2:
		// gopacket has no layer for it.
		if len(p.data) < sll2Size {
			return None
		}
		d.header(LayerCooked2, p, sll2Size)
		d.cookedMAC(p.data[8:], p.data[11], p.data[12:])
		return d.network(binary.BigEndian.Uint16(p.data), p.from(sll2Size), 0)
	case capture.LinkNull, capture.LinkLoop:
		// gopacket would decode the address family, whose number for IPv6
		// differs between systems; the packet itself has its version.
		d.header(LayerFamily, p, familySize)
		return d.rawIP(p.from(familySize), 0)
	case capture.LinkRaw, capture.LinkRawBSD, capture.LinkRawOpenBSD, capture.LinkIPv4, capture.LinkIPv6:
		return d.rawIP(p, 0)
	case capture.LinkInfiniBand:
		return d.lrh(p, 0)
	case capture.LinkERF:
		return d.erf(p)
	}
	return None
}

// ethernet decodes an Ethernet frame. The depth of it, as of the other layers, is
// the number of tunnels around it.
func (d *Decoder) ethernet(p span, depth int) Kind {
	if depth > maxTunnels || len(p.data) < ethernetSize || d.ethernetLayer.DecodeFromBytes(p.data[:ethernetSize],
		gopacket.NilDecodeFeedback) != nil {
		return None
	}
	d.header(LayerEthernet, p, ethernetSize)
	d.mac = [6]byte(p.data[6:])
	return d.network(uint16(d.ethernetLayer.EthernetType), p.from(ethernetSize), depth)
}

// cooked decodes a frame with a LINUX_SLL header.
func (d *Decoder) cooked(p span) Kind {
	const addressLength, maxAddress = 4, 8 // offset of the length, bytes
	if len(p.data) < sllSize {
		return None
	}
	d.header(LayerCooked, p, sllSize)
	d.cookedMAC(p.data[2:], p.data[5], p.data[6:])
	etherType := binary.BigEndian.Uint16(p.data[14:])
	// A longer address does not fit into the header; gopacket would slice
	// beyond its end.
	if binary.BigEndian.Uint16(p.data[addressLength:]) <= maxAddress {
		if d.cookedLayer.DecodeFromBytes(p.data[:sllSize], gopacket.NilDecodeFeedback) != nil {
			return None
		}
		etherType = uint16(d.cookedLayer.EthernetType)
	}
	return d.network(etherType, p.from(sllSize), 0)
}

// cookedMAC takes the address in a cooked header, if the interface is one of Ethernet.
func (d *Decoder) cookedMAC(hardware []byte, length byte, address []byte) {
	const ethernet = 1 // ARPHRD_ETHER
	if binary.BigEndian.Uint16(hardware) == ethernet && int(length) == len(d.mac) {
		d.mac = [6]byte(address)
	}
}

// network decodes the payload of a frame by its Ethernet type, behind any number
// of VLAN tags.
func (d *Decoder) network(etherType uint16, p span, depth int) Kind {
	for {
		switch etherType {
		case etherIPv4:
			return d.ipv4(p, depth)
		case etherIPv6:
			return d.ipv6(p, depth)
		case etherTEB:
			return d.ethernet(p, depth+1)
		case etherVLAN, etherQinQ, etherOldQinQ:
			if len(p.data) < vlanSize || d.vlanLayer.DecodeFromBytes(p.data[:vlanSize], gopacket.NilDecodeFeedback) != nil {
				return None
			}
			d.header(LayerVLAN, p, vlanSize)
			etherType = uint16(d.vlanLayer.Type)
			p = p.from(vlanSize)
		case etherRoCE:
			return d.grh(p)
		case etherARP:
			d.header(LayerARP, p, arpSize)
			return None
		default:
			return None
		}
	}
}

// rawIP decodes a packet of the IP version in its first byte.
func (d *Decoder) rawIP(p span, depth int) Kind {
	if depth > maxTunnels || len(p.data) == 0 {
		return None
	}
	switch p.data[0] >> 4 {
	case 4:
		return d.ipv4(p, depth)
	case 6:
		return d.ipv6(p, depth)
	}
	return None
}
