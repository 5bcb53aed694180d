package filter

import (
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// RPCFilter is a compiled filter over the RPCs of one track.Pairing. A comparison
// of messages is made with each message of an RPC and holds when it does for
// one of them; the results are kept as bits until the RPC has ended.
type RPCFilter struct {
	messageTests []func(*subject) bool
	passed       track.Attached[uint64] // a bit for each of messageTests
	match        func(*subject) bool
	subject      subject
}

// maxMessageTests is the number of bits that are kept of an RPC.
const maxMessageTests = 64

// Mark compares a message that belongs to an RPC.
func (f *RPCFilter) Mark(m *records.Message, r *track.RPC) {
	f.subject.msg = m
	passed := f.passed.Of(r)
	for i, holds := range f.messageTests {
		if *passed>>i&1 == 0 && holds(&f.subject) {
			*passed |= 1 << i
		}
	}
}

// ReadsMessages reports whether the filter compares messages: without Mark, these
// comparisons do not hold.
func (f *RPCFilter) ReadsMessages() bool { return len(f.messageTests) > 0 }

// Match reports whether the filter holds for an RPC that has ended. It is to be
// called once for each, in the Done hook of the RPCs.
func (f *RPCFilter) Match(r *track.RPC) bool {
	passed := f.passed.Of(r)
	f.subject.rpc, f.subject.passed = r, *passed
	*passed = 0
	return f.match(&f.subject)
}

// CompileRPC compiles a filter over RPCs. The error is an *Error.
func CompileRPC(text string) (*RPCFilter, error) {
	f := &RPCFilter{}
	match, err := (&compiler{text: text, index: opcodes.FieldIndex(), rpc: f}).compile()
	if err != nil {
		return nil, err
	}
	f.match = match
	return f, nil
}

// perMessage compiles a comparison of messages into a look at the bit that the
// comparison left for the RPC.
func (c *compiler) perMessage(e *expr, match func(*subject) bool) (func(*subject) bool, error) {
	i := len(c.rpc.messageTests)
	if i == maxMessageTests {
		return nil, c.fail(e.field, "more than "+strconv.Itoa(maxMessageTests)+" comparisons with messages", "")
	}
	c.rpc.messageTests = append(c.rpc.messageTests, match)
	return func(s *subject) bool { return s.passed>>i&1 != 0 }, nil
}

// RecordFilter is a compiled filter over records of one kind, such as locks. It is
// not safe for concurrent use.
type RecordFilter[R any] struct {
	match   func(*subject) bool
	subject subject
}

// Match reports whether the filter holds for a record. It does for all when f is
// nil.
func (f *RecordFilter[R]) Match(r R) bool {
	if f == nil {
		return true
	}
	f.subject.record = r
	return f.match(&f.subject)
}

// CompileRecord compiles a filter over records, by their keys with or without the
// prefix. The error is an *Error.
func CompileRecord[R any](keys *records.Table[R], text string) (*RecordFilter[R], error) {
	c := &compiler{text: text}
	c.record = func(t token) (*field, error) { return recordField(c, keys, t) }
	match, err := c.compile()
	if err != nil {
		return nil, err
	}
	return &RecordFilter[R]{match: match}, nil
}

// recordField finds a key of records, or a value of one: NAME.VALUE.
func recordField[R any](c *compiler, keys *records.Table[R], t token) (*field, error) {
	of := func(s *subject) R { return s.record.(R) }
	if p, ok := keys.Find(strings.TrimPrefix(t.text, keys.Prefix)); ok {
		return keyField(t.text, p, of), nil
	}
	if i := strings.LastIndexByte(t.text, '.'); i > 0 {
		if p, ok := keys.Find(strings.TrimPrefix(t.text[:i], keys.Prefix)); ok && p.Key.Names != nil {
			return c.bit(keyField(t.text[:i], p, of), t, t.text[i+1:])
		}
	}
	return nil, c.fail(t, "unknown key of "+keys.Record+" records: "+t.text, DidYouMean(schema.Nearest(t.text, RecordNames(keys), 3)))
}

// RecordNames lists the names that filters over records of a kind know.
func RecordNames[R any](keys *records.Table[R]) (names []string) {
	for _, e := range keys.Entries() {
		names = append(names, e.Name)
	}
	return names
}
