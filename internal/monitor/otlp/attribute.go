package otlp

import (
	"math"

	"github.com/lshark/lshark/internal/monitor/protobuf"
)

// Attribute is a name with a value. An empty string as value means that the
// attribute is absent.
type Attribute struct {
	Key    string
	kind   attributeKind
	text   string
	number uint64 // integer, or float64 bits
}

type attributeKind uint8

const (
	stringKind attributeKind = iota + 1
	intKind
	floatKind
)

// String returns an attribute with a text.
func String(key, value string) Attribute {
	return Attribute{Key: key, kind: stringKind, text: value}
}

// Int returns an attribute with an integer.
func Int(key string, value int64) Attribute {
	return Attribute{Key: key, kind: intKind, number: uint64(value)}
}

// Float returns an attribute with a floating-point number.
func Float(key string, value float64) Attribute {
	return Attribute{Key: key, kind: floatKind, number: math.Float64bits(value)}
}

func (a *Attribute) absent() bool { return a.kind == stringKind && a.text == "" || a.kind == 0 }

// encodeAttributes appends the attributes that are not absent, as fields of type KeyValue.
func encodeAttributes(e *protobuf.Encoder, field protobuf.Number, list []Attribute) {
	for i := range list {
		a := &list[i]
		if a.absent() {
			continue
		}
		e.Message(field, "", func() {
			e.String(1, "key", a.Key)
			e.Message(2, "value", func() {
				switch a.kind {
				case stringKind:
					e.String(1, "stringValue", a.text)
				case intKind:
					e.Int(3, "intValue", int64(a.number))
				case floatKind:
					e.Double(4, "doubleValue", math.Float64frombits(a.number))
				}
			})
		})
	}
}

// Resource describes the sender of metrics and spans.
type Resource struct {
	Attributes          []Attribute // service.name, host.name, …
	Scope, ScopeVersion string      // the instrumentation scope: the program, and its release
}

// Set adds an attribute, or replaces the one of the same name.
func (r *Resource) Set(a Attribute) {
	for i := range r.Attributes {
		if r.Attributes[i].Key == a.Key {
			r.Attributes[i] = a
			return
		}
	}
	r.Attributes = append(r.Attributes, a)
}
