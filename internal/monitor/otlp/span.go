package otlp

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/internal/monitor/protobuf"
)

// Kind is the side of an RPC that a span describes.
type Kind uint8

// The values of Kind.
const (
	Client Kind = iota + 1
	Server
)

// Span is one RPC as one side sees it. An Exporter keeps nothing of it, so a
// Span can be reused with its slices.
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

// Clone returns a copy with slices and texts of its own.
func (s *Span) Clone() Span {
	c := *s
	c.Name, c.Error = strings.Clone(s.Name), strings.Clone(s.Error)
	c.Attributes, c.Events = slices.Clone(s.Attributes), slices.Clone(s.Events)
	for i := range c.Attributes {
		c.Attributes[i].text = strings.Clone(c.Attributes[i].text)
	}
	return c
}

// Event is something that happened during a span.
type Event struct {
	Time       int64 // nanoseconds since 1970
	Name       string
	Attributes []Attribute
}

// Bounds of one span. What exceeds them is left out, and counted in the span.
const (
	maxAttributes      = 64 // of a span
	maxEventAttributes = 8
	maxEvents          = 32
	maxText            = 1024      // bytes of a name or value
	maxSpanBytes       = 128 << 10 // a longer span is dropped as a whole
)

// Numbers of the message Span of opentelemetry/proto/trace/v1/trace.proto.
const (
	spanTraceID           = 1
	spanSpanID            = 2
	spanParentSpanID      = 4
	spanName              = 5
	spanKind              = 6
	spanStart             = 7
	spanEnd               = 8
	spanAttributes        = 9
	spanDroppedAttributes = 10
	spanEvents            = 11
	spanDroppedEvents     = 12
	spanStatus            = 15
	spanFlags             = 16

	eventTime              = 1
	eventName              = 2
	eventAttributes        = 3
	eventDroppedAttributes = 4

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
	b = protobuf.AppendString(b, spanName, cut(s.Name, maxText))
	b = protobuf.AppendUint(b, spanKind, uint64(s.Kind.number()))
	start := max(s.Start, 0)
	b = protobuf.AppendFixed64(b, spanStart, uint64(start))
	b = protobuf.AppendFixed64(b, spanEnd, uint64(max(s.End, start)))
	b = appendAttributes(b, s.Attributes, maxAttributes, spanAttributes, spanDroppedAttributes)
	for i := range min(len(s.Events), maxEvents) {
		b = s.Events[i].append(b, spanEvents)
	}
	if n := len(s.Events) - maxEvents; n > 0 {
		b = protobuf.AppendUint(b, spanDroppedEvents, uint64(n))
	}
	if s.Error != "" {
		var status int
		b, status = protobuf.Begin(b, spanStatus)
		b = protobuf.AppendString(b, statusMessage, cut(s.Error, maxText))
		b = protobuf.End(protobuf.AppendUint(b, statusCode, statusError), status)
	}
	b = protobuf.AppendFixed32(b, spanFlags, s.flags())
	return protobuf.End(b, span)
}

func (e *Event) append(b []byte, field protobuf.Number) []byte {
	b, event := protobuf.Begin(b, field)
	b = protobuf.AppendFixed64(b, eventTime, uint64(max(e.Time, 0)))
	b = protobuf.AppendString(b, eventName, cut(e.Name, maxText))
	b = appendAttributes(b, e.Attributes, maxEventAttributes, eventAttributes, eventDroppedAttributes)
	return protobuf.End(b, event)
}

// appendAttributes appends at most limit attributes, and the number of those
// that are left out.
func appendAttributes(b []byte, attributes []Attribute, limit int, field, dropped protobuf.Number) []byte {
	n := 0
	for i := range attributes {
		if a := &attributes[i]; !a.absent() {
			if n++; n <= limit {
				b = a.append(b, field, maxText)
			}
		}
	}
	if n > limit {
		b = protobuf.AppendUint(b, dropped, uint64(n-limit))
	}
	return b
}
