package monitor

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/monitor/otlp"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

// Selection chooses RPCs: those that match the filter, and those in the sample. With
// neither it chooses all.
type Selection struct {
	Filter *filter.RPCFilter // nil: none
	Sample uint64            // one of so many RPCs is in the sample; 0: no sample
}

// IsAll reports whether every RPC is selected.
func (s *Selection) IsAll() bool { return s.Filter == nil && s.Sample == 0 }

type selector struct {
	Selection
	msg    records.Message
	client []byte // NID, scratch space
}

// mark compares a message of an RPC with the filter; first is the time of the first frame.
func (s *selector) mark(r *track.RPC, m *dissect.Message, first int64) {
	if s.Filter != nil && s.Filter.ReadsMessages() {
		s.msg.Set(m, first)
		s.Filter.Mark(&s.msg, r)
	}
}

// match reports whether an RPC that has ended is selected. It is called once for each.
func (s *selector) match(r *track.RPC) bool {
	if s.IsAll() {
		return true
	}
	matches := s.Filter != nil && s.Filter.Match(r)
	return matches || s.Sample != 0 && s.traceOf(r).Sampled(s.Sample)
}

// traceOf returns the trace of an RPC, which is computed from what both of its ends see. So
// sensors at both ends have the same RPCs in the sample.
func (s *selector) traceOf(r *track.RPC) otlp.TraceID {
	s.client = r.Client.Append(s.client[:0])
	return otlp.TraceOf(text(s.client), r.XID)
}
