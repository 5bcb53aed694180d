// Package protobuf appends the fields of protobuf messages without generated
// code, whose descriptors every start of a program would pay for.
package protobuf

import (
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lshark/lshark/opcodes/schema"
)

// Number is the number of a field.
type Number = protowire.Number

// AppendUint appends an integer as a varint.
func AppendUint(b []byte, field Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

// AppendSint appends an sint32 or sint64, of which small negative numbers are short.
func AppendSint(b []byte, field Number, v int64) []byte {
	return AppendUint(b, field, protowire.EncodeZigZag(v))
}

// AppendFixed64 appends an integer of 8 bytes.
func AppendFixed64(b []byte, field Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

// AppendFixed32 appends an integer of 4 bytes.
func AppendFixed32(b []byte, field Number, v uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(b, field, protowire.Fixed32Type), v)
}

// AppendDouble appends a floating-point number.
func AppendDouble(b []byte, field Number, v float64) []byte {
	return AppendFixed64(b, field, math.Float64bits(v))
}

// AppendBytes appends bytes.
func AppendBytes(b []byte, field Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// AppendString appends a string. Each byte that is not part of valid UTF-8 becomes
// \xNN: receivers refuse a whole message for one invalid string.
func AppendString(b []byte, field Number, s string) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	if utf8.ValidString(s) {
		return protowire.AppendString(b, s)
	}
	return protowire.AppendBytes(b, schema.AppendUTF8(nil, []byte(s)))
}

// Begin starts a field with a nested message or a packed list. End needs the
// returned offset.
func Begin(b []byte, field Number) ([]byte, int) {
	return BeginPrefixed(protowire.AppendTag(b, field, protowire.BytesType))
}

// BeginPrefixed starts a message with its length in front of it. It reserves one
// byte for the length, which is enough for most messages. End needs the returned
// offset.
func BeginPrefixed(b []byte) ([]byte, int) {
	b = append(b, 0)
	return b, len(b)
}

// End writes the length of the message that begins at start, and moves the
// message if its length needs more than one byte.
func End(b []byte, start int) []byte {
	n := len(b) - start
	size := protowire.SizeVarint(uint64(n))
	for range size - 1 {
		b = append(b, 0)
	}
	copy(b[start-1+size:], b[start:start+n])
	protowire.AppendVarint(b[:start-1], uint64(n))
	return b
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
