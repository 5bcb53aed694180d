package schema

import (
	"slices"
	"strings"
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

// formatNamed returns the request format, or the buffer, that has a name in
// layout.c.
func (x *Index) formatNamed(name string) []Topic {
	for _, f := range x.reg.Formats() {
		if strings.EqualFold(f.Name, name) {
			return []Topic{{Format: f}}
		}
	}
	for _, b := range x.reg.FormatBuffers() {
		if !strings.EqualFold(b.Name, name) {
			continue
		}
		t := Topic{Buffer: b, Field: b.Buffer}
		for _, p := range x.places[b.Buffer] {
			if x.reg.StructNamed(p.In) == nil {
				t.Places = append(t.Places, p)
			}
		}
		return []Topic{t}
	}
	return nil
}
