package filter

import (
	"cmp"

	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// order compares a value with a literal. It returns -1, 0 or 1, and whether they
// can be compared.
func order(v *records.Value, l *literal) (int, bool) {
	if by := l.by[v.Type]; by != nil {
		return by(v), true
	}
	if isNumber(v.Type) {
		return orderNumber(v, l)
	}
	return 0, false
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
