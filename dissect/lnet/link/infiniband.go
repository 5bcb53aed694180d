package link

import (
	"encoding/binary"

	"github.com/lshark/lshark/dissect/lnet/ib"
)

// Packet is an InfiniBand packet with its frame.
type Packet struct {
	Source   int32    // capture point
	Src, Dst [16]byte // IP addresses as in Flow; GIDs on InfiniBand and RoCEv1; LIDs in the last two bytes if Local is set
	SrcPort  uint16   // UDP port of RoCEv2, else 0
	Local    bool     // Src and Dst are LIDs

	ib.Transport

	Headers []byte  // captured bytes of the BTH and the extension headers
	Data    []byte  // captured bytes of the payload
	Size    int     // bytes of the payload on the wire, without padding
	MAC     [6]byte // as in Segment
	Frame
}

// maxPayload is the longest payload of a packet, the largest MTU of InfiniBand.
const maxPayload = 4096

// lrh decodes a packet of a link of InfiniBand. Its length does not depend on the
// VCRC behind it, which some programs capture and others do not.
func (d *Decoder) lrh(p span, depth int) Kind {
	const version = 0
	var h ib.LRH
	if depth > maxTunnels || !h.Decode(p.data) || h.Version != version || h.Length < ib.LRHSize {
		return None
	}
	p = p.limit(h.Length)
	d.header(LayerLRH, p, ib.LRHSize)
	p = p.from(ib.LRHSize)
	switch h.NextHeader {
	case ib.LNHLocal:
		var a addresses
		binary.BigEndian.PutUint16(a.src[14:], h.SLID)
		binary.BigEndian.PutUint16(a.dst[14:], h.DLID)
		kind := d.infiniband(a, p)
		d.Packet.Local = true
		return kind
	case ib.LNHGlobal:
		return d.grh(p)
	case ib.LNHIPv6:
		return d.ipv6(p, depth)
	case ib.LNHRaw:
		return d.rawHeader(p, depth)
	}
	return None
}

// rawHeader decodes a packet with a raw header: two reserved bytes and an
// EtherType. Switches put one before mirrored packets, with four more bytes before
// the LRH of the packet.
func (d *Decoder) rawHeader(p span, depth int) Kind {
	const size, mirrorSize, etherMirror = 4, 4, 0x1123
	if len(p.data) < size {
		return None
	}
	d.header(LayerRaw, p, size)
	etherType := binary.BigEndian.Uint16(p.data[2:])
	if p = p.from(size); etherType == etherMirror {
		return d.lrh(p.from(mirrorSize), depth+1)
	}
	return d.network(etherType, p, depth)
}

// grh decodes a GRH, with which RoCEv1 begins, and what follows it.
func (d *Decoder) grh(p span) Kind {
	var h ib.GRH
	if !h.Decode(p.data) || h.Version != 6 || h.NextHeader != ib.NextHeaderTransport {
		return None
	}
	p = p.limit(ib.GRHSize + int(h.Length))
	d.header(LayerGRH, p, ib.GRHSize)
	return d.infiniband(addresses{h.SGID, h.DGID}, p.from(ib.GRHSize))
}

// roce2 decodes a packet of RoCEv2, the payload of UDP.
func (d *Decoder) roce2(a addresses, p span) Kind {
	kind := d.infiniband(a, p)
	d.Packet.SrcPort = uint16(d.udpLayer.SrcPort)
	return kind
}

// infiniband fills the rest of d.Packet. The span is the packet from its BTH to
// its ICRC.
func (d *Decoder) infiniband(a addresses, p span) Kind {
	g := &d.Packet
	const version = 0
	if !g.DecodeHeaders(p.data) {
		d.header(LayerBTH, p, ib.BTHSize)
		return None
	}
	if g.BTH.Version != version {
		return None
	}
	headers := ib.BTHSize + g.BTH.Opcode.Extensions().Size()
	d.header(LayerBTH, p, headers)
	size := p.wire - headers - int(g.BTH.Pad) - ib.ICRCSize
	if size < 0 || size > maxPayload {
		return None
	}
	g.Src, g.Dst, g.SrcPort, g.Local = a.src, a.dst, 0, false
	body := p.from(headers).limit(size)
	g.Headers, g.Data, g.Size = g.Contents, body.data, size
	return InfiniBand
}
