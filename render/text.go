package render

import (
	"unicode/utf8"

	"github.com/lshark/lshark/opcodes/schema"
)

const hexDigits = "0123456789abcdef"

// appendJSONString appends text of the wire as a JSON string.
func appendJSONString(dst, b []byte) []byte {
	dst = append(dst, '"')
	for len(b) > 0 {
		n := 0
		for n < len(b) && schema.Harmless[b[n]] {
			n++
		}
		dst, b = append(dst, b[:n]...), b[n:]
		if len(b) == 0 {
			break
		}
		r, size := utf8.DecodeRune(b)
		switch {
		case b[0] == '\\' && schema.LooksEscaped(b):
			dst = append(dst, `\\x5c`...)
		case b[0] == '\\' || b[0] == '"':
			dst = append(dst, '\\', b[0])
		case r == utf8.RuneError && size == 1:
			dst = append(dst, '\\', '\\', 'x', hexDigits[b[0]>>4], hexDigits[b[0]&15])
		case schema.Acts(r):
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			dst = append(dst, b[:size]...)
		}
		b = b[size:]
	}
	return append(dst, '"')
}

func appendHexBytes(dst, b []byte) []byte {
	for _, c := range b {
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

// width is the number of columns text takes on a terminal, without escapes.
func width(b []byte) int {
	n := 0
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == 0x1b:
			for i < len(b) && b[i] != 'm' {
				i++
			}
		case b[i]&0xc0 != 0x80:
			n++
		}
	}
	return n
}

// appendSpaces appends n spaces, none when n is negative.
func appendSpaces(dst []byte, n int) []byte {
	const blank = "                                "
	for ; n > len(blank); n -= len(blank) {
		dst = append(dst, blank...)
	}
	if n > 0 {
		dst = append(dst, blank[:n]...)
	}
	return dst
}
