package link

import (
	"github.com/google/gopacket"

	"github.com/lshark/lshark/lnet/ib"
)

// Packet is an InfiniBand packet with its frame.
type Packet struct {
	Source   int32    // capture point
	Src, Dst [16]byte // IP addresses as in Flow; GIDs on InfiniBand and RoCEv1; LIDs in the last two bytes if Local is set
	SrcPort  uint16   // UDP port of RoCEv2, else 0
	Local    bool     // Src and Dst are LIDs

	ib.Transport

	Headers []byte // captured bytes of the BTH and the extension headers
	Data    []byte // captured bytes of the payload
	Size    int    // bytes of the payload on the wire, without padding
	Frame
}

// maxPayload is the longest payload of a packet, the largest MTU of InfiniBand.
const maxPayload = 4096

// roce1 decodes a packet of RoCEv1: a GRH, and what follows it.
func (d *Decoder) roce1(p span) Kind {
	if len(p.data) < ib.GRHSize || d.grhLayer.DecodeFromBytes(p.data[:ib.GRHSize], gopacket.NilDecodeFeedback) != nil {
		return None
	}
	h := &d.grhLayer
	if h.Version != 6 || h.NextHeader != ib.NextHeaderTransport {
		return None
	}
	return d.infiniband(addresses{h.SGID, h.DGID}, p.from(ib.GRHSize).limit(int(h.Length)))
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
	if !g.DecodeHeaders(p.data) || g.BTH.Version != version {
		return None
	}
	headers := ib.BTHSize + g.BTH.Opcode.Extensions().Size()
	size := p.wire - headers - int(g.BTH.Pad) - ib.ICRCSize
	if size < 0 || size > maxPayload {
		return None
	}
	g.Src, g.Dst, g.SrcPort, g.Local = a.src, a.dst, 0, false
	body := p.from(headers).limit(size)
	g.Headers, g.Data, g.Size = g.Contents, body.data, size
	return InfiniBand
}
