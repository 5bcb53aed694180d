package opcodes

import (
	"slices"

	. "github.com/lshark/lshark/opcodes/schema"
)

// InferOpcode returns the operation of a request of which only the lengths of the buffers are
// known, if no other operation has requests with such buffers. Older releases have fewer of
// them, and newer ones longer structs.
func InferOpcode(lens []int) (opcode uint32, ok bool) {
	for _, r := range Protocol.RPCs() {
		if r.Retired || !slices.ContainsFunc(r.Variants, func(v *Variant) bool { return mayHave(v.Request, lens) }) {
			continue
		}
		if ok {
			return 0, false
		}
		opcode, ok = r.Opcode, true
	}
	return opcode, ok
}

// mayHave reports whether buffers can have these lengths.
func mayHave(buffers []*Field, lens []int) bool {
	if len(lens) > len(buffers) {
		return false
	}
	for i, n := range lens {
		if f := buffers[i]; n > 0 && n < leastSize(f) {
			return false
		}
	}
	return true
}

// leastSize returns the size of the shortest form of a buffer that is not empty.
func leastSize(f *Field) int {
	switch {
	case f.Kind == Record:
		return min(f.Type.Size, slices.Min(append(f.Type.Shorter, f.Type.Size)))
	case f.Kind == Union:
		return 0
	}
	return f.Size
}

// ErrorVariant returns a variant by which the error inside a reply without its request is read: any,
// where all variants of the operation find the same error; else nil.
func ErrorVariant(opcode uint32, m *Msg) *Variant {
	op := ByOpcode(opcode)
	if op == nil || m == nil || len(op.Variants) == 0 {
		return nil
	}
	var first int32
	for i, v := range op.Variants {
		if v.InnerError == nil {
			return nil
		}
		if errno := v.InnerError(m); i == 0 {
			first = errno
		} else if errno != first {
			return nil
		}
	}
	return op.Variants[0]
}
