package otlp

import "github.com/lshark/lshark/internal/monitor/protobuf"

// Kind is the side of an RPC that a span describes.
type Kind uint8

// The values of Kind.
const (
	Client Kind = iota + 1
	Server
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

// Numbers of the message Span of opentelemetry/proto/trace/v1/trace.proto.
const (
	spanTraceID      = 1
	spanSpanID       = 2
	spanParentSpanID = 4
	spanName         = 5
	spanKind         = 6
	spanStart        = 7
	spanEnd          = 8
	spanAttributes   = 9
	spanEvents       = 11
	spanStatus       = 15
	spanFlags        = 16

	eventTime = 1
	eventName = 2

	statusMessage = 2
	statusCode    = 3

	kindServer = 2
	kindClient = 3

	statusError = 2

	flagSampled        = 0x001
	flagParentKnown    = 0x100
	flagParentIsRemote = 0x200
)

// number returns the SpanKind.
func (k Kind) number() int {
	if k == Server {
		return kindServer
	}
	return kindClient
}

func (s *Span) hasParent() bool { return s.Parent != (SpanID{}) }

func (s *Span) flags() uint32 {
	if s.hasParent() {
		return flagSampled | flagParentKnown | flagParentIsRemote
	}
	return flagSampled | flagParentKnown
}

func (s *Span) append(b []byte, field protobuf.Number) []byte {
	b, span := protobuf.Begin(b, field)
	b = protobuf.AppendBytes(b, spanTraceID, s.Trace[:])
	b = protobuf.AppendBytes(b, spanSpanID, s.ID[:])
	if s.hasParent() {
		b = protobuf.AppendBytes(b, spanParentSpanID, s.Parent[:])
	}
	b = protobuf.AppendString(b, spanName, s.Name)
	b = protobuf.AppendUint(b, spanKind, uint64(s.Kind.number()))
	start := max(s.Start, 0)
	b = protobuf.AppendFixed64(b, spanStart, uint64(start))
	b = protobuf.AppendFixed64(b, spanEnd, uint64(max(s.End, start)))
	b = appendAttributes(b, spanAttributes, s.Attributes)
	for _, e := range s.Events {
		var event int
		b, event = protobuf.Begin(b, spanEvents)
		b = protobuf.AppendFixed64(b, eventTime, uint64(max(e.Time, 0)))
		b = protobuf.End(protobuf.AppendString(b, eventName, e.Name), event)
	}
	if s.Error != "" {
		var status int
		b, status = protobuf.Begin(b, spanStatus)
		b = protobuf.AppendString(b, statusMessage, s.Error)
		b = protobuf.End(protobuf.AppendUint(b, statusCode, statusError), status)
	}
	b = protobuf.AppendFixed32(b, spanFlags, s.flags())
	return protobuf.End(b, span)
}
