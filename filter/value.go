package filter

import (
	"bytes"
	"net/netip"
	"strconv"

	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// class is what a value can be compared as.
type class uint8

const (
	number  class = iota // unsigned, or signed when value.signed
	seconds              // a duration
	text
	fidClass
	nidClass
	address // IP address and port
)

// value is one value of a field in a message.
type value struct {
	class  class
	signed bool
	u      uint64
	f      float64 // seconds
	b      []byte  // text
	oid    uint32  // FID: u is the sequence
	ver    uint32
	nid    lnet.NID
	addr   netip.AddrPort
	names  *schema.Names
}

// literal is the right side of a comparison, read as everything that it can
// be; which reading counts depends on the value it meets.
type literal struct {
	text   []byte
	isNum  bool
	neg    bool // the number is negative: u is its two's complement
	u      uint64
	isSec  bool
	f      float64
	isFID  bool
	seq    uint64
	oid    uint32
	ver    uint32
	isNID  bool
	nid    lnet.NID
	bits   int // of the address that count
	anyNet bool
	isAddr bool
	prefix netip.Prefix
	port   uint16
	byName map[*schema.Names]uint64
	errno  int64 // positive number of an errno's name, 0: none
}

// order compares a value with a literal: -1, 0, 1, and whether they can be
// compared at all.
func order(v *value, l *literal) (int, bool) {
	switch v.class {
	case number:
		return orderNumber(v, l)
	case seconds:
		switch {
		case !l.isSec:
			return 0, false
		case v.f < l.f:
			return -1, true
		case v.f > l.f:
			return 1, true
		}
		return 0, true
	case text:
		return bytes.Compare(v.b, l.text), true
	case fidClass:
		if !l.isFID {
			return 0, false
		}
		return orderFID(v, l), true
	case nidClass:
		return same(l.matchesNID(v.nid)), l.isNID
	}
	return same(l.matchesAddr(v.addr)), l.isAddr
}

func same(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

func orderNumber(v *value, l *literal) (int, bool) {
	u, ok := l.u, l.isNum
	if named, found := l.byName[v.names]; found && v.names != nil {
		if part := v.names.Part; part != 0 && (named == 0 || named&part != 0) {
			return compare(v.u&part, named&part), true
		}
		u, ok = named, true
	}
	if l.errno != 0 && !ok {
		if v.signed && int64(v.u) < 0 {
			return compare(uint64(-int64(v.u)), uint64(l.errno)), true
		}
		return compare(v.u, uint64(l.errno)), true
	}
	if !ok {
		return 0, false
	}
	if v.signed || l.neg {
		a, b := int64(v.u), int64(u)
		switch {
		case !v.signed: // a negative number is below all that have no sign
			return 1, true
		case a < b:
			return -1, true
		case a > b:
			return 1, true
		}
		return 0, true
	}
	return compare(v.u, u), true
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func orderFID(v *value, l *literal) int {
	if c := compare(v.u, l.seq); c != 0 {
		return c
	}
	if c := compare(uint64(v.oid), uint64(l.oid)); c != 0 {
		return c
	}
	return compare(uint64(v.ver), uint64(l.ver))
}

func (l *literal) matchesNID(n lnet.NID) bool {
	if !l.isNID || n.Len != l.nid.Len || !l.anyNet && (n.Type != l.nid.Type || n.Num != l.nid.Num) {
		return false
	}
	whole := l.bits / 8
	if !bytes.Equal(n.Addr[:whole], l.nid.Addr[:whole]) {
		return false
	}
	if rest := l.bits % 8; rest > 0 {
		mask := byte(0xff << (8 - rest))
		return n.Addr[whole]&mask == l.nid.Addr[whole]&mask
	}
	return true
}

func (l *literal) matchesAddr(a netip.AddrPort) bool {
	return l.isAddr && l.prefix.Contains(a.Addr().Unmap()) && (l.port == 0 || l.port == a.Port())
}

// append puts a value into text, for contains and matches.
func (v *value) append(dst []byte) []byte {
	switch v.class {
	case text:
		return append(dst, v.b...)
	case fidClass:
		return schema.AppendFID(dst, v.u, v.oid, v.ver)
	case nidClass:
		return v.nid.Append(dst)
	case address:
		return v.addr.AppendTo(dst)
	case number:
		return v.appendNumber(dst)
	}
	return dst
}

func (v *value) appendNumber(dst []byte) []byte {
	if v.names == nil {
		if v.signed {
			return strconv.AppendInt(dst, int64(v.u), 10)
		}
		return strconv.AppendUint(dst, v.u, 10)
	}
	if !v.names.Flags {
		return append(dst, v.names.Name(v.u)...)
	}
	n := len(dst)
	v.names.Set(v.u, func(b *schema.Value) {
		if len(dst) > n {
			dst = append(dst, '|')
		}
		dst = append(dst, b.Name...)
	})
	return dst
}
