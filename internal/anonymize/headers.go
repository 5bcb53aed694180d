package anonymize

import (
	"encoding/binary"
	"slices"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/anonymize/values"
	"github.com/lshark/lshark/internal/checksum"
	"github.com/lshark/lshark/internal/fifo"
)

// Lengths, in bytes.
const (
	macSize = 6
	udpSize = 8  // of a UDP header
	tcpSize = 20 // of a TCP header without options
)

// Of a TCP header: the offset of the flags, and two of these.
const (
	tcpFlags = 13
	tcpSYN   = 2
	tcpRST   = 4
)

// Removed are counts of bytes of frames that were removed, by what they were. Bytes of LNet
// messages are counted by values.Removed.
type Removed struct {
	OtherTCP  int64 // payload of TCP connections that do not carry LNet
	OtherUDP  int64 // payload of UDP other than RoCE and VXLAN
	OtherIP   int64 // payload of other protocols over IP, and of those whose header is invalid
	Fragments int64 // of IP packets
	RDMA      int64 // payload of InfiniBand packets that are not o2iblnd's
	Other     int64 // of frames without a valid header of IP or InfiniBand
}

// part is a part of a frame: in[off:end] was captured of it, and wire is its length on the
// wire, which is not less.
type part struct{ off, end, wire int }

// from returns the part without its first n bytes.
func (p part) from(n int) part { return part{min(p.off+n, p.end), p.end, max(p.wire-n, 0)} }

// limit returns the first n bytes of the part; the rest is padding.
func (p part) limit(n int) part { return part{p.off, min(p.off+n, p.end), n} }

// len returns how many bytes were captured.
func (p part) len() int { return p.end - p.off }

// cut reports whether bytes of the part were not captured.
func (p part) cut() bool { return p.end-p.off < p.wire }

// field is a part of a header that stays, or an address in it.
type field struct {
	off, size int
	replace   func(*values.Mapper, []byte) // nil: the bytes stay
}

const whole = 1 << 16 // more than the length of any header

// headerFields has for each kind of header what is kept of it. Everything else is zero, but
// for what headers.header adds by the values in a header: options, extension headers, and the
// contents of ICMP and ARP.
var headerFields = [link.NumLayers][]field{
	link.LayerEthernet:     {{0, 6, (*values.Mapper).MAC}, {6, 6, (*values.Mapper).MAC}, {12, 2, nil}},
	link.LayerVLAN:         {{0, whole, nil}},
	link.LayerCooked:       {{0, 6, nil}, {14, 2, nil}}, // types, length of the address; EtherType
	link.LayerCooked2:      {{0, 12, nil}},              // EtherType, interface, types, length of the address
	link.LayerFamily:       {{0, whole, nil}},
	link.LayerERF:          {{0, whole, nil}},
	link.LayerERFExtension: {{0, 1, nil}}, // type
	link.LayerARP:          {{0, 8, nil}},
	link.LayerIPv4:         {{0, 12, nil}, {12, 4, (*values.Mapper).IPv4}, {16, 4, (*values.Mapper).IPv4}},
	link.LayerIPv6:         {{0, 8, nil}, {8, 16, (*values.Mapper).IPv6}, {24, 16, (*values.Mapper).IPv6}},
	link.LayerHopByHop:     {{0, 2, nil}},
	link.LayerDestination:  {{0, 2, nil}},
	link.LayerRouting:      {{0, 4, nil}}, // behind it are addresses
	link.LayerMobility:     {{0, 3, nil}},
	link.LayerFragment:     {{0, whole, nil}},
	link.LayerAuth:         {{0, 8, nil}}, // behind it is the value that proves the sender
	link.LayerICMP:         {{0, 4, nil}},
	link.LayerICMPv6:       {{0, 4, nil}},
	link.LayerTCP:          {{0, tcpSize, nil}},
	link.LayerUDP:          {{0, whole, nil}},
	link.LayerVXLAN:        {{0, whole, nil}},
	link.LayerGRE:          {{0, whole, nil}},
	link.LayerERSPAN:       {{0, whole, nil}},
	link.LayerLRH:          {{0, whole, nil}, {2, 2, (*values.Mapper).LID}, {6, 2, (*values.Mapper).LID}},
	link.LayerRaw:          {{0, whole, nil}},
	link.LayerGRH:          {{0, 8, nil}, {8, 16, (*values.Mapper).GID}, {24, 16, (*values.Mapper).GID}},
	link.LayerBTH:          {{0, ib.BTHSize, nil}},
}

// fields writes what is kept of a header of size bytes.
func (h *headers) fields(p part, size int, list []field) {
	for _, f := range list {
		if f.replace == nil {
			h.copy(p.from(f.off), min(f.size, size-f.off))
		} else {
			h.replace(p, f.off, f.size, f.replace)
		}
	}
}

// copy keeps the first n bytes of a part, or as many as were captured.
func (h *headers) copy(p part, n int) {
	n = min(n, p.len())
	copy(h.out[p.off:p.off+n], h.in[p.off:])
	h.keep(p.off + n)
}

// keep records that out was written up to an offset.
func (h *headers) keep(end int) { h.kept = max(h.kept, end) }

// replace passes n bytes at an offset of a part, if they were captured, to a func that replaces
// them.
func (h *headers) replace(p part, off, n int, by func(*values.Mapper, []byte)) {
	if p.len() >= off+n {
		h.copy(p.from(off), n)
		by(h.values, h.out[p.off+off:p.off+off+n])
	}
}

// headers writes what may stay of the headers of a frame, as package link lists them, into out,
// which is zero: copies, and addresses that were mapped. The rest of the frame stays zero.
type headers struct {
	values  *values.Mapper
	removed Removed
	in, out []byte
	kept    int // bytes of out up to the last one that was written

	link    link.Decoder
	ports   []uint16
	payload payload
	sums    []sum // the outer ones first
	pairs   *fifo.Map[queuePair, *pairState]

	addresses addresses     // of the packet of IP around the header
	network   int           // offset of the header at which an ICRC begins
	begin     networkHeader // what header that is
	fragment  bool          // the packet is a fragment

	truncated bool // a TCP segment of LNet was cut
}

func newHeaders(mapper *values.Mapper, ports []uint16) *headers {
	return &headers{values: mapper, ports: ports, pairs: fifo.NewMap[queuePair, *pairState](maxQueuePairs)}
}

// payload is the place of a payload in a frame and in its stream.
type payload struct {
	off, size int // as captured; size is 0 without one
	tcp       bool
	cut       bool   // bytes of it were not captured
	seq       uint32 // TCP sequence number of the first byte
	key       blockKey
}

// addresses are the sums of those of an IP packet, before they were mapped and after, for the
// pseudo header of transport checksums.
type addresses struct{ before, after uint16 }

// rewrite rewrites the headers of a frame into out, which has as many zeros as bytes of the
// frame were captured.
func (h *headers) rewrite(f *capture.Frame, out []byte) {
	h.in, h.out, h.kept = f.Data, out, 0
	h.payload, h.sums, h.fragment = payload{}, h.sums[:0], false
	list, kind := h.link.Headers(f)
	if len(list) == 0 {
		h.removed.Other += int64(len(f.Data))
		return
	}
	for i := range list {
		g := &list[i]
		p := part{g.Off, g.End, g.Wire}
		h.fields(p, g.Size, headerFields[g.Layer])
		h.header(g.Layer, p, g.Size, i > 0 && list[i-1].Layer == link.LayerLRH)
	}
	last := &list[len(list)-1]
	h.body(last.Layer, part{last.Off, last.End, last.Wire}.from(last.Size), kind)
}

// header writes what is kept of a header by its values, and notes its checksum.
func (h *headers) header(l link.Layer, p part, size int, behindLRH bool) {
	in := h.in[p.off:p.end]
	switch l {
	case link.LayerCooked:
		if binary.BigEndian.Uint16(in[4:]) == macSize {
			h.replace(p, 6, macSize, (*values.Mapper).MAC)
		}
	case link.LayerCooked2:
		if in[11] == macSize {
			h.replace(p, 12, macSize, (*values.Mapper).MAC)
		}
	case link.LayerARP:
		h.arp(p)
	case link.LayerIPv4:
		h.options(p, ipv4Size, size, &ipv4Options)
		s := sum{at: p.off + 10, from: p.off, to: p.off + size}
		s.state = s.internetState(h.in, false)
		s.set(h.out)
		h.packet(p, 12, 20, headerIPv4)
		h.fragment = binary.BigEndian.Uint16(in[6:])&0x3fff != 0 // more fragments, or an offset
	case link.LayerIPv6:
		h.packet(p, 8, 40, headerIPv6)
	case link.LayerFragment:
		h.fragment = binary.BigEndian.Uint16(in[2:])&^6 != 0
	case link.LayerHopByHop, link.LayerDestination:
		h.options(p, 2, size, &ipv6Options)
	case link.LayerICMP:
		h.addSum(sum{at: p.off + 2}, 0, p)
		h.icmp(p, icmpMessages)
	case link.LayerICMPv6:
		h.addSum(sum{at: p.off + 2}, protoICMPv6, p)
		h.icmp(p, icmpv6Messages)
	case link.LayerTCP:
		if p.len() > tcpFlags { // else it was cut, as in an ICMP message
			h.options(p, tcpSize, min(size, p.len()), &tcpOptions)
			h.addSum(sum{at: p.off + 16}, protoTCP, p)
		}
	case link.LayerUDP:
		h.addSum(sum{at: p.off + 6, isUDP: true}, protoUDP, p)
	case link.LayerGRE:
		const checksum, size = 0x80, 4
		if in[0]&checksum != 0 {
			h.addSum(sum{at: p.off + size}, 0, p)
		}
	case link.LayerLRH:
		h.network, h.begin = p.off, headerLRH
	case link.LayerGRH:
		if h.begin = headerLRHGlobal; !behindLRH {
			h.network, h.begin = p.off, headerGRH
		}
	case link.LayerBTH:
		if p.len() >= ib.BTHSize {
			h.extensions(p.from(ib.BTHSize), ib.Opcode(in[0]))
			h.addICRC(p, size)
		}
	}
}

// packet notes the addresses of an IP packet, which are in the bytes of its header from src
// to end.
func (h *headers) packet(p part, src, end int, header networkHeader) {
	h.addresses = addresses{checksum.Add(0, h.in[p.off+src:p.off+end]), checksum.Add(0, h.out[p.off+src:p.off+end])}
	h.network, h.begin = p.off, header
}

// body counts what was removed behind the last header, or notes where the payload is that is
// rewritten later.
func (h *headers) body(last link.Layer, p part, kind link.Kind) {
	n := int64(p.len())
	switch last {
	case link.LayerTCP:
		if kind != link.TCP || !h.segment(p) {
			h.removed.OtherTCP += n
		}
	case link.LayerBTH:
		if kind == link.InfiniBand {
			h.infiniband(p.limit(h.link.Packet.Size))
		}
	case link.LayerUDP:
		h.removed.OtherUDP += n
	case link.LayerIPv4, link.LayerIPv6, link.LayerHopByHop, link.LayerDestination, link.LayerRouting, link.LayerMobility,
		link.LayerFragment, link.LayerAuth:
		if h.fragment {
			h.removed.Fragments += n
		} else {
			h.removed.OtherIP += n
		}
	case link.LayerARP, link.LayerICMP, link.LayerICMPv6: // which have counted it
	default:
		h.removed.Other += n
	}
}

// segment notes the payload of a TCP segment of LNet, which is read later. It reports whether
// the segment is one.
func (h *headers) segment(p part) bool {
	g := &h.link.Segment
	if !slices.Contains(h.ports, g.Flow.SrcPort) && !slices.Contains(h.ports, g.Flow.DstPort) {
		return false
	}
	if g.Flags&tcpRST != 0 || p.len() == 0 {
		return true
	}
	seq := g.Seq
	if g.Flags&tcpSYN != 0 {
		seq++
	}
	h.truncated = h.truncated || p.cut()
	h.payload = payload{off: p.off, size: p.len(), tcp: true, cut: p.cut(), seq: seq,
		key: blockKey{flow: link.Flow{Src: g.Flow.Src, Dst: g.Flow.Dst, SrcPort: g.Flow.SrcPort, DstPort: g.Flow.DstPort}}}
	return true
}
