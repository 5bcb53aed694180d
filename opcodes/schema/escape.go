package schema

import "unicode/utf8"

// Harmless are the bytes that need no escape anywhere.
var Harmless = func() (t [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// AppendText appends text of the wire so that a terminal shows it and does
// nothing else.
func AppendText(dst, b []byte) []byte {
	for len(b) > 0 {
		n := 0
		for n < len(b) && Harmless[b[n]] {
			n++
		}
		dst, b = append(dst, b[:n]...), b[n:]
		if len(b) == 0 {
			break
		}
		r, size := utf8.DecodeRune(b)
		switch {
		case b[0] == '\\' && LooksEscaped(b):
			dst = append(dst, `\x5c`...)
		case Acts(r) || r == utf8.RuneError && size == 1:
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

// LooksEscaped says whether b begins as our escape of a byte does.
func LooksEscaped(b []byte) bool {
	return len(b) >= 4 && b[1] == 'x' && isHex(b[2]) && isHex(b[3])
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// Acts says whether a terminal acts upon a character instead of showing it:
// controls, and what changes the direction or ends the line.
func Acts(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x61c ||
		r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff
}
