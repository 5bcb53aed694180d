package anonymize

import (
	"encoding/binary"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/anonymize/values"
)

const (
	etherIPv4    = 0x0800
	etherARP     = 0x0806
	etherTEB     = 0x6558 // an Ethernet frame
	etherVLAN    = 0x8100
	etherIPv6    = 0x86dd
	etherQinQ    = 0x88a8
	etherERSPAN  = 0x88be // type II, or type I without a sequence number
	etherRoCE    = 0x8915
	etherOldQinQ = 0x9100
)

// Lengths of headers, in bytes.
const (
	macSize      = 6
	ethernetSize = 2*macSize + 2
	vlanSize     = 4
	sllSize      = 16
	sll2Size     = 20
	familySize   = 4
	erfSize      = 16
)

const maxTunnels = 4 // headers of the same layer inside each other

// Removed are counts of bytes of frames that were removed, by what they were. Bytes of LNet
// messages are counted by values.Removed.
type Removed struct {
	OtherTCP  int64 // payload of TCP connections that do not carry LNet
	OtherUDP  int64 // payload of UDP other than RoCE and VXLAN
	OtherIP   int64 // payload of other protocols over IP, and of packets whose header is invalid
	Fragments int64 // of IP packets
	RDMA      int64 // payload of InfiniBand packets that are not o2iblnd's
	Other     int64 // of frames without IP or InfiniBand, and behind the end of packets
}

// part is a part of a frame: in[off:end] was captured of it, and wire is its length on the
// wire, which is not less.
type part struct{ off, end, wire int }

// from returns the part without its first n bytes.
func (p part) from(n int) part { return part{min(p.off+n, p.end), p.end, max(p.wire-n, 0)} }

// limit returns the first n bytes of the part, where n is a length in a header; the rest is
// padding.
func (p part) limit(n int) part { return part{p.off, min(p.off+n, p.end), n} }

// len returns how many bytes were captured.
func (p part) len() int { return p.end - p.off }

// cut reports whether bytes of the part were not captured.
func (p part) cut() bool { return p.end-p.off < p.wire }

// copier writes what may stay of a frame into out, which is zero: copies, and addresses that
// were mapped. The rest of the frame stays zero.
type copier struct {
	values  *values.Mapper
	removed Removed
	in, out []byte
	kept    int // bytes of out up to the last one that was written
}

// headers rewrites the headers of a frame. It finds the same packets as package link.
type headers struct {
	copier
	ports   []uint16
	payload payload
	sums    []sum // the outer ones first
	pairs   queuePairs

	truncated bool // a TCP segment of LNet was cut
}

func newHeaders(mapper *values.Mapper, ports []uint16) *headers {
	return &headers{copier: copier{values: mapper}, ports: ports}
}

// payload is the place of a payload in a frame and in its stream.
type payload struct {
	off, size int // as captured; size is 0 without one
	tcp       bool
	cut       bool   // bytes of it were not captured
	seq       uint32 // TCP sequence number of the first byte
	key       blockKey
}

// rewrite rewrites the headers of a frame into out, which has as many zeros as bytes of the
// frame were captured.
func (h *headers) rewrite(f *capture.Frame, out []byte) {
	h.in, h.out, h.kept = f.Data, out, 0
	h.payload, h.sums = payload{}, h.sums[:0]
	p := part{0, len(f.Data), max(f.Len, len(f.Data))}
	switch f.Link {
	case capture.LinkEthernet:
		h.ethernet(p, 0)
	case capture.LinkLinuxSLL:
		h.cooked(p)
	case capture.LinkLinuxSLL2:
		h.cooked2(p)
	case capture.LinkNull, capture.LinkLoop:
		h.copy(p, familySize)
		h.rawIP(p.from(familySize), 0)
	case capture.LinkRaw, capture.LinkRawBSD, capture.LinkRawOpenBSD, capture.LinkIPv4, capture.LinkIPv6:
		h.rawIP(p, 0)
	case capture.LinkInfiniBand:
		h.lrh(p, 0)
	case capture.LinkERF:
		h.erf(p)
	default:
		h.removed.Other += int64(p.len())
	}
}

// copy keeps the first n bytes of a part, or as many as were captured.
func (c *copier) copy(p part, n int) {
	n = min(n, p.len())
	copy(c.out[p.off:p.off+n], c.in[p.off:])
	c.keep(p.off + n)
}

// keep records that out was written up to an offset.
func (c *copier) keep(end int) { c.kept = max(c.kept, end) }

// replace passes n bytes at an offset of a part, if they were captured, to a func that replaces
// them.
func (c *copier) replace(p part, off, n int, by func(b []byte)) {
	if p.len() >= off+n {
		c.copyAt(p, off, n)
		by(c.out[p.off+off : p.off+off+n])
	}
}

func (c *copier) mac(p part, off int) {
	c.replace(p, off, macSize, func(b []byte) { *(*[macSize]byte)(b) = c.values.MAC([macSize]byte(b)) })
}

func (c *copier) ipv4Address(p part, off int) {
	c.replace(p, off, 4, func(b []byte) { *(*[4]byte)(b) = c.values.IPv4([4]byte(b)) })
}

func (c *copier) ipv6Address(p part, off int) {
	c.replace(p, off, 16, func(b []byte) { *(*[16]byte)(b) = c.values.IPv6([16]byte(b)) })
}

func (c *copier) gid(p part, off int) {
	c.replace(p, off, 16, func(b []byte) { *(*[16]byte)(b) = c.values.GID([16]byte(b)) })
}

func (c *copier) guid(p part, off int) {
	c.replace(p, off, 8, func(b []byte) { *(*[8]byte)(b) = c.values.GUID([8]byte(b)) })
}

// ethernet rewrites an Ethernet frame. The depth of it, as of the other layers, is the
// number of tunnels around it.
func (h *headers) ethernet(p part, depth int) {
	if depth > maxTunnels || p.len() < ethernetSize {
		h.removed.Other += int64(p.len())
		return
	}
	h.mac(p, 0)
	h.mac(p, macSize)
	h.copyAt(p, 2*macSize, 2)
	h.network(binary.BigEndian.Uint16(h.in[p.off+2*macSize:]), p.from(ethernetSize), depth)
}

func (c *copier) copyAt(p part, off, n int) { c.copy(p.from(off), n) }

// cooked rewrites a frame with a LINUX_SLL header. Its address is kept only if it is one of
// Ethernet.
func (h *headers) cooked(p part) {
	if p.len() < sllSize {
		h.removed.Other += int64(p.len())
		return
	}
	h.copy(p, 6) // type of packet, type and length of the address
	if binary.BigEndian.Uint16(h.in[p.off+4:]) == macSize {
		h.mac(p, 6)
	}
	h.copyAt(p, 14, 2)
	h.network(binary.BigEndian.Uint16(h.in[p.off+14:]), p.from(sllSize), 0)
}

func (h *headers) cooked2(p part) {
	if p.len() < sll2Size {
		h.removed.Other += int64(p.len())
		return
	}
	h.copy(p, 12) // EtherType, index of the interface, types, length of the address
	if h.in[p.off+11] == macSize {
		h.mac(p, 12)
	}
	h.network(binary.BigEndian.Uint16(h.in[p.off:]), p.from(sll2Size), 0)
}

// network rewrites the payload of a frame by its Ethernet type, behind any number of VLAN
// tags.
func (h *headers) network(etherType uint16, p part, depth int) {
	for {
		switch etherType {
		case etherIPv4:
			h.ipv4(p, depth)
		case etherIPv6:
			h.ipv6(p, depth)
		case etherTEB:
			h.ethernet(p, depth+1)
		case etherARP:
			h.arp(p)
		case etherRoCE:
			h.grh(p, p.off, headerGRH)
		case etherVLAN, etherQinQ, etherOldQinQ:
			if p.len() >= vlanSize {
				h.copy(p, vlanSize)
				etherType = binary.BigEndian.Uint16(h.in[p.off+2:])
				p = p.from(vlanSize)
				continue
			}
			h.removed.Other += int64(p.len())
		default:
			h.removed.Other += int64(p.len())
		}
		return
	}
}

// arp rewrites an ARP packet of IPv4 over Ethernet.
func (c *copier) arp(p part) {
	const fixed, lengths = 8, 4
	c.copy(p, fixed)
	if p.len() < fixed || c.in[p.off+lengths] != macSize || c.in[p.off+lengths+1] != 4 {
		c.removed.Other += int64(max(0, p.len()-fixed))
		return
	}
	c.mac(p, fixed)
	c.ipv4Address(p, fixed+macSize)
	c.mac(p, fixed+macSize+4)
	c.ipv4Address(p, fixed+2*macSize+4)
}

// erf rewrites a record of the Extensible Record Format. Of its extension headers only the
// types are kept.
func (h *headers) erf(p part) {
	const (
		more, extension       = 0x80, 8
		eth, color, dsm, hash = 2, 11, 16, 20
		infiniBand, ip4, ip6  = 21, 22, 23
		pad                   = 2
	)
	if p.len() < erfSize {
		h.removed.Other += int64(p.len())
		return
	}
	h.copy(p, erfSize)
	b := h.in[p.off:]
	if record := int(binary.BigEndian.Uint16(b[10:])); record >= erfSize {
		p.end = min(p.end, p.off+record)
	}
	n := erfSize
	for next := b[8] & more; next != 0; n += extension {
		if p.len() < n+extension {
			return
		}
		h.copyAt(p, n, 1)
		next = b[n] & more
	}
	wire := int(binary.BigEndian.Uint16(b[14:]))
	inside := func(skip int) part {
		q := p.from(n + skip)
		q.wire = max(wire, q.len())
		return q
	}
	switch b[8] &^ more {
	case eth, color, dsm, hash:
		h.ethernet(inside(pad), 0)
	case infiniBand:
		h.lrh(inside(0), 0)
	case ip4, ip6:
		h.rawIP(inside(0), 0)
	default:
		h.removed.Other += int64(p.len() - n)
	}
}

// flow returns the key of a TCP stream.
func flow(src, dst [16]byte, srcPort, dstPort uint16) link.Flow {
	return link.Flow{Src: src, Dst: dst, SrcPort: srcPort, DstPort: dstPort}
}
