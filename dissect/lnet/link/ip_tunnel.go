package link

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// UDP ports.
const (
	portVXLAN = 4789
	portRoCE  = 4791
)

// Lengths of headers, in bytes.
const (
	udpSize   = 8
	vxlanSize = 8
	greSize   = 4 // without optional fields, which have as many bytes each
)

// GRE header flags.
const (
	greChecksum = 0x8000
	greRouting  = 0x4000
	greKey      = 0x2000
	greSequence = 0x1000
	greAck      = 0x0080
	greVersion  = 0x0007
)

// greERSPAN3 is the protocol number of ERSPAN type III, beside the Ethernet types.
const greERSPAN3 = 0x22eb

// udp decodes what VXLAN and RoCEv2 carry.
func (d *Decoder) udp(a addresses, p span, depth int) Kind {
	if len(p.data) < udpSize {
		return None
	}
	// What may be invalid is a length below that of the header; the ports are
	// set before.
	_ = d.udpLayer.DecodeFromBytes(p.data[:udpSize], gopacket.NilDecodeFeedback)
	n := int(d.udpLayer.Length)
	switch d.udpLayer.DstPort {
	case portVXLAN:
		if n >= udpSize+vxlanSize {
			p = p.limit(n)
		}
		return d.vxlan(p.from(udpSize), depth+1)
	case portRoCE:
		if n >= udpSize {
			p = p.limit(n)
		}
		return d.roce2(a, p.from(udpSize))
	}
	return None
}

// vxlan decodes the Ethernet frame inside.
func (d *Decoder) vxlan(p span, depth int) Kind {
	if len(p.data) < vxlanSize || d.vxlanLayer.DecodeFromBytes(p.data[:vxlanSize], gopacket.NilDecodeFeedback) != nil {
		return None
	}
	if !d.vxlanLayer.ValidIDFlag {
		return None
	}
	return d.ethernet(p.from(vxlanSize), depth)
}

// gre decodes what is inside of GRE version 0: IP, an Ethernet frame, or a
// mirrored frame (ERSPAN).
func (d *Decoder) gre(p span, depth int) Kind {
	b := p.data
	if depth > maxTunnels || len(b) < greSize {
		return None
	}
	flags := binary.BigEndian.Uint16(b)
	if flags&greVersion != 0 {
		return None
	}
	n := greSize
	for _, f := range [...]uint16{greChecksum, greKey, greSequence} {
		if flags&f != 0 {
			n += 4
		}
	}
	// gopacket reads beyond what was captured, and allocates routes, which
	// GRE has not had since RFC 2784.
	proto := binary.BigEndian.Uint16(b[2:])
	if len(b) >= n && flags&(greRouting|greAck) == 0 {
		if d.greLayer.DecodeFromBytes(b[:n], gopacket.NilDecodeFeedback) != nil {
			return None
		}
		proto = uint16(d.greLayer.Protocol)
	}
	switch {
	case proto == etherERSPAN && flags&greSequence != 0:
		return d.ethernet(p.from(n+8), depth)
	case proto == etherERSPAN:
		return d.ethernet(p.from(n), depth)
	case proto == greERSPAN3:
		return d.ethernet(p.from(n+12), depth)
	}
	return d.network(proto, p.from(n), depth)
}
