package render

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// plain are the bytes that need no escape anywhere.
var plain = func() (t [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendText appends text of the wire so that a terminal shows it and does
// nothing else.
func appendText(dst, b []byte) []byte {
	for len(b) > 0 {
		n := 0
		for n < len(b) && plain[b[n]] {
			n++
		}
		dst, b = append(dst, b[:n]...), b[n:]
		if len(b) == 0 {
			break
		}
		r, size := utf8.DecodeRune(b)
		switch {
		case b[0] == '\\' && looksEscaped(b):
			dst = append(dst, `\x5c`...)
		case acts(r) || r == utf8.RuneError && size == 1:
			dst = appendBytesEscaped(dst, b[:size])
		default:
			dst = append(dst, b[:size]...)
		}
		b = b[size:]
	}
	return dst
}

// appendBytesEscaped appends each byte as \xNN.
func appendBytesEscaped(dst, b []byte) []byte {
	for _, c := range b {
		dst = append(dst, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

// appendJSONString appends text of the wire as a JSON string.
func appendJSONString(dst, b []byte) []byte {
	dst = append(dst, '"')
	for len(b) > 0 {
		n := 0
		for n < len(b) && plain[b[n]] {
			n++
		}
		dst, b = append(dst, b[:n]...), b[n:]
		if len(b) == 0 {
			break
		}
		r, size := utf8.DecodeRune(b)
		switch {
		case b[0] == '\\' && looksEscaped(b):
			dst = append(dst, `\\x5c`...)
		case b[0] == '\\' || b[0] == '"':
			dst = append(dst, '\\', b[0])
		case r == utf8.RuneError && size == 1:
			dst = append(dst, '\\', '\\', 'x', hexDigits[b[0]>>4], hexDigits[b[0]&15])
		case acts(r):
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			dst = append(dst, b[:size]...)
		}
		b = b[size:]
	}
	return append(dst, '"')
}

// looksEscaped says whether b begins as our escape of a byte does.
func looksEscaped(b []byte) bool {
	return len(b) >= 4 && b[1] == 'x' && isHex(b[2]) && isHex(b[3])
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// acts says whether a terminal acts upon a character instead of showing it:
// controls, and what changes the direction or ends the line.
func acts(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x61c ||
		r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff
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
