package schema

import (
	"slices"
)

// RequestFormat is a request format of Lustre's layout.c: RQF_LDLM_INTENT_OPEN. The
// declarations have its buffers as variants of operations.
type RequestFormat struct {
	Name     string
	RPCs     []uint32 // opcodes
	Variants []string // names; empty: all
	Doc      string   // empty: nothing to add to the buffers
	With     string   // buffer that tells variants of one name apart; empty: none
}

// FormatBuffer is the name that layout.c has for a buffer.
type FormatBuffer struct {
	Name   string // RMF_DLM_REQ
	Buffer string // dlm_req; empty when no message has the buffer
	Struct string // what such a buffer holds; empty: text
}

// FormatUse is an operation with the variants that have a request format.
type FormatUse struct {
	RPC      *RPC
	Variants []*Variant
}

// Uses returns the operations and variants that have the format.
func (g *Registry) Uses(f *RequestFormat) (uses []FormatUse) {
	for _, opcode := range f.RPCs {
		u := FormatUse{RPC: g.ByOpcode(opcode)}
		for _, v := range u.RPC.Variants {
			with := f.With == "" || slices.ContainsFunc(v.Request, func(b *Field) bool { return b.Name == f.With })
			if with && (len(f.Variants) == 0 || slices.Contains(f.Variants, v.Name)) {
				u.Variants = append(u.Variants, v)
			}
		}
		uses = append(uses, u)
	}
	return uses
}

// buffers returns the operations that have a buffer.
func (x *Index) buffers(name string) (list []Place) {
	for _, p := range x.places[name] {
		if x.reg.StructNamed(p.In) == nil {
			list = append(list, p)
		}
	}
	return list
}
