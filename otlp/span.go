package otlp

// Kind is the side of a call that a span describes.
type Kind uint8

// The values of Kind.
const (
	Client Kind = iota + 1
	Server
)

// Span is one call as one side sees it. An Exporter keeps nothing of it, so a
// Span can be reused with its slices.
type Span struct {
	Trace      TraceID
	ID, Parent SpanID // Parent is zero if there is none
	Name       string
	Kind       Kind
	Start, End int64  // nanoseconds since 1970
	Error      string // what went wrong; empty if nothing did
	Attributes []Attribute
	Events     []Event
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

// append appends the span as a field of a message.
func (s *Span) append(b []byte, field uint64) []byte {
	b, span := begin(b, field)
	b = appendBytes(b, spanTraceID, s.Trace[:])
	b = appendBytes(b, spanSpanID, s.ID[:])
	flags := uint32(flagSampled | flagParentKnown)
	if s.Parent != (SpanID{}) {
		b = appendBytes(b, spanParentSpanID, s.Parent[:])
		flags |= flagParentIsRemote
	}
	b = appendString(b, spanName, cut(s.Name, maxText))
	if s.Kind == Server {
		b = appendUint(b, spanKind, kindServer)
	} else {
		b = appendUint(b, spanKind, kindClient)
	}
	start := max(s.Start, 0)
	b = appendFixed64(b, spanStart, uint64(start))
	b = appendFixed64(b, spanEnd, uint64(max(s.End, start)))
	b = appendAttributes(b, s.Attributes, maxAttributes, spanAttributes, spanDroppedAttributes)
	for i := range min(len(s.Events), maxEvents) {
		b = s.Events[i].append(b, spanEvents)
	}
	if n := len(s.Events) - maxEvents; n > 0 {
		b = appendUint(b, spanDroppedEvents, uint64(n))
	}
	if s.Error != "" {
		var status int
		b, status = begin(b, spanStatus)
		b = appendString(b, statusMessage, cut(s.Error, maxText))
		b = end(appendUint(b, statusCode, statusError), status)
	}
	b = appendFixed32(b, spanFlags, flags)
	return end(b, span)
}

func (e *Event) append(b []byte, field uint64) []byte {
	b, event := begin(b, field)
	b = appendFixed64(b, eventTime, uint64(max(e.Time, 0)))
	b = appendString(b, eventName, cut(e.Name, maxText))
	b = appendAttributes(b, e.Attributes, maxEventAttributes, eventAttributes, eventDroppedAttributes)
	return end(b, event)
}

// appendAttributes appends at most limit attributes, and the number of those
// that are left out.
func appendAttributes(b []byte, attributes []Attribute, limit int, field, dropped uint64) []byte {
	n := 0
	for i := range attributes {
		if a := &attributes[i]; !a.absent() {
			if n++; n <= limit {
				b = a.append(b, field, maxText)
			}
		}
	}
	if n > limit {
		b = appendUint(b, dropped, uint64(n-limit))
	}
	return b
}
