package filter

import (
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/records"
	"github.com/lshark/lshark/track"
)

// RPCFilter is a compiled filter over the RPCs of one track.Pairing. A comparison
// of messages is made with each message of an RPC and holds when it does for
// one of them; the results are kept as bits until the RPC has ended.
type RPCFilter struct {
	Text  string
	marks []func(*subject) bool
	held  track.Attached[uint64] // a bit for each of marks
	match func(*subject) bool
	of    subject
}

// maxMarks is the number of bits that are kept of an RPC.
const maxMarks = 64

// Mark compares a message that belongs to an RPC.
func (f *RPCFilter) Mark(m *records.Message, r *track.RPC) {
	f.of.msg = m
	held := f.held.Of(r)
	for i, holds := range f.marks {
		if *held>>i&1 == 0 && holds(&f.of) {
			*held |= 1 << i
		}
	}
}

// Match reports whether the filter holds for an RPC that has ended. It is to be
// called once for each, in the Done hook of the RPCs.
func (f *RPCFilter) Match(r *track.RPC) bool {
	held := f.held.Of(r)
	f.of.rpc, f.of.held = r, *held
	*held = 0
	return f.match(&f.of)
}

// CompileRPC reads a filter over RPCs. An error is an *Error.
func CompileRPC(text string) (*RPCFilter, error) {
	e, err := parse(text)
	if err != nil {
		return nil, err
	}
	f := &RPCFilter{Text: text}
	c := &compiler{text: text, index: opcodes.NewIndex(), rpc: f}
	if f.match, err = c.expr(e); err != nil {
		return nil, err
	}
	return f, nil
}

// marked makes a question to messages one to the bits of their RPC.
func (c *compiler) marked(e *expr, ask func(*subject) bool) (func(*subject) bool, error) {
	i := len(c.rpc.marks)
	if i == maxMarks {
		return nil, c.fail(e.field, "more than "+strconv.Itoa(maxMarks)+" comparisons of messages", "")
	}
	c.rpc.marks = append(c.rpc.marks, ask)
	return func(s *subject) bool { return s.held>>i&1 != 0 }, nil
}

// rpcField finds a key of RPCs by a name that begins with their prefix.
func (c *compiler) rpcField(t token) (*field, error) {
	if c.rpc == nil {
		if p, ok := records.MessageKey(t.text); ok {
			return keyField(p, messageOf), nil
		}
	}
	p, ok := records.RPCs.Find(strings.TrimPrefix(t.text, records.RPCs.Prefix))
	switch {
	case !ok:
		return nil, c.fail(t, "there is no field "+t.text, DidYouMean(schema.Nearest(t.text, rpcNames(), 3)))
	case c.rpc == nil:
		return nil, c.fail(t, t.text+" is known of whole RPCs, and messages are looked at here", "lshark rpcs and lshark stats know it")
	}
	f := keyField(p, rpcOf)
	f.rpc = true
	return f, nil
}

func rpcNames() (names []string) {
	for _, e := range records.RPCs.Entries() {
		names = append(names, e.Name)
	}
	return names
}
