package filter

import (
	"strconv"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render/records"
)

// RPCFilter is a compiled filter over the RPCs of one track.Pairing. A comparison
// of messages is made with each message of an RPC and holds when it does for
// one of them; the results are kept as bits until the RPC has ended.
type RPCFilter struct {
	messageTests []matcher
	passed       track.Attached[uint64] // a bit for each of messageTests
	match        matcher
	subject      subject
}

// maxMessageTests is the number of bits that are kept of an RPC.
const maxMessageTests = 64

// Mark compares a message that belongs to an RPC.
func (f *RPCFilter) Mark(m *records.Message, r *track.RPC) {
	f.subject.record = m
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
	f.subject.record, f.subject.passed = r, *passed
	*passed = 0
	return f.match(&f.subject)
}

// CompileRPC compiles a filter over RPCs. The error is an *Error.
func CompileRPC(text string) (*RPCFilter, error) {
	f := &RPCFilter{}
	match, err := (&compiler{rpc: f}).compile(text)
	if err != nil {
		return nil, err
	}
	f.match = match
	return f, nil
}

// perMessage compiles a comparison of messages into a look at the bit that the
// comparison left for the RPC.
func (c *compiler) perMessage(name token, m matcher) matcher {
	i := len(c.rpc.messageTests)
	if i == maxMessageTests {
		c.reject(name, "more than "+strconv.Itoa(maxMessageTests)+" comparisons with messages", "")
	}
	c.rpc.messageTests = append(c.rpc.messageTests, m)
	return func(s *subject) bool { return s.passed>>i&1 != 0 }
}
