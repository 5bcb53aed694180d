package otlp

import "github.com/lshark/lshark/internal/monitor/protobuf"

// Requests for spans and for metrics have the same form: a list of resources with a list of scopes
// each, with a list of spans or metrics.

const scopeItems = 2 // number of the field of ScopeSpans and ScopeMetrics

// Wrap returns the body of a request with encoded spans or metrics.
func (r *Resource) Wrap(items []byte) []byte {
	const envelope = 1 << 10 // bytes of a usual resource
	e := protobuf.Encoder{Buf: make([]byte, 0, len(items)+envelope)}
	r.encode(&e, func() { e.Buf = append(e.Buf, items...) })
	return e.Buf
}

// encode appends ResourceSpans or ResourceMetrics, with what items appends.
func (r *Resource) encode(e *protobuf.Encoder, items func()) {
	e.Message(1, "", func() {
		e.Message(1, "resource", func() {
			e.List("attributes", func() { encodeAttributes(e, 1, r.Attributes) })
		})
		e.List("scopeSpans", func() {
			e.Message(2, "", func() {
				e.Message(1, "scope", func() {
					e.String(1, "name", r.Scope)
					e.String(2, "version", r.ScopeVersion)
				})
				items()
			})
		})
	})
}

// ResourceSpans are spans of one sender.
type ResourceSpans struct {
	Resource Resource
	Spans    []Span
}

// AppendJSON appends an ExportTraceServiceRequest in the JSON mapping of OTLP, without a newline in
// it: receivers accept it at /v1/traces, and a file of such lines is what the file receiver of a
// collector reads.
func AppendJSON(dst []byte, of []ResourceSpans) []byte {
	e := protobuf.NewJSON(dst)
	e.List("resourceSpans", func() {
		for i := range of {
			of[i].Resource.encode(&e, func() {
				e.List("spans", func() {
					for k := range of[i].Spans {
						of[i].Spans[k].encode(&e)
					}
				})
			})
		}
	})
	return append(e.Buf, '}')
}
