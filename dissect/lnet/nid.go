package lnet

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
)

// NID is an LNet network identifier: an address and a network. NIDs can be
// compared with ==, whatever form they had on the wire.
type NID struct {
	Addr [16]byte
	Len  uint8  // bytes of Addr in use: 4 or 16, the others are zero; 0 in the zero NID
	Type uint8  // LND type: 2 tcp, 5 o2ib, 9 lo …; 0xff any
	Num  uint16 // network number
}

// NID4 decodes a NID of the 8-byte form.
func NID4(v uint64) (n NID) {
	n.set4(v)
	return n
}

// set4 is NID4 in place, for each message: a copy of a struct whose small fields were written just
// before stalls the processor.
func (n *NID) set4(v uint64) {
	n.Addr = [16]byte{}
	binary.BigEndian.PutUint32(n.Addr[:], uint32(v))
	n.Len, n.Type, n.Num = 4, uint8(v>>48), uint16(v>>32)
	if v == 0 {
		n.Len = 0
	}
}

// NID16 decodes a NID of the 20-byte form, struct lnet_nid. Its first byte is the
// size of the address less four.
func NID16(b []byte) NID {
	if len(b) < 4 {
		return NID{}
	}
	n := NID{Len: 4, Type: b[1], Num: binary.BigEndian.Uint16(b[2:])}
	switch {
	case n.Type == nidAny:
		n.Num = 0xffff
	case b[0] == 12:
		n.Len = 16
	}
	copy(n.Addr[:n.Len], b[4:])
	if n == (NID{Len: 4}) {
		n.Len = 0
	}
	return n
}

const nidAny = 0xff

// typeTCP is the LND type of socklnd.
const typeTCP = 2

// IsTCP reports whether the NID is one of a TCP network, where its address is that of a host.
func (n NID) IsTCP() bool { return n.Type == typeTCP }

// IsAt reports whether the address of the NID is that of a host.
func (n NID) IsAt(host netip.Addr) bool {
	a, ok := netip.AddrFromSlice(n.Addr[:n.Len])
	return ok && a == host
}

// plausible reports whether the network type is one of those in use.
func (n NID) plausible() bool {
	switch n.Type {
	case 2, 5, 9, 13, 14, 15, 16, 17, 18, 19:
		return n.Len > 0
	}
	return false
}

// Append appends the NID in the notation of Lustre, such as 192.0.2.1@tcp.
func (n NID) Append(dst []byte) []byte {
	if n.Len == 0 {
		return dst
	}
	return schema.AppendNID(dst, n.Addr[:min(int(n.Len), len(n.Addr))], n.Type, n.Num)
}

func (n NID) String() string { return string(n.Append(nil)) }

// IsLoopback reports whether a NID is on the network of a node with itself: 0@lo.
func (n NID) IsLoopback() bool { return n.Type == loopback }

// loopback is the type of that network.
const loopback = 9

// AddressNID returns a NID without a network, for the end of a message that has no NIDs.
func AddressNID(a netip.AddrPort) (n NID) {
	n.Len = uint8(copy(n.Addr[:], a.Addr().Unmap().AsSlice()))
	return n
}

// ParseNID parses a NID such as 192.0.2.1@tcp or fd00::1@tcp1.
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
