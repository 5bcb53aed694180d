// Package protobuf writes protobuf messages without generated code, whose descriptors every
// start of a program would pay for.
package protobuf

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lshark/lshark/opcodes/schema"
)

// Number is the number of a field.
type Number = protowire.Number

// Encoder appends fields of a message to Buf. Each has its number, and its name in the JSON mapping.
type Encoder struct {
	Buf []byte

	isJSON bool // see NewJSON
}

// NewJSON returns an Encoder that appends a message to dst in the JSON mapping of OTLP, up to the brace at
// its end: bytes are in hexadecimal, integers of 64 bits are decimal strings, enumerations are numbers.
func NewJSON(dst []byte) Encoder { return Encoder{Buf: append(dst, '{'), isJSON: true} }

// tag appends what is in front of a value, and reports whether the value is to be written as JSON.
// An element of a list has no name.
func (e *Encoder) tag(n Number, name string, t protowire.Type) (json bool) {
	if !e.isJSON {
		e.Buf = protowire.AppendTag(e.Buf, n, t)
		return false
	}
	if last := e.Buf[len(e.Buf)-1]; last != '{' && last != '[' {
		e.Buf = append(e.Buf, ',')
	}
	if name != "" {
		e.Buf = fmt.Appendf(e.Buf, "%q:", name)
	}
	return true
}

// number appends a number, in JSON in a format.
func (e *Encoder) number(n Number, name string, t protowire.Type, v uint64, format string) {
	switch isJSON := e.tag(n, name, t); {
	case isJSON:
		e.Buf = fmt.Appendf(e.Buf, format, v)
	case t == protowire.VarintType:
		e.Buf = protowire.AppendVarint(e.Buf, v)
	case t == protowire.Fixed32Type:
		e.Buf = protowire.AppendFixed32(e.Buf, uint32(v))
	default:
		e.Buf = protowire.AppendFixed64(e.Buf, v)
	}
}

// Uint appends an integer as a varint: of 32 bits, an enumeration or, not in JSON, of 64 bits.
func (e *Encoder) Uint(n Number, name string, v uint64) {
	e.number(n, name, protowire.VarintType, v, "%d")
}

// Int appends an int64.
func (e *Encoder) Int(n Number, name string, v int64) {
	if e.tag(n, name, protowire.VarintType) {
		e.Buf = fmt.Appendf(e.Buf, `"%d"`, v)
	} else {
		e.Buf = protowire.AppendVarint(e.Buf, uint64(v))
	}
}

// Sint appends an sint32 or sint64, of which small negative numbers are short. It has no JSON yet.
func (e *Encoder) Sint(n Number, v int64) {
	if e.isJSON {
		panic("protobuf: no JSON of an sint")
	}
	e.Uint(n, "", protowire.EncodeZigZag(v))
}

// Fixed64 appends an integer of 8 bytes.
func (e *Encoder) Fixed64(n Number, name string, v uint64) {
	e.number(n, name, protowire.Fixed64Type, v, `"%d"`)
}

// Fixed32 appends an integer of 4 bytes.
func (e *Encoder) Fixed32(n Number, name string, v uint32) {
	e.number(n, name, protowire.Fixed32Type, uint64(v), "%d")
}

// Double appends a floating-point number.
func (e *Encoder) Double(n Number, name string, v float64) {
	if e.tag(n, name, protowire.Fixed64Type) {
		e.json(v)
	} else {
		e.Buf = protowire.AppendFixed64(e.Buf, math.Float64bits(v))
	}
}

// Bytes appends bytes.
func (e *Encoder) Bytes(n Number, name string, v []byte) {
	if e.tag(n, name, protowire.BytesType) {
		e.json(hex.EncodeToString(v))
	} else {
		e.Buf = protowire.AppendBytes(e.Buf, v)
	}
}

// String appends a string. Each byte that is not part of valid UTF-8 becomes \xNN:
// receivers refuse a whole message for one invalid string.
func (e *Encoder) String(n Number, name, v string) {
	switch isJSON := e.tag(n, name, protowire.BytesType); {
	case isJSON:
		e.json(v)
	case utf8.ValidString(v):
		e.Buf = protowire.AppendString(e.Buf, v)
	default:
		e.Buf = protowire.AppendBytes(e.Buf, schema.AppendUTF8(nil, []byte(v)))
	}
}

// json appends a number or a text as JSON has it.
func (e *Encoder) json(v any) {
	text, _ := json.Marshal(v) // neither has no JSON
	e.Buf = append(e.Buf, text...)
}

// Message appends a message, whose fields body appends. Not in JSON, it may be a packed list, too.
func (e *Encoder) Message(n Number, name string, body func()) {
	if e.tag(n, name, protowire.BytesType) {
		e.Buf = append(e.Buf, '{')
		body()
		e.Buf = append(e.Buf, '}')
	} else {
		e.Prefixed(body)
	}
}

// List appends a list, whose elements body appends, as fields without a name.
func (e *Encoder) List(name string, body func()) {
	if !e.isJSON { // where a list is no more than fields of the same number
		body()
		return
	}
	e.tag(0, name, 0)
	e.Buf = append(e.Buf, '[')
	body()
	e.Buf = append(e.Buf, ']')
}

// Prefixed appends what body appends with its length in front, for which it reserves one byte: that
// is enough for most messages, and others are moved.
func (e *Encoder) Prefixed(body func()) {
	e.Buf = append(e.Buf, 0)
	start := len(e.Buf)
	body()
	n := len(e.Buf) - start
	size := protowire.SizeVarint(uint64(n))
	for range size - 1 {
		e.Buf = append(e.Buf, 0)
	}
	copy(e.Buf[start-1+size:], e.Buf[start:start+n])
	protowire.AppendVarint(e.Buf[:start-1], uint64(n))
}

// Find returns the value of the last field of a message with a number, as protobuf
// merges repeated fields: of bytes the bytes, of a varint its number. It finds
// nothing in a broken message.
func Find(b []byte, number Number) (value []byte, varint uint64) {
	for len(b) > 0 {
		field, kind, size := protowire.ConsumeField(b)
		if size < 0 {
			return nil, 0
		}
		if field == number {
			_, _, tag := protowire.ConsumeTag(b)
			value, varint = nil, 0
			switch kind {
			case protowire.BytesType:
				value, _ = protowire.ConsumeBytes(b[tag:])
			case protowire.VarintType:
				varint, _ = protowire.ConsumeVarint(b[tag:])
			}
		}
		b = b[size:]
	}
	return value, varint
}
