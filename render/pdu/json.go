package pdu

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

// Wireshark's JSON dissector parses by recursion, to a depth that a container uses up
// by these amounts, measured with Wireshark 4.0. It shows deeper text as lines of text.
const (
	objectDepth = 6
	arrayDepth  = 5
	maxDepth    = 66

	// flatDepth is the depth from which on an object is flattened: containers in it
	// become members of the object itself. What remains below it fits into maxDepth: an
	// array, an object, and an array of texts or an empty object.
	flatDepth = maxDepth - arrayDepth - objectDepth - objectDepth
)

// Limiter changes JSON texts so that Wireshark's JSON dissector can show them. The zero
// value is ready to use. It allocates nothing once its buffers have grown.
type Limiter struct {
	src []byte
	pos int // of the next byte of src
	dst []byte

	items, text int // most elements of an array and bytes of a text that are kept
	path        []byte
}

// Append appends a JSON object of at most max bytes to dst: src, or where src is too
// deep or too long, the same with changes. Members of objects that are nested too deep
// are moved up, as "a.b" or "a[0].b". Long arrays are truncated to their first elements and a
// text, "12 more", long texts to their beginning and "…". src must be valid, without
// spaces between the tokens. max must be at least 64 KiB.
func (l *Limiter) Append(dst, src []byte, max int) []byte {
	if len(src) <= max && isShallow(src) {
		return append(dst, src...)
	}
	start := len(dst)
	for _, items := range [...]int{math.MaxInt32, 4096, 1024, 256, 64, 16, 4, 1} {
		if dst = l.rewrite(dst[:start], src, items); len(dst)-start <= max {
			return dst
		}
	}
	return l.scalars(dst[:start], src)
}

// isShallow reports whether no container in a JSON text is nested deeper than
// maxDepth.
func isShallow(src []byte) bool {
	const deepest = maxDepth / objectDepth
	depth := 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '"':
			i = endOfText(src, i) - 1
		case '{', '[':
			if depth++; depth > deepest {
				return false
			}
		case '}', ']':
			depth--
		}
	}
	return true
}

// endOfText returns the offset behind the text that begins with the quote at pos.
func endOfText(src []byte, pos int) int {
	for pos++; src[pos] != '"'; pos++ {
		if src[pos] == '\\' {
			pos++
		}
	}
	return pos + 1
}

// endOfValue returns the offset behind the value at pos.
func endOfValue(src []byte, pos int) int {
	for depth := 0; pos < len(src); pos++ {
		switch src[pos] {
		case '"':
			pos = endOfText(src, pos) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return pos
			}
			if depth--; depth == 0 {
				return pos + 1
			}
		case ',':
			if depth == 0 {
				return pos
			}
		}
	}
	return pos
}

// rewrite appends src with arrays of at most so many items, and texts of at most 64
// bytes for each of these items.
func (l *Limiter) rewrite(dst, src []byte, items int) []byte {
	const textPerItem = 64
	l.src, l.pos, l.dst, l.path = src, 0, dst, l.path[:0]
	l.items, l.text = items, textPerItem*items
	l.value(0)
	return l.dst
}

func (l *Limiter) scalars(dst, src []byte) []byte {
	const maxText = 64
	l.src, l.pos, l.dst, l.path, l.text = src, 1, append(dst, '{'), l.path[:0], maxText
	for l.src[l.pos] != '}' {
		key := l.takeKey()
		if c := l.src[l.pos]; c == '{' || c == '[' {
			l.pos = endOfValue(l.src, l.pos)
		} else {
			l.key(key)
			l.scalar()
		}
		l.skipComma()
	}
	return append(l.dst, '}')
}

// value copies a value, which is nested to a depth.
func (l *Limiter) value(depth int) {
	switch l.src[l.pos] {
	case '{':
		depth += objectDepth
		l.dst = append(l.dst, '{')
		l.members(depth, depth > flatDepth)
		l.dst = append(l.dst, '}')
	case '[':
		depth += arrayDepth
		l.dst = append(l.dst, '[')
		l.elements(func(int) {
			l.comma()
			if l.src[l.pos] == '[' && depth > flatDepth {
				l.asText() // an array in an array has no key to be moved up by
				return
			}
			l.value(depth)
		}, func(n int) {
			l.comma()
			l.more(n)
		})
		l.dst = append(l.dst, ']')
	default:
		l.scalar()
	}
}

// members copies the members of an object. With flat, containers in them become
// members, too.
func (l *Limiter) members(depth int, flat bool) {
	l.pos++
	for l.src[l.pos] != '}' {
		key := l.takeKey()
		if flat && l.isNested() {
			end := len(l.path)
			l.path = append(l.path, key...)
			l.flatten()
			l.path = l.path[:end]
		} else {
			l.key(key)
			l.value(depth)
		}
		l.skipComma()
	}
	l.pos++
}

// isNested reports whether the value is an object, or an array with a container in it.
func (l *Limiter) isNested() bool {
	switch l.src[l.pos] {
	case '{':
		return true
	case '[':
		return bytes.ContainsAny(l.src[l.pos+1:endOfValue(l.src, l.pos)], "{[")
	}
	return false
}

// flatten copies what is in a container, or a scalar, as members with the path in
// their keys.
func (l *Limiter) flatten() {
	end := len(l.path)
	c := l.src[l.pos]
	switch isContainer := c == '{' || c == '['; {
	case !isContainer, l.src[l.pos+1] == c+2: // empty: the closing bracket is two code points behind
		l.key(nil)
		l.value(0)
	case c == '{':
		l.path = append(l.path, '.')
		l.members(maxDepth-arrayDepth, true)
	default:
		l.elements(func(i int) {
			l.path = append(strconv.AppendInt(append(l.path[:end], '['), int64(i), 10), ']')
			l.flatten()
		}, func(n int) {
			l.path = append(l.path[:end], "[]"...)
			l.key(nil)
			l.more(n)
		})
	}
	l.path = l.path[:end]
}

// elements calls each for the first elements of an array, which must advance pos
// behind it, and more with the number of the others if there are any.
func (l *Limiter) elements(each, more func(n int)) {
	l.pos++
	n := 0
	for l.src[l.pos] != ']' {
		if n < l.items {
			each(n)
		} else {
			l.pos = endOfValue(l.src, l.pos)
		}
		n++
		l.skipComma()
	}
	l.pos++
	if n > l.items {
		more(n - l.items)
	}
}

// more appends the text in place of n elements.
func (l *Limiter) more(n int) {
	l.dst = append(strconv.AppendInt(append(l.dst, '"'), int64(n), 10), ` more"`...)
}

// takeKey returns a key without its quotes, and advances to its value.
func (l *Limiter) takeKey() []byte {
	start := l.pos
	l.pos = endOfText(l.src, l.pos) + 1
	return l.src[start+1 : l.pos-2]
}

func (l *Limiter) key(key []byte) {
	l.comma()
	l.dst = append(append(append(append(l.dst, '"'), l.path...), key...), `":`...)
}

// comma appends a comma, except in front of the first value of a container.
func (l *Limiter) comma() {
	if c := l.dst[len(l.dst)-1]; c != '{' && c != '[' && c != ',' && c != ':' {
		l.dst = append(l.dst, ',')
	}
}

func (l *Limiter) skipComma() {
	if l.src[l.pos] == ',' {
		l.pos++
	}
}

// scalar copies a value that is no container.
func (l *Limiter) scalar() {
	end := endOfValue(l.src, l.pos)
	s := l.src[l.pos:end]
	l.pos = end
	if s[0] != '"' || len(s)-len(`""`) <= l.text {
		l.dst = append(l.dst, s...)
		return
	}
	l.dst = append(append(l.dst, s[:1+lengthOfText(s[1:], l.text)]...), `…"`...)
}

// lengthOfText returns how many bytes of an escaped text to keep: at most max, without
// half a character or half an escape.
func lengthOfText(s []byte, max int) int {
	n := 0
	for {
		size := 1
		switch {
		case s[n] == '\\' && s[n+1] == 'u':
			size = len(`\u0000`)
		case s[n] == '\\':
			size = len(`\n`)
		case s[n] >= utf8.RuneSelf:
			_, size = utf8.DecodeRune(s[n:])
		}
		if n+size > max {
			return n
		}
		n += size
	}
}

func (l *Limiter) asText() {
	end := endOfValue(l.src, l.pos)
	l.dst = append(l.dst, '"')
	for _, c := range l.src[l.pos:end] {
		if c == '"' || c == '\\' {
			l.dst = append(l.dst, '\\')
		}
		l.dst = append(l.dst, c)
	}
	l.dst = append(l.dst, '"')
	l.pos = end
}
