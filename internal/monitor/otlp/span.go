package otlp

import "github.com/lshark/lshark/internal/monitor/protobuf"

// Kind is the side of an RPC that a span describes, as SpanKind numbers it.
type Kind uint8

// The values of Kind.
const (
	Server Kind = iota + 2
	Client
)

// Span is one RPC as one side sees it.
type Span struct {
	Trace      TraceID
	ID, Parent SpanID // Parent is zero for a span without a parent
	Name       string
	Kind       Kind
	Start, End int64  // nanoseconds since 1970
	Error      string // what went wrong; empty if nothing did
	Attributes []Attribute
	Events     []Event
}

// Event is something that happened during a span.
type Event struct {
	Time int64 // nanoseconds since 1970
	Name string
}

// Flags of a span.
const (
	flagSampled        = 0x001
	flagParentKnown    = 0x100
	flagParentIsRemote = 0x200
)

// Append appends the span, encoded for Resource.Wrap.
func (s *Span) Append(dst []byte) []byte {
	e := protobuf.Encoder{Buf: dst}
	s.encode(&e)
	return e.Buf
}

// encode appends the span, as a field of ScopeSpans.
func (s *Span) encode(e *protobuf.Encoder) {
	const statusError = 2
	e.Message(scopeItems, "", func() {
		e.Bytes(1, "traceId", s.Trace[:])
		e.Bytes(2, "spanId", s.ID[:])
		flags := uint32(flagSampled | flagParentKnown)
		if s.Parent != (SpanID{}) {
			e.Bytes(4, "parentSpanId", s.Parent[:])
			flags |= flagParentIsRemote
		}
		start := max(s.Start, 0)
		e.Fixed32(16, "flags", flags)
		e.String(5, "name", s.Name)
		e.Uint(6, "kind", uint64(s.Kind))
		e.Fixed64(7, "startTimeUnixNano", uint64(start))
		e.Fixed64(8, "endTimeUnixNano", uint64(max(s.End, start)))
		e.List("attributes", func() { encodeAttributes(e, 9, s.Attributes) })
		if len(s.Events) > 0 {
			e.List("events", func() {
				for i := range s.Events {
					e.Message(11, "", func() {
						e.Fixed64(1, "timeUnixNano", uint64(max(s.Events[i].Time, 0)))
						e.String(2, "name", s.Events[i].Name)
					})
				}
			})
		}
		if s.Error != "" {
			e.Message(15, "status", func() {
				e.String(2, "message", s.Error)
				e.Uint(3, "code", statusError)
			})
		}
	})
}
