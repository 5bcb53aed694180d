package otlp

import (
	"slices"

	"github.com/lshark/lshark/internal/monitor/protobuf"
)

// envelope has what encloses the spans or metrics of every request. Requests
// for both have the same form: a list of resources with a list of scopes each.
type envelope struct {
	resource []byte // the field of the enclosing message, with its tag
	scope    []byte
}

// Field numbers of ExportTraceServiceRequest, ResourceSpans and ScopeSpans, and
// of their counterparts for metrics.
const (
	requestResources   = 1
	resourceResource   = 1
	resourceAttributes = 1
	resourceScopes     = 2
	scopeScope         = 1
	scopeName          = 1
	scopeVersion       = 2
	scopeItems         = 2
)

func newEnvelope(r *Resource) envelope {
	resource, start := protobuf.Begin(nil, resourceResource)
	resource = protobuf.End(appendAttributes(resource, resourceAttributes, r.Attributes), start)
	scope, start := protobuf.Begin(nil, scopeScope)
	scope = protobuf.AppendString(scope, scopeName, r.Scope)
	scope = protobuf.End(protobuf.AppendString(scope, scopeVersion, r.ScopeVersion), start)
	return envelope{resource, scope}
}

// wrap returns the body of a request with spans or metrics.
func (e *envelope) wrap(items []byte) []byte {
	b, request := protobuf.Begin(nil, requestResources)
	b = slices.Grow(b, len(e.resource)+len(e.scope)+len(items)+20) // with the lengths
	b, scopes := protobuf.Begin(append(b, e.resource...), resourceScopes)
	b = append(append(b, e.scope...), items...)
	return protobuf.End(protobuf.End(b, scopes), request)
}
