package schema

import "unicode/utf8"

// AppendText appends text of the wire for a terminal, which shows it and does
// nothing else: what needs an escape becomes \xNN for each byte.
func AppendText(dst, b []byte) []byte { return appendEscaped(dst, b, forTerminal) }

// AppendJSONString appends text of the wire as a JSON string. A character that
// needs an escape becomes \uNNNN, a byte that is not UTF-8 becomes the text
// \xNN.
func AppendJSONString(dst, b []byte) []byte {
	return append(appendEscaped(append(dst, '"'), b, inJSON), '"')
}

// AppendUTF8 appends text of the wire as the string that the JSON string of
// AppendJSONString stands for: a byte that is not UTF-8 becomes the text \xNN.
func AppendUTF8(dst, b []byte) []byte { return appendEscaped(dst, b, asUTF8) }

// escaping is what is escaped, and how.
type escaping uint8

const (
	forTerminal escaping = iota
	inJSON
	asUTF8
)

// appendEscaped appends text with escapes. A backslash in front of what looks
// like an escape is escaped itself, so that all escapes can be undone.
func appendEscaped(dst, b []byte, e escaping) []byte {
	json := e == inJSON
	for len(b) > 0 {
		n := 0
		for n < len(b) && isPlain[b[n]] {
			n++
		}
		dst, b = append(dst, b[:n]...), b[n:]
		if len(b) == 0 {
			break
		}
		r, size := utf8.DecodeRune(b)
		switch {
		case b[0] == '\\' && looksEscaped(b), r == utf8.RuneError && size == 1:
			dst = appendByteEscape(dst, b[0], json)
		case json && (b[0] == '\\' || b[0] == '"'):
			dst = append(dst, '\\', b[0])
		case json && NeedsEscape(r): // none has more than four digits
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		case NeedsEscape(r) && e == forTerminal:
			for _, c := range b[:size] {
				dst = appendByteEscape(dst, c, json)
			}
		default:
			dst = append(dst, b[:size]...)
		}
		b = b[size:]
	}
	return dst
}

// appendByteEscape appends \xNN; in JSON the backslash is escaped in turn.
func appendByteEscape(dst []byte, c byte, json bool) []byte {
	if json {
		dst = append(dst, '\\')
	}
	return append(dst, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
}

// isPlain are the bytes that need no escape anywhere.
var isPlain = func() (t [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// looksEscaped reports whether b, which begins with a backslash, begins like
// an escaped byte.
func looksEscaped(b []byte) bool {
	return len(b) >= 4 && b[1] == 'x' && isHex(b[2]) && isHex(b[3])
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// NeedsEscape reports whether a terminal acts on a character instead of showing
// it: control characters, and those that change the direction of text, end
// the line, or do not show at all.
func NeedsEscape(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xad || r == 0x61c || r == 0x180e ||
		r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff || r >= 0xfff9 && r <= 0xfffb
}
