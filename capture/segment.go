package capture

import (
	"encoding/binary"
	"net/netip"
)

// segment names a TCP segment, so that it is known again in another capture.
type segment struct {
	flow
	seq, size uint32
}

type flow struct {
	src, dst netip.AddrPort
}

func (f flow) back() flow { return flow{f.dst, f.src} }

// segmentOf finds the TCP segment with payload that a frame carries. IP
// fragments, extension headers and tunnels are not looked into.
func segmentOf(f *Frame) (segment, bool) {
	l, known := layouts[f.Link]
	if !known {
		return segment{}, false
	}
	ip := f.Data
	for tags := 0; l.etype >= 0; tags++ {
		at := l.typeOffset(tags)
		if tags > maxTags || len(f.Data) < max(at+2, l.packet(tags)) {
			return segment{}, false
		}
		ip = f.Data[l.packet(tags):]
		if kind := binary.BigEndian.Uint16(f.Data[at:]); kind != 0x8100 && kind != 0x88a8 {
			break
		}
	}
	if l.etype < 0 {
		ip = ip[min(l.header, len(ip)):]
	}
	var s segment
	header, total := 0, 0
	switch {
	case len(ip) >= 20 && ip[0]>>4 == 4 && ip[ip4Proto] == 6 &&
		binary.BigEndian.Uint16(ip[ip4Fragment:])&(fragmentBits|0x2000) == 0:
		header, total = int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
		s.src = netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[ip4Source:])), 0)
		s.dst = netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[ip4Dest:])), 0)
	case len(ip) >= ip6Header && ip[0]>>4 == 6 && ip[ip6Next] == 6:
		header, total = ip6Header, ip6Header+int(binary.BigEndian.Uint16(ip[4:]))
		s.src = netip.AddrPortFrom(netip.AddrFrom16([16]byte(ip[ip6Source:])), 0)
		s.dst = netip.AddrPortFrom(netip.AddrFrom16([16]byte(ip[ip6Dest:])), 0)
	default:
		return segment{}, false
	}
	if len(ip) < header+20 {
		return segment{}, false
	}
	tcp := ip[header:]
	payload := total - header - int(tcp[12]>>4)*4
	s.src = netip.AddrPortFrom(s.src.Addr(), binary.BigEndian.Uint16(tcp))
	s.dst = netip.AddrPortFrom(s.dst.Addr(), binary.BigEndian.Uint16(tcp[2:]))
	s.seq, s.size = binary.BigEndian.Uint32(tcp[4:]), uint32(payload)
	return s, payload > 0
}
