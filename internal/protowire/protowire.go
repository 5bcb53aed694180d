package protowire

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"
)

// Type is how the value of a field is encoded.
type Type uint64

// The types of values. Varint is of integers, Bytes of strings, bytes and messages.
const (
	Varint  Type = 0
	Fixed64 Type = 1
	Bytes   Type = 2
	Fixed32 Type = 5
)

// AppendTag appends the number of a field and the type of its value.
func AppendTag(b []byte, field uint64, t Type) []byte {
	return binary.AppendUvarint(b, field<<3|uint64(t))
}

// AppendUint appends an integer as a varint.
func AppendUint(b []byte, field, v uint64) []byte {
	return binary.AppendUvarint(AppendTag(b, field, Varint), v)
}

// AppendSint appends an sint32 or sint64, which protobuf encodes so that small
// negative numbers stay short.
func AppendSint(b []byte, field uint64, v int64) []byte {
	return AppendUint(b, field, Zigzag(v))
}

// Zigzag returns the value of the varint for an sint32 or sint64.
func Zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// AppendFixed64 appends an integer of 8 bytes.
func AppendFixed64(b []byte, field, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(AppendTag(b, field, Fixed64), v)
}

// AppendFixed32 appends an integer of 4 bytes.
func AppendFixed32(b []byte, field uint64, v uint32) []byte {
	return binary.LittleEndian.AppendUint32(AppendTag(b, field, Fixed32), v)
}

// AppendDouble appends a floating-point number.
func AppendDouble(b []byte, field uint64, v float64) []byte {
	return AppendFixed64(b, field, math.Float64bits(v))
}

// AppendBytes appends bytes.
func AppendBytes(b []byte, field uint64, v []byte) []byte {
	b = binary.AppendUvarint(AppendTag(b, field, Bytes), uint64(len(v)))
	return append(b, v...)
}

// AppendString appends a string. Each byte that is not part of valid UTF-8 becomes
// \xNN: receivers refuse a whole message for one invalid string.
func AppendString(b []byte, field uint64, s string) []byte {
	if utf8.ValidString(s) {
		b = binary.AppendUvarint(AppendTag(b, field, Bytes), uint64(len(s)))
		return append(b, s...)
	}
	b, start := Begin(b, field)
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'x', hex[s[0]>>4], hex[s[0]&15])
		} else {
			b = append(b, s[:size]...)
		}
		s = s[size:]
	}
	return End(b, start)
}

// Begin starts a field with a nested message or a packed list. End needs the
// returned offset.
func Begin(b []byte, field uint64) ([]byte, int) {
	return BeginPrefixed(AppendTag(b, field, Bytes))
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
	if n < 0x80 {
		b[start-1] = byte(n)
		return b
	}
	var length [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(length[:], uint64(n))
	b = append(b, length[1:size]...) // makes room
	copy(b[start-1+size:], b[start:start+n])
	copy(b[start-1:], length[:size])
	return b
}

// ErrInvalid is the error for bytes that are not a protobuf message.
var ErrInvalid = errors.New("not a protobuf message")

// Field is a field of a message.
type Field struct {
	Number uint64
	Value  uint64 // of a number
	Bytes  []byte // of a string, bytes or a message
}

// next returns the first field of a message and the rest after it.
func next(b []byte) (f Field, rest []byte, err error) {
	tag, n := binary.Uvarint(b)
	if n <= 0 {
		return f, nil, ErrInvalid
	}
	f.Number, b = tag>>3, b[n:]
	switch Type(tag & 7) {
	case Varint:
		f.Value, n = binary.Uvarint(b)
		if n <= 0 {
			return f, nil, ErrInvalid
		}
		return f, b[n:], nil
	case Fixed64:
		if len(b) < 8 {
			return f, nil, ErrInvalid
		}
		f.Value = binary.LittleEndian.Uint64(b)
		return f, b[8:], nil
	case Fixed32:
		if len(b) < 4 {
			return f, nil, ErrInvalid
		}
		f.Value = uint64(binary.LittleEndian.Uint32(b))
		return f, b[4:], nil
	case Bytes:
		length, n := binary.Uvarint(b)
		if n <= 0 || length > uint64(len(b)-n) {
			return f, nil, ErrInvalid
		}
		f.Bytes = b[n : n+int(length)]
		return f, b[n+int(length):], nil
	}
	return f, nil, ErrInvalid
}

// Find returns the last field of a message with a number, as protobuf merges
// repeated fields, and reports whether the message has it.
func Find(b []byte, number uint64) (found Field, ok bool, err error) {
	for len(b) > 0 {
		var f Field
		if f, b, err = next(b); err != nil {
			return Field{}, false, err
		}
		if f.Number == number {
			found, ok = f, true
		}
	}
	return found, ok, nil
}
