package lnet

import "encoding/binary"

// UDP ports.
const (
	portVXLAN = 4789
	portRoCE  = 4791
)

// GRE header flags.
const (
	greChecksum = 0x8000
	greKey      = 0x2000
	greSequence = 0x1000
	greVersion  = 0x0007
)

// greERSPAN3 is ERSPAN type III, which GRE has beside the Ethernet types.
const greERSPAN3 = 0x22eb

// udp looks for an Ethernet frame in VXLAN, and counts RDMA.
func (d *linkDecoder) udp(p span, depth int) bool {
	if len(p.data) < 8 {
		return false
	}
	switch binary.BigEndian.Uint16(p.data[2:]) {
	case portVXLAN:
		return d.vxlan(p, depth)
	case portRoCE:
		d.rdma++
	}
	return false
}

// vxlan looks for the Ethernet frame inside.
func (d *linkDecoder) vxlan(p span, depth int) bool {
	b := p.data
	if len(b) < 16 || b[8]&0x08 == 0 { // the flag that a network identifier is there, always set
		return false
	}
	if n := int(binary.BigEndian.Uint16(b[4:])); n >= 16 {
		p = p.limit(n)
	}
	return d.ethernet(p.from(16), depth)
}

// gre looks into GRE version 0: IP, Ethernet, or a mirrored frame (ERSPAN).
func (d *linkDecoder) gre(p span, depth int) bool {
	b := p.data
	if len(b) < 4 {
		return false
	}
	flags := binary.BigEndian.Uint16(b)
	proto := ethertype(b[2:])
	if flags&greVersion != 0 {
		return false
	}
	n := 4
	for _, f := range [...]uint16{greChecksum, greKey, greSequence} {
		if flags&f != 0 {
			n += 4
		}
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
