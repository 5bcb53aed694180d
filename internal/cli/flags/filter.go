package flags

import (
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

// compile compiles a display filter, nil for an empty one.
func compile[F any](text string, compiled func(string) (*F, error)) (*F, error) {
	if text == "" {
		return nil, nil
	}
	return compiled(text)
}

// Filter compiles a display filter for records with these keys; nil, which matches all, when it is empty.
func Filter[R any](display string, keys *records.Table[R]) (*filter.RecordFilter[R], error) {
	return compile(display, func(text string) (*filter.RecordFilter[R], error) { return filter.CompileRecord(keys, text) })
}

// MessageFilter reports whether a message matches a display filter; first is the time of the first frame of the capture.
type MessageFilter = func(m *dissect.Message, first int64) bool

// Messages compiles a display filter for messages. All match an empty one.
func Messages(display string) (MessageFilter, error) {
	f, err := compile(display, filter.Compile)
	var msg records.Message
	return func(m *dissect.Message, first int64) bool {
		if f == nil {
			return true
		}
		msg.Set(m, first)
		return f.Match(&msg)
	}, err
}

// RPCFilter is a display filter for RPCs. The zero value matches all.
type RPCFilter struct {
	// Nested reports whether the filter may use keys of nested RPCs, which are followed only
	// for those who need them.
	Nested bool

	filter *filter.RPCFilter
	msg    records.Message
}

// RPCs compiles a display filter for RPCs.
func RPCs(display string) (*RPCFilter, error) {
	f, err := compile(display, filter.CompileRPC)
	return &RPCFilter{Nested: UsesNested(display), filter: f}, err
}

// UsesNested reports whether a filter or the name of a column has a key of nested RPCs.
func UsesNested(text string) bool {
	return strings.Contains(text, "nested") || strings.Contains(text, "own_time")
}

// Mark compares one of the messages of an RPC with the parts of the filter that are about
// messages, and keeps the result for Match; first is the time of the first frame of the
// capture.
func (f *RPCFilter) Mark(m *dissect.Message, first int64, r *track.RPC) {
	if f.filter == nil {
		return
	}
	if m.Target == "" {
		m.Target = r.Target()
	}
	f.msg.Set(m, first)
	f.filter.Mark(&f.msg, r)
}

// Match reports whether an RPC that has ended matches.
func (f *RPCFilter) Match(r *track.RPC) bool { return f.filter == nil || f.filter.Match(r) }

// FID is the value of a flag that takes a FID.
type FID struct {
	Text  string
	Value track.FID
}

// IsSet reports whether the flag was given.
func (v *FID) IsSet() bool { return v.Text != "" }

func (v *FID) String() string { return v.Text }
func (*FID) Type() string     { return "FID" }

func (v *FID) Set(text string) error {
	seq, oid, ver, ok := schema.ParseFID(text)
	*v = FID{text, track.FID{Seq: seq, OID: oid, Ver: ver}}
	if !ok && text != "" {
		return exit.Usagef("--fid %s: must be a FID, such as 0x200000401:0x1:0x0", text)
	}
	return nil
}
