package otlp

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"unicode/utf8"

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

// attributeKind is the number of the field of AnyValue that has the value.
type attributeKind uint8

const (
	stringKind attributeKind = 1
	intKind    attributeKind = 3
	floatKind  attributeKind = 4
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

// append appends the attribute as a field of type KeyValue, with at most limit
// bytes of its text.
func (a *Attribute) append(b []byte, field protobuf.Number, limit int) []byte {
	b, pair := protobuf.Begin(b, field)
	b = protobuf.AppendString(b, 1, cut(a.Key, maxText))
	b, value := protobuf.Begin(b, 2)
	switch a.kind {
	case stringKind:
		b = protobuf.AppendString(b, protobuf.Number(stringKind), cut(a.text, limit))
	case floatKind:
		b = protobuf.AppendFixed64(b, protobuf.Number(floatKind), a.number)
	default:
		b = protobuf.AppendUint(b, protobuf.Number(a.kind), a.number)
	}
	return protobuf.End(protobuf.End(b, value), pair)
}

func appendText(b []byte, field protobuf.Number, key, value string) []byte {
	a := String(key, value)
	return a.append(b, field, len(value))
}

// cut returns the first n bytes of s or, where that would split a rune, up to
// three bytes less.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for back := range utf8.UTFMax {
		if n >= back && utf8.RuneStart(s[n-back]) {
			return s[:n-back]
		}
	}
	return s[:n]
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

// NewResource returns the resource of a program on a host. The variables
// OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME, which getenv returns, take
// precedence over its arguments. The host is the service.instance.id, too,
// which becomes the label instance in Prometheus.
func NewResource(service, version, host string, getenv func(string) string) (Resource, error) {
	r := Resource{Scope: service, ScopeVersion: version}
	r.Set(String("service.name", service))
	r.Set(String("service.version", version))
	r.Set(String("service.instance.id", host))
	r.Set(String("host.name", host))
	pairs, err := parsePairs(getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		return Resource{}, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	for _, p := range pairs {
		r.Set(String(p.key, p.value))
	}
	if name := getenv("OTEL_SERVICE_NAME"); name != "" {
		r.Set(String("service.name", name))
	}
	return r, nil
}

// keyValue is a name with a value, as a variable of OpenTelemetry has it.
type keyValue struct{ key, value string }

// parsePairs parses name=value,name=value with values in percent-encoding, as
// the variables of OpenTelemetry have them. Its errors show no values.
func parsePairs(text string) ([]keyValue, error) {
	var pairs []keyValue
	for i, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return nil, fmt.Errorf("pair %d is not of the form name=value", i+1)
		}
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("the value of %q is not in percent-encoding", name)
		}
		pairs = append(pairs, keyValue{name, value})
	}
	return pairs, nil
}
