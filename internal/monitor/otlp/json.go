package otlp

import (
	"encoding/json"
	"fmt"
	"math"
)

// ResourceSpans are spans of one sender.
type ResourceSpans struct {
	Resource Resource
	Spans    []Span
}

// AppendJSON appends an ExportTraceServiceRequest in the JSON mapping of OTLP, without a
// newline in it: receivers accept it at /v1/traces, and a file of such lines is what the file
// receiver of a collector reads. Ids are in hexadecimal, integers of 64 bits are decimal
// strings, enumerations are numbers.
func AppendJSON(dst []byte, of []ResourceSpans) []byte {
	return appendJSONList(dst, `{"resourceSpans":[`, of, ResourceSpans.appendJSON, "]}")
}

func (r ResourceSpans) appendJSON(b []byte) []byte {
	b = appendJSONAttributes(b, `{"resource":{"attributes":[`, r.Resource.Attributes)
	b = fmt.Appendf(b, `},"scopeSpans":[{"scope":{"name":%s,"version":%s}`, quoted(r.Resource.Scope), quoted(r.Resource.ScopeVersion))
	return appendJSONList(b, `,"spans":[`, r.Spans, Span.appendJSON, "]}]}")
}

func (s Span) appendJSON(b []byte) []byte {
	b = fmt.Appendf(b, `{"traceId":"%s","spanId":"%s"`, s.Trace, s.ID)
	if s.hasParent() {
		b = fmt.Appendf(b, `,"parentSpanId":"%s"`, s.Parent)
	}
	start := max(s.Start, 0)
	b = fmt.Appendf(b, `,"flags":%d,"name":%s,"kind":%d,"startTimeUnixNano":"%d","endTimeUnixNano":"%d"`,
		s.flags(), quoted(s.Name), s.Kind.number(), start, max(s.End, start))
	b = appendJSONAttributes(b, `,"attributes":[`, s.Attributes)
	if len(s.Events) > 0 {
		b = appendJSONList(b, `,"events":[`, s.Events, func(e Event, b []byte) []byte {
			return fmt.Appendf(b, `{"timeUnixNano":"%d","name":%s}`, max(e.Time, 0), quoted(e.Name))
		}, "]")
	}
	if s.Error != "" {
		b = fmt.Appendf(b, `,"status":{"message":%s,"code":%d}`, quoted(s.Error), statusError)
	}
	return append(b, '}')
}

func appendJSONAttributes(b []byte, begin string, list []Attribute) []byte {
	var present []Attribute
	for _, a := range list {
		if !a.absent() {
			present = append(present, a)
		}
	}
	return appendJSONList(b, begin, present, func(a Attribute, b []byte) []byte {
		b = fmt.Appendf(b, `{"key":%s,"value":`, quoted(a.Key))
		switch a.kind {
		case stringKind:
			return fmt.Appendf(b, `{"stringValue":%s}}`, quoted(a.text))
		case floatKind:
			return fmt.Appendf(b, `{"doubleValue":%s}}`, quoted(math.Float64frombits(a.number)))
		default:
			return fmt.Appendf(b, `{"intValue":"%d"}}`, int64(a.number))
		}
	}, "]")
}

func appendJSONList[T any](b []byte, begin string, list []T, one func(T, []byte) []byte, end string) []byte {
	b = append(b, begin...)
	for i, x := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(x, b)
	}
	return append(b, end...)
}

// quoted returns a text or a number as JSON has it.
func quoted(v any) []byte {
	text, _ := json.Marshal(v) // neither has no JSON
	return text
}
