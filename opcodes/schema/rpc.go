package schema

import "slices"

// Actions are bits for what an operation does, by which others tell operations apart. The
// protocol says which bits there are.
type Actions uint32

// RPC is an operation: its number, its name, and the buffers of its requests
// and replies, in one or several variants.
type RPC struct {
	Opcode   uint32
	Name     string
	Since    Since
	Doc      string
	Does     Actions // in all variants
	Retired  bool    // no release since 2.12 sends it
	OneWay   bool    // has no reply
	Variants []*Variant

	// Pick returns the variant of a request; nil: always the first. It reads at
	// most PickBytes[i] bytes of the buffer i behind the body.
	Pick      func(m *Msg) *Variant
	PickBytes []int // a Size or an Off in it needs Resolve

	// Common has the buffers that all variants share, for requests that are
	// truncated before the bytes that Pick reads; nil for a single variant.
	Common *Variant

	// PickReply returns the variant of a reply whose request was not captured;
	// nil: always the first.
	PickReply func(m *Msg) *Variant

	// Sub returns the variant of a message inside this one (batches).
	Sub func(m *Msg) *Variant

	// Context: replies or bulk data are read with the bytes of the request.
	Context bool
}

// Variant is one form of an RPC.
type Variant struct {
	Name    string // as RPC records show it; empty when the RPC has only one form
	Does    Actions
	Select  uint64 // bits in the request that select the variant, where Pick uses them
	Request []*Field
	Reply   []*Field
	Bulk    *BulkData

	// SummarizeRequest and SummarizeReply write the summary line of a
	// message.
	SummarizeRequest func(m *Msg, l *Line)
	SummarizeReply   func(m *Msg, l *Line)

	// InnerError returns the first error in a reply that is not in pb_status: of
	// the intent, of a range, of an update; 0 for success. Where the request
	// is known, results that are regular for it are no errors.
	InnerError func(m *Msg) int32

	// Subject returns the FID (16 bytes in the byte order of the message) and the
	// file name that the request is about; nil if it has none.
	Subject func(m *Msg) (fid, name []byte)
}

// NoSubject is the Subject of a request that has a FID and is about no file or object.
func NoSubject(*Msg) (fid, name []byte) { return nil, nil }

// NoSummary is of a message whose buffers hold nothing that its line should show.
func NoSummary(*Msg, *Line) {}

// String returns the name, which is empty for nil.
func (v *Variant) String() string {
	if v == nil {
		return ""
	}
	return v.Name
}

// As returns a copy of the variant under another name.
func (v *Variant) As(name string) *Variant {
	c := *v
	c.Name = name
	return &c
}

// BulkData describes the bulk data of an RPC.
type BulkData struct {
	Portal uint32
	Get    bool    // fetched by the server; else sent by it
	Type   *Struct // its layout; nil: file data
}

// SameReplies reports whether the replies of all variants have the same buffers.
func (r *RPC) SameReplies() bool {
	for _, v := range r.Variants[1:] {
		if !slices.Equal(v.Reply, r.Variants[0].Reply) {
			return false
		}
	}
	return true
}

// common is the variant of the buffers that are the same in all of them.
func (r *RPC) common() *Variant {
	if len(r.Variants) < 2 || r.Common != nil {
		return r.Common
	}
	v := &Variant{Request: r.Variants[0].Request, Reply: r.Variants[0].Reply}
	for _, o := range r.Variants[1:] {
		v.Request, v.Reply = samePrefix(v.Request, o.Request), samePrefix(v.Reply, o.Reply)
	}
	return v
}

func samePrefix(a, b []*Field) []*Field {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// Bufs lists the buffers of a message.
func Bufs(f ...*Field) []*Field { return f }
