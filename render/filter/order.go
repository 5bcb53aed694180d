package filter

import (
	"bytes"
	"cmp"
	"net/netip"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// order compares a value with a literal. It returns -1, 0 or 1, and whether they
// can be compared.
func order(v *records.Value, l *literal) (int, bool) {
	switch v.Type {
	case records.Seconds, records.Duration:
		return cmp.Compare(secondsOf(v), l.seconds), l.isSeconds
	case records.Time:
		return cmp.Compare(int64(v.U), l.ns), l.isTime
	case records.Text:
		return bytes.Compare(v.Text, l.text), true
	case records.FID:
		return orderFID(v, l), l.isFID
	case records.NID:
		return equality(l.matchesNID(v.NID)), l.isNID
	case records.Address:
		return equality(l.matchesAddr(v.Addr)), l.isAddr
	case records.Bool:
		return equality(l.truth > 0), l.truth != 0
	case records.Object:
		return 0, false
	}
	return orderNumber(v, l)
}

func secondsOf(v *records.Value) float64 {
	if v.Type == records.Seconds {
		return float64(v.U)
	}
	return float64(int64(v.U)) / 1e9
}

// isSigned reports whether a number is in two's complement.
func isSigned(v *records.Value) bool { return v.Type == records.Int || v.Type == records.Status }

func isNumber(t records.Type) bool {
	switch t {
	case records.Uint, records.Int, records.Decimal, records.Hex, records.Enum, records.Flags, records.Status:
		return true
	}
	return false
}

// equality returns 0 for equal values of a type without an order, and 1 for
// others.
func equality(equal bool) int {
	if equal {
		return 0
	}
	return 1
}

func orderNumber(v *records.Value, l *literal) (int, bool) {
	u, ok := l.u, l.isNum
	if named, found := l.byName[v.Names]; found && v.Names != nil {
		if part := v.Names.Mask; part != 0 && (named == 0 || named&part != 0) {
			return cmp.Compare(v.U&part, named&part), true
		}
		u, ok = named, true
	}
	if l.errno != 0 && !ok {
		if isSigned(v) && int64(v.U) < 0 {
			return cmp.Compare(uint64(-int64(v.U)), uint64(l.errno)), true
		}
		return cmp.Compare(v.U, uint64(l.errno)), true
	}
	if !ok {
		return 0, false
	}
	switch {
	case isSigned(v):
		return cmp.Compare(int64(v.U), int64(u)), true
	case l.neg: // a negative number is below all unsigned ones
		return 1, true
	}
	return cmp.Compare(v.U, u), true
}

func orderFID(v *records.Value, l *literal) int {
	return cmp.Or(cmp.Compare(v.U, l.fid.Seq), cmp.Compare(v.OID, l.fid.OID), cmp.Compare(v.Ver, l.fid.Ver))
}

func (l *literal) matchesNID(n lnet.NID) bool {
	if !l.isNID || n.Len != l.nid.Len || !l.anyNetwork && (n.Type != l.nid.Type || n.Num != l.nid.Num) {
		return false
	}
	whole := l.nidBits / 8
	if !bytes.Equal(n.Addr[:whole], l.nid.Addr[:whole]) {
		return false
	}
	if rest := l.nidBits % 8; rest > 0 {
		mask := byte(0xff << (8 - rest))
		return n.Addr[whole]&mask == l.nid.Addr[whole]&mask
	}
	return true
}

func (l *literal) matchesAddr(a netip.AddrPort) bool {
	return l.isAddr && l.prefix.Contains(a.Addr().Unmap()) && (l.port == 0 || l.port == a.Port())
}

// appendValue appends the text of a value, for contains and matches: as -T fields prints it, but text
// of the wire as it is.
func appendValue(dst []byte, v *records.Value) []byte {
	t := *v
	switch {
	case t.Type == records.Text:
		return append(dst, t.Text...)
	case t.Names == nil || !isNumber(t.Type):
	case t.Names.Flags:
		t.Type = records.Flags
	default:
		t.Type = records.Enum
	}
	return render.AppendValue(dst, &t)
}
