package anonymize

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/internal/checksum"
)

// sumState is what is known of the checksum in the original frame.
type sumState uint8

const (
	sumRight   sumState = iota // or not to be verified, as the frame was cut
	sumPartial                 // of the pseudo header alone: the network card adds the rest
	sumWrong
	sumAbsent // zero
)

// sum is a checksum of a frame that has to be made when its payload is known. Offsets are
// those in the frame.
type sum struct {
	state    sumState
	isUDP    bool   // 0 stands for no checksum
	at       int    // offset of the checksum
	from, to int    // what it covers, as far as it was captured
	pseudo   uint16 // sum of the pseudo header
	header   networkHeader
	network  int // of an ICRC: offset of that header; from is that of the BTH
}

// networkHeader is the header with which the bytes begin that an ICRC covers.
type networkHeader uint8

const (
	notICRC    networkHeader = iota // but the checksum of IP, TCP, UDP, ICMP or GRE
	headerIPv4                      // and UDP
	headerIPv6                      // and UDP
	headerGRH
	headerLRH
	headerLRHGlobal // and GRH
)

// addSum adds a checksum of a transport to those to be set, if it was captured. It covers
// the part p. The proto is that of the pseudo header, 0 for none.
func (h *headers) addSum(s sum, proto byte, p part) {
	if s.at+2 > p.end {
		return
	}
	s.from, s.to = p.off, p.end
	var pseudo [6]byte // what the pseudo header has besides the addresses
	if proto != 0 {
		pseudo[1] = proto
		binary.BigEndian.PutUint32(pseudo[2:], uint32(p.wire))
		s.pseudo = checksum.Add(h.addresses.before, pseudo[:])
	}
	s.state = s.internetState(h.in, p.cut())
	if proto != 0 {
		s.pseudo = checksum.Add(h.addresses.after, pseudo[:])
	}
	h.keep(s.at + 2)
	h.sums = append(h.sums, s)
}

// addICRC adds the ICRC of a packet of InfiniBand, from its BTH on, with headers of size bytes.
func (h *headers) addICRC(p part, size int) {
	if p.cut() || p.wire < size+ib.ICRCSize {
		return
	}
	s := sum{at: p.off + p.wire - ib.ICRCSize, from: p.off, network: h.network, header: h.begin}
	switch binary.LittleEndian.Uint32(h.in[s.at:]) {
	case s.icrc(h.in):
	case 0:
		s.state = sumAbsent
	default:
		s.state = sumWrong
	}
	h.keep(p.end)
	h.sums = append(h.sums, s)
}

// internetState returns the state of a checksum in the original frame b. It was cut if not
// all bytes that it covers were captured.
func (s *sum) internetState(b []byte, cut bool) sumState {
	stored := binary.BigEndian.Uint16(b[s.at:])
	switch {
	case stored == 0 && s.isUDP:
		return sumAbsent
	case cut && s.pseudo != 0 && stored == s.pseudo:
		return sumPartial
	case cut || checksum.Add(s.pseudo, b[s.from:s.to]) == 0xffff:
		return sumRight
	case stored == 0:
		return sumAbsent
	case s.pseudo != 0 && stored == s.pseudo:
		return sumPartial
	}
	return sumWrong
}

// set writes the checksum into the rewritten frame b. One that was wrong stays wrong.
func (s *sum) set(b []byte) {
	field := b[s.at:]
	switch {
	case s.state == sumAbsent:
		return
	case s.header != notICRC:
		v := s.icrc(b)
		if s.state == sumWrong {
			v = ^v
		}
		binary.LittleEndian.PutUint32(field, v)
		return
	case s.state == sumPartial:
		binary.BigEndian.PutUint16(field, s.pseudo)
		return
	}
	binary.BigEndian.PutUint16(field, 0)
	v := ^checksum.Add(s.pseudo, b[s.from:s.to])
	if v == 0 && s.isUDP {
		v = 0xffff
	}
	if s.state == sumWrong {
		v ^= 0x5555
	}
	binary.BigEndian.PutUint16(field, v)
}

// maxNetworkHeaders is the size of an IPv4 header with options, UDP and BTH.
const maxNetworkHeaders = 60 + 8 + 12

// icrc returns the CRC over a packet from its network header to the end of its payload,
// for which the fields that change on the way count as ones. A packet without LRH has
// eight bytes of ones instead.
func (s *sum) icrc(b []byte) uint32 {
	var head [maxNetworkHeaders + 8]byte
	masked := head[:0]
	begin := s.network
	if s.header != headerLRH && s.header != headerLRHGlobal {
		masked = append(masked, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	}
	n := len(masked)
	masked = append(masked, b[begin:s.from+ib.BTHSize]...)
	h := masked[n:]
	switch s.header {
	case headerIPv4:
		h[1], h[8], h[10], h[11] = 0xff, 0xff, 0xff, 0xff // TOS, TTL, checksum
	case headerIPv6, headerGRH:
		maskIPv6(h)
	case headerLRHGlobal:
		maskIPv6(h[ib.LRHSize:])
	}
	switch s.header {
	case headerIPv4, headerIPv6:
		udp := h[s.from-begin-udpSize:]
		udp[6], udp[7] = 0xff, 0xff
	case headerLRH, headerLRHGlobal:
		h[0] |= 0xf0 // virtual lane
	}
	h[s.from-begin+4] = 0xff // of the BTH
	crc := crc32.Update(0, crc32.IEEETable, masked)
	return crc32.Update(crc, crc32.IEEETable, b[s.from+ib.BTHSize:s.at])
}

// maskIPv6 sets the traffic class, flow label and hop limit of an IPv6 header or GRH to
// ones.
func maskIPv6(h []byte) {
	h[0] |= 0xf
	h[1], h[2], h[3], h[7] = 0xff, 0xff, 0xff, 0xff
}
