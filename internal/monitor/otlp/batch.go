package otlp

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lshark/lshark/internal/monitor/protobuf"
)

// batch is the body of one request: spans or metrics, behind room for the
// messages that enclose them. Their lengths are known only at the end.
type batch struct {
	data     []byte
	start    int    // where the body begins in data, after seal
	items    uint64 // spans, or data points
	snapshot uint64 // number of the snapshot that the data points are from
}

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

const maxResourceText = 4096

func newEnvelope(r *Resource) envelope {
	resource, start := protobuf.Begin(nil, resourceResource)
	for i := range r.Attributes {
		if a := &r.Attributes[i]; !a.absent() {
			resource = a.append(resource, resourceAttributes, maxResourceText)
		}
	}
	resource = protobuf.End(resource, start)
	scope, start := protobuf.Begin(nil, scopeScope)
	scope = protobuf.AppendString(scope, scopeName, r.Scope)
	scope = protobuf.End(protobuf.AppendString(scope, scopeVersion, r.ScopeVersion), start)
	return envelope{resource, scope}
}

// room returns the maximum of bytes before the first item.
func (e *envelope) room() int {
	return 2*(1+binary.MaxVarintLen32) + len(e.resource) + len(e.scope)
}

func (e *envelope) reset(b *batch) {
	room := e.room()
	if cap(b.data) < room {
		b.data = make([]byte, room)
	}
	b.data, b.start, b.items = b.data[:room], room, 0
}

// seal writes the enclosing messages before the items of a batch.
func (e *envelope) seal(b *batch) {
	var head [1 + binary.MaxVarintLen64]byte
	prepend := func(part []byte) {
		b.start -= len(part)
		copy(b.data[b.start:], part)
	}
	prepend(e.scope)
	prependLength := func(field protowire.Number) {
		tag := protowire.AppendTag(head[:0], field, protowire.BytesType)
		prepend(protowire.AppendVarint(tag, uint64(len(b.data)-b.start)))
	}
	prependLength(resourceScopes)
	prepend(e.resource)
	prependLength(requestResources)
}

func (b *batch) body() []byte { return b.data[b.start:] }
