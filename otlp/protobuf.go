package otlp

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"
)

// wireType is how the value of a field is encoded in protobuf.
type wireType uint64

const (
	varintType  wireType = 0
	fixed64Type wireType = 1
	bytesType   wireType = 2
	fixed32Type wireType = 5
)

func appendTag(b []byte, field uint64, t wireType) []byte {
	return binary.AppendUvarint(b, field<<3|uint64(t))
}

func appendUint(b []byte, field, v uint64) []byte {
	return binary.AppendUvarint(appendTag(b, field, varintType), v)
}

// appendSint appends an sint32 or sint64, which protobuf encodes so that small
// negative numbers stay short.
func appendSint(b []byte, field uint64, v int64) []byte {
	return appendUint(b, field, uint64(v<<1)^uint64(v>>63))
}

func appendFixed64(b []byte, field, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(appendTag(b, field, fixed64Type), v)
}

func appendFixed32(b []byte, field uint64, v uint32) []byte {
	return binary.LittleEndian.AppendUint32(appendTag(b, field, fixed32Type), v)
}

func appendDouble(b []byte, field uint64, v float64) []byte {
	return appendFixed64(b, field, math.Float64bits(v))
}

func appendBytes(b []byte, field uint64, v []byte) []byte {
	b = binary.AppendUvarint(appendTag(b, field, bytesType), uint64(len(v)))
	return append(b, v...)
}

// appendString appends a string. Receivers refuse a whole request for one
// string that is not UTF-8, so each byte that is not becomes \xNN.
func appendString(b []byte, field uint64, s string) []byte {
	if utf8.ValidString(s) {
		b = binary.AppendUvarint(appendTag(b, field, bytesType), uint64(len(s)))
		return append(b, s...)
	}
	b, start := begin(b, field)
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
	return end(b, start)
}

// begin starts a nested message, and returns the offset that end needs. One
// byte is reserved for the length, which is enough for most attributes.
func begin(b []byte, field uint64) ([]byte, int) {
	b = append(appendTag(b, field, bytesType), 0)
	return b, len(b)
}

// end writes the length of the nested message that begins at start, and moves
// the message if its length needs more than one byte.
func end(b []byte, start int) []byte {
	n := len(b) - start
	if n < 0x80 {
		b[start-1] = byte(n)
		return b
	}
	var length [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(length[:], uint64(n))
	b = append(b, length[1:size]...)
	copy(b[start-1+size:], b[start:start+n])
	copy(b[start-1:], length[:size])
	return b
}

var errProtobuf = errors.New("not a protobuf message")

// field is one field of a message that a receiver has sent.
type field struct {
	number uint64
	value  uint64 // of numbers
	bytes  []byte // of strings and messages
}

// nextField returns the first field of a message and the rest after it.
func nextField(b []byte) (f field, rest []byte, err error) {
	tag, n := binary.Uvarint(b)
	if n <= 0 {
		return f, nil, errProtobuf
	}
	f.number, b = tag>>3, b[n:]
	switch wireType(tag & 7) {
	case varintType:
		f.value, n = binary.Uvarint(b)
		if n <= 0 {
			return f, nil, errProtobuf
		}
		return f, b[n:], nil
	case fixed64Type:
		if len(b) < 8 {
			return f, nil, errProtobuf
		}
		f.value = binary.LittleEndian.Uint64(b)
		return f, b[8:], nil
	case fixed32Type:
		if len(b) < 4 {
			return f, nil, errProtobuf
		}
		f.value = uint64(binary.LittleEndian.Uint32(b))
		return f, b[4:], nil
	case bytesType:
		length, n := binary.Uvarint(b)
		if n <= 0 || length > uint64(len(b)-n) {
			return f, nil, errProtobuf
		}
		f.bytes = b[n : n+int(length)]
		return f, b[n+int(length):], nil
	}
	return f, nil, errProtobuf
}

// findField returns the last field of a message with a number, as protobuf
// merges repeated fields. It reports whether the field is there.
func findField(b []byte, number uint64) (found field, ok bool, err error) {
	for len(b) > 0 {
		var f field
		if f, b, err = nextField(b); err != nil {
			return field{}, false, err
		}
		if f.number == number {
			found, ok = f, true
		}
	}
	return found, ok, nil
}
