package values

import (
	"encoding/binary"
	"math"
	"net/netip"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/lnet"
)

// Addresses of IP are replaced part by part: each octet of an IPv4 address and each group of an
// IPv6 address by a permutation that depends on the parts before it. So addresses that
// have their first parts in common still have them in common. A part keeps its number
// of digits, since the text of an address must not become longer than the
// buffer that it is in.

// IPv4 replaces an address. Addresses that have their first octets in common have replacements with
// as many octets in common, and each octet keeps its number of decimal digits. An octet of 0
// behind the first one stays, and so does 255 as the last one. Loopback, unspecified, multicast
// and broadcast addresses are not replaced, and are never a replacement.
func (p *Mapper) IPv4(a []byte) {
	if a[0] != 0 && a[0] != 127 && a[0] < 224 {
		copy(a, p.replace(ipv4s, a, (*Mapper).newIP))
	}
}

// newIP returns the replacement of an address of IPv4 or IPv6.
func (p *Mapper) newIP(a []byte) string {
	label, size, part := "ipv4", 1, p.octet
	if len(a) == 16 {
		label, size, part = "ipv6", 2, p.group
	}
	r := make([]byte, len(a))
	for i := 0; i < len(a); i += size {
		copy(r[i:], part(label, i, a[:i], a[i:i+size]))
	}
	for i := len(r) - 2*size; p.Flat && i >= 0; i -= size {
		copy(r[i:], part("flat "+label, i, r[i+size:], r[i:i+size]))
	}
	return string(r)
}

// octet returns the replacement of the octet at place i of an IPv4 address, which depends on others.
func (p *Mapper) octet(label string, i int, others, octet []byte) []byte {
	x, first, last := uint64(octet[0]), uint64(1), [...]uint64{223, 255, 255, 254}[i]
	if x == 0 || x > last {
		return octet
	}
	for 10*first <= x {
		first *= 10
	}
	var kept []uint64
	if i == 0 {
		kept = []uint64{127} // loopback
	}
	return []byte{byte(p.keyed.numberIn(label, others, x, first, min(last, 10*first-1), kept...))}
}

// IPv6 replaces an address, with the properties of IPv4 for its groups of 16 bits and hexadecimal
// digits. Groups of 0 stay. Unique local, link-local and global addresses stay of their kind, as
// do multicast ones. In an IPv4-mapped address, the IPv4 address is replaced as by IPv4.
func (p *Mapper) IPv6(a []byte) {
	switch ip := netip.AddrFrom16([16]byte(a)); {
	case isSolicitedNode(a):
		p.nodeBits(a[13:])
	case ip.IsUnspecified() || ip.IsLoopback() || ip.IsMulticast():
	case ip.Is4In6():
		p.IPv4(a[12:])
	default:
		copy(a, p.replace(ipv6s, a, (*Mapper).newIP))
	}
}

// isSolicitedNode reports whether an address is a solicited-node multicast one, which
// ends with the last 24 bits of the address of a node.
func isSolicitedNode(a []byte) bool {
	return a[0] == 0xff && a[1] == 2 && binary.BigEndian.Uint64(a[2:]) == 0 && a[10] == 0 && a[11] == 1 && a[12] == 0xff
}

// nodeBits replaces the last 24 bits of the address of a node where they are in a multicast address.
func (p *Mapper) nodeBits(low []byte) {
	copy(low, p.keyed.bytes(len(low), "solicited node", 0, low))
}

// group returns the replacement of the group at place i of an IPv6 address, which depends
// on others.
func (p *Mapper) group(label string, i int, others, group []byte) []byte {
	x := uint64(binary.BigEndian.Uint16(group))
	first, last := digitRange(x)
	switch {
	case i > 0:
	case x >= 0xfe80 && x <= 0xfebf:
		first, last = x, x
	case x >= 0xfc00 && x <= 0xfdff:
		first, last = x&0xff00, x|0xff
	case x >= 0x2000 && x <= 0x3fff:
		first, last = 0x2000, 0x3fff
	case x >= 0x1000:
		first, last = 0x4000, 0xfbff
		if x < first || x > last {
			first, last = x, x
		}
	}
	if x != 0 {
		x = p.keyed.numberIn(label, others, x, first, last)
	}
	return binary.BigEndian.AppendUint16(nil, uint16(x))
}

// digitRange returns the range of the numbers with as many hexadecimal digits.
func digitRange(x uint64) (first, last uint64) {
	first = 1
	for x >= first<<4 {
		first <<= 4
	}
	return first, first<<4 - 1
}

// MAC replaces an Ethernet address by a locally administered one without the vendor's part. Group
// addresses stay, as their numbers are fixed by standards or follow from IP multicast addresses;
// that of a solicited-node one is replaced.
func (p *Mapper) MAC(a []byte) {
	const group, local = 1, 2
	switch {
	case a[0] == 0x33 && a[1] == 0x33 && a[2] == 0xff:
		p.nodeBits(a[3:])
	case a[0]&group == 0 && [6]byte(a) != [6]byte{}:
		copy(a, p.replace(macs, a, func(p *Mapper, a []byte) string {
			r := p.keyed.bytes(len(a), "mac", 0, a)[:len(a)]
			r[0] = r[0]&^group | local
			return string(r)
		}))
	}
}

// GUID replaces an InfiniBand GUID.
func (p *Mapper) GUID(a []byte) {
	if [8]byte(a) != [8]byte{} {
		copy(a, p.replace(guids, a, func(p *Mapper, a []byte) string { return string(p.keyed.bytes(len(a), "guid", 0, a)[:len(a)]) }))
	}
}

// GID replaces an InfiniBand GID: the GUID in a link-local one, others as an IPv6 address.
// Multicast GIDs stay.
func (p *Mapper) GID(a []byte) {
	if a[0] == 0xfe && a[1] == 0x80 {
		p.GUID(a[8:])
	} else {
		p.IPv6(a)
	}
}

// LID replaces an InfiniBand LID. Multicast LIDs, 0 and the permissive LID stay.
func (p *Mapper) LID(a []byte) {
	const last = 0xbfff
	if lid := binary.BigEndian.Uint16(a); lid != 0 && lid <= last {
		x := p.replaceNumber(lids, uint64(lid), func(p *Mapper, x uint64) uint64 { return p.keyed.numberIn("lid", nil, x, 1, last) })
		binary.BigEndian.PutUint16(a, uint16(x))
	}
}

// Network types of NIDs.
const (
	lndTCP      = 2
	lndO2IB     = 5
	lndLoopback = 9
	lndGIP      = 14
	lndAny      = 0xff
)

// NID returns the replacement of a NID: the same network with the replacement of its
// address. The NID of the loopback stays.
func (p *Mapper) NID(n lnet.NID) lnet.NID {
	switch {
	case n.Len == 0 || n.Type == lndLoopback || n.Type == lndAny:
	case n.Len == 16:
		p.IPv6(n.Addr[:])
	case n.Type == lndTCP || n.Type == lndO2IB || n.Type == lndGIP:
		p.IPv4(n.Addr[:4])
	default:
		a := binary.BigEndian.Uint32(n.Addr[:])
		binary.BigEndian.PutUint32(n.Addr[:], uint32(p.decimal("nid", uint64(a))))
	}
	return n
}

// NID4 returns the replacement of a NID of 8 bytes.
func (p *Mapper) NID4(v uint64) uint64 {
	n := p.NID(lnet.NID4(v))
	return v&^0xffffffff | uint64(binary.BigEndian.Uint32(n.Addr[:]))
}

func (p *Mapper) nid16(out, in []byte) {
	const header = 4
	n := lnet.NID16(in)
	if len(in) < header+int(n.Len) {
		return
	}
	copy(out[:header], in)
	r := p.NID(n)
	copy(out[header:header+int(n.Len)], r.Addr[:])
}

func (p *Mapper) ipv4Number(v uint64) uint64 {
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], uint32(v))
	p.IPv4(a[:])
	return uint64(binary.BigEndian.Uint32(a[:]))
}

// ID returns the replacement of the ID of a user, group or project. It has the same
// number of decimal digits, as names of jobs may have the ID in them. 0, 65534, 65535 and
// the last two numbers of 32 and 64 bits stay.
func (p *Mapper) ID(id uint64) uint64 {
	if keptID(id) {
		return id
	}
	return p.replaceNumber(ids, id, func(p *Mapper, id uint64) uint64 { return p.decimal("id", id) })
}

// keptIDs stay: they stand for root, for nobody, and for no user, in 16, 32 and 64 bits.
var keptIDs = []uint64{0, 65534, math.MaxUint16, math.MaxUint32 - 1, math.MaxUint32, math.MaxUint64 - 1, math.MaxUint64}

func keptID(id uint64) bool { return slices.Contains(keptIDs, id) }

// decimal replaces a number by one with as many decimal digits. A number that fits into 32
// bits is replaced by one that fits, too. Numbers that are kept as IDs stay.
func (p *Mapper) decimal(label string, x uint64) uint64 {
	if keptID(x) {
		return x
	}
	first, last := uint64(1), uint64(math.MaxUint64)
	for x/first >= 10 {
		first *= 10
	}
	if first <= math.MaxUint64/10 {
		last = 10*first - 1
	}
	if x <= math.MaxUint32 {
		last = min(last, math.MaxUint32)
	} else {
		first = max(first, math.MaxUint32+1)
	}
	return p.keyed.numberIn(label, strconv.AppendUint(nil, first, 10), x, first, last, keptIDs...)
}
