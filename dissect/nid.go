package dissect

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes"
)

// Append appends the NID as Lustre prints it.
func (n NID) Append(dst []byte) []byte {
	if n.Len == 0 {
		return dst
	}
	return opcodes.AppendNID(dst, n.Addr[:min(int(n.Len), len(n.Addr))], n.Type, n.Num)
}

func (n NID) String() string { return string(n.Append(nil)) }

// ParseNID reads a NID such as 192.0.2.1@tcp or fd00::1@tcp1.
func ParseNID(s string) (NID, bool) {
	addr, net, ok := strings.Cut(s, "@")
	if !ok {
		return NID{}, false
	}
	lnd, num, ok := opcodes.ParseNetwork(net)
	if !ok {
		return NID{}, false
	}
	n := NID{Type: lnd, Num: num}
	if a, err := netip.ParseAddr(addr); err == nil {
		n.Len = uint8(copy(n.Addr[:], a.AsSlice()))
		return n, true
	}
	u, err := strconv.ParseUint(addr, 0, 32)
	if err != nil {
		return NID{}, false
	}
	n.Len = 4
	for i := range 4 {
		n.Addr[i] = byte(u >> (24 - 8*i))
	}
	return n, true
}

// NIDFrom4 is the NID of an 8-byte number.
func NIDFrom4(u uint64) NID {
	n := NID{Len: 4, Type: uint8(u >> 48), Num: uint16(u >> 32)}
	for i := range 4 {
		n.Addr[i] = byte(u >> (24 - 8*i))
	}
	return n
}

// NIDFromBytes reads a struct lnet_nid.
func NIDFromBytes(b []byte) NID {
	if len(b) < 4 {
		return NID{}
	}
	n := NID{Type: b[1], Num: uint16(b[2])<<8 | uint16(b[3])}
	n.Len = uint8(copy(n.Addr[:min(int(b[0])+4, 16)], b[4:]))
	return n
}
