package lnet

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
)

// Append appends the NID as Lustre prints it.
func (n NID) Append(dst []byte) []byte {
	if n.Len == 0 {
		return dst
	}
	return schema.AppendNID(dst, n.Addr[:min(int(n.Len), len(n.Addr))], n.Type, n.Num)
}

func (n NID) String() string { return string(n.Append(nil)) }

// ParseNID reads a NID such as 192.0.2.1@tcp or fd00::1@tcp1.
func ParseNID(s string) (NID, bool) {
	addr, net, ok := strings.Cut(s, "@")
	if !ok {
		return NID{}, false
	}
	lnd, num, ok := schema.ParseNetwork(net)
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
