package lnet

import (
	"encoding/binary"

	"github.com/lshark/lshark/capture"
)

// Ethernet types.
const (
	etherIPv4    = 0x0800
	etherTEB     = 0x6558 // an Ethernet frame
	etherVLAN    = 0x8100
	etherIPv6    = 0x86dd
	etherQinQ    = 0x88a8
	etherERSPAN  = 0x88be // type II, and type I when there is no sequence number
	etherRoCE    = 0x8915 // the first version of RDMA over Ethernet
	etherOldQinQ = 0x9100 // stacked VLANs before 802.1ad
)

const maxTunnels = 4 // headers of the same layer inside each other

// span is part of a frame: the bytes that were captured, and how many there
// were on the wire. More captured than wire bytes cannot be.
type span struct {
	data []byte
	wire int
}

// from drops the first n bytes; what is not captured of the rest is not there.
func (p span) from(n int) span {
	return span{p.data[min(n, len(p.data)):], max(p.wire-n, 0)}
}

// limit says that only n bytes belong here, as a header within claims. The
// rest is padding. A claim beyond the frame stands: the capture may know less
// of the length than the header.
func (p span) limit(n int) span {
	return span{p.data[:min(n, len(p.data))], n}
}

// segment is a TCP segment and where it was found.
type segment struct {
	key   flowKey
	flags uint8
	seq   uint32
	ack   uint32
	data  []byte // captured bytes of the payload
	size  int    // bytes of the payload on the wire
	frame int64
	time  int64
}

// linkDecoder finds the TCP segment in a frame.
type linkDecoder struct {
	frags fragments
	seg   segment
	rdma  int64 // frames of RDMA over Ethernet
}

// decode fills d.seg; it reports whether the frame holds a TCP segment.
func (d *linkDecoder) decode(f *capture.Frame) bool {
	d.seg.frame, d.seg.time, d.seg.key.source = f.Number, f.Time, int32(f.Source)
	p := span{f.Data, max(f.Len, len(f.Data))}
	b := f.Data
	switch f.Link {
	case capture.LinkEthernet:
		return d.ethernet(p, 0)
	case capture.LinkLinuxSLL:
		return len(b) >= 16 && d.network(ethertype(b[14:]), p.from(16), 0)
	case capture.LinkLinuxSLL2:
		return len(b) >= 20 && d.network(ethertype(b), p.from(20), 0)
	case capture.LinkNull, capture.LinkLoop:
		return len(b) >= 4 && d.rawIP(p.from(4), 0)
	case capture.LinkRaw, capture.LinkRawBSD, capture.LinkRawOpenBSD, capture.LinkIPv4, capture.LinkIPv6:
		return d.rawIP(p, 0)
	}
	return false
}

func ethertype(b []byte) uint16 { return binary.BigEndian.Uint16(b) }

func (d *linkDecoder) ethernet(p span, depth int) bool {
	if len(p.data) < 14 {
		return false
	}
	return d.network(ethertype(p.data[12:]), p.from(14), depth)
}

// network goes by the Ethernet type, through any number of VLAN tags.
func (d *linkDecoder) network(etherType uint16, p span, depth int) bool {
	for {
		switch etherType {
		case etherIPv4:
			return d.ipv4(p, depth)
		case etherIPv6:
			return d.ipv6(p, depth)
		case etherTEB:
			return depth < maxTunnels && d.ethernet(p, depth+1)
		case etherVLAN, etherQinQ, etherOldQinQ:
			if len(p.data) < 4 {
				return false
			}
			etherType = ethertype(p.data[2:])
			p = p.from(4)
		case etherRoCE:
			d.rdma++
			return false
		default:
			return false
		}
	}
}

// rawIP goes by the version in the first byte. The address family that NULL
// and LOOP put before it has another number on every system, so the packet
// itself is the better witness.
func (d *linkDecoder) rawIP(p span, depth int) bool {
	if len(p.data) == 0 {
		return false
	}
	switch p.data[0] >> 4 {
	case 4:
		return d.ipv4(p, depth)
	case 6:
		return d.ipv6(p, depth)
	}
	return false
}
