package filter

import (
	"bytes"
	"net/netip"
	"strconv"

	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/records"
)

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
	truth  int8 // 1: true, -1: false, 0: neither
	byName map[*schema.Names]uint64
	errno  int64 // positive number of an errno's name, 0: none
}

// order compares a value with a literal: -1, 0, 1, and whether they can be
// compared at all.
func order(v *records.Value, l *literal) (int, bool) {
	switch v.Type {
	case records.Seconds, records.Duration, records.Time:
		return orderSeconds(secondsOf(v), l)
	case records.Text:
		return bytes.Compare(v.Text, l.text), true
	case records.FID:
		return orderFID(v, l), l.isFID
	case records.NID:
		return same(l.matchesNID(v.NID)), l.isNID
	case records.Address:
		return same(l.matchesAddr(v.Addr)), l.isAddr
	case records.Bool:
		return same(l.truth > 0), l.truth != 0
	case records.Object:
		return 0, false
	}
	return orderNumber(v, l)
}

// secondsOf is the value of a key that is a time.
func secondsOf(v *records.Value) float64 {
	if v.Type == records.Seconds {
		return float64(v.U)
	}
	return float64(int64(v.U)) / 1e9
}

func orderSeconds(f float64, l *literal) (int, bool) {
	switch {
	case !l.isSec:
		return 0, false
	case f < l.f:
		return -1, true
	case f > l.f:
		return 1, true
	}
	return 0, true
}

// isSigned reports whether a number is in two's complement.
func isSigned(v *records.Value) bool { return v.Type == records.Int || v.Type == records.Status }

// isNumber reports whether values of a type are numbers or have numbers.
func isNumber(t records.Type) bool {
	switch t {
	case records.Uint, records.Int, records.Decimal, records.Hex, records.Enum, records.Flags, records.Status:
		return true
	}
	return false
}

func same(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

func orderNumber(v *records.Value, l *literal) (int, bool) {
	u, ok := l.u, l.isNum
	if named, found := l.byName[v.Names]; found && v.Names != nil {
		if part := v.Names.Part; part != 0 && (named == 0 || named&part != 0) {
			return compare(v.U&part, named&part), true
		}
		u, ok = named, true
	}
	if l.errno != 0 && !ok {
		if isSigned(v) && int64(v.U) < 0 {
			return compare(uint64(-int64(v.U)), uint64(l.errno)), true
		}
		return compare(v.U, uint64(l.errno)), true
	}
	if !ok {
		return 0, false
	}
	if isSigned(v) || l.neg {
		a, b := int64(v.U), int64(u)
		switch {
		case !isSigned(v): // a negative number is below all that have no sign
			return 1, true
		case a < b:
			return -1, true
		case a > b:
			return 1, true
		}
		return 0, true
	}
	return compare(v.U, u), true
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

func orderFID(v *records.Value, l *literal) int {
	if c := compare(v.U, l.seq); c != 0 {
		return c
	}
	if c := compare(uint64(v.OID), uint64(l.oid)); c != 0 {
		return c
	}
	return compare(uint64(v.Ver), uint64(l.ver))
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

// appendValue appends the text of a value, for contains and matches.
func appendValue(dst []byte, v *records.Value) []byte {
	switch v.Type {
	case records.Text:
		return append(dst, v.Text...)
	case records.FID:
		return schema.AppendFID(dst, v.U, v.OID, v.Ver)
	case records.NID:
		return v.NID.Append(dst)
	case records.Address:
		return v.Addr.AppendTo(dst)
	}
	if isNumber(v.Type) {
		return appendNumber(dst, v)
	}
	return dst
}

func appendNumber(dst []byte, v *records.Value) []byte {
	if v.Names == nil {
		if isSigned(v) {
			return strconv.AppendInt(dst, int64(v.U), 10)
		}
		return strconv.AppendUint(dst, v.U, 10)
	}
	if !v.Names.Flags {
		return append(dst, v.Names.Name(v.U)...)
	}
	n := len(dst)
	v.Names.Set(v.U, func(b *schema.Value) {
		if len(dst) > n {
			dst = append(dst, '|')
		}
		dst = append(dst, b.Name...)
	})
	return dst
}
