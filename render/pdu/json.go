package pdu

import (
	"bytes"
	"fmt"
	"iter"
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
// value is ready to use. It allocates nothing once its buffers have grown, but for texts that it changes.
type Limiter struct {
	dst         []byte
	path        []byte // in front of the keys of members that are moved up
	items, text int    // most elements of an array and bytes of a text that are kept
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

// parts are the members of an object, or the elements of an array, without keys.
func parts(container []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for pos := 1; pos < len(container)-1; {
			var key []byte
			if container[0] == '{' {
				end := endOfText(container, pos)
				key, pos = container[pos+1:end-1], end+1
			}
			end := endOfValue(container, pos)
			if !yield(key, container[pos:end]) {
				return
			}
			pos = end + 1
		}
	}
}

func isContainer(value []byte) bool { return value[0] == '{' || value[0] == '[' }

// rewrite appends src with arrays of at most so many items, and texts of at most 64
// bytes for each of these items.
func (l *Limiter) rewrite(dst, src []byte, items int) []byte {
	const textPerItem = 64
	l.dst, l.path = dst, l.path[:0]
	l.items, l.text = items, textPerItem*items
	l.value(src, 0)
	return l.dst
}

func (l *Limiter) scalars(dst, src []byte) []byte {
	const maxText = 64
	l.dst, l.path, l.text = append(dst, '{'), l.path[:0], maxText
	for key, value := range parts(src) {
		if !isContainer(value) {
			l.key(key)
			l.value(value, 0)
		}
	}
	return append(l.dst, '}')
}

// value copies a value, which is nested to a depth.
func (l *Limiter) value(src []byte, depth int) {
	switch src[0] {
	case '{':
		depth += objectDepth
		l.dst = append(l.dst, '{')
		for key, value := range parts(src) {
			l.member(key, value, depth, false)
		}
		l.dst = append(l.dst, '}')
	case '[':
		depth += arrayDepth
		l.dst = append(l.dst, '[')
		l.elements(src, func(_ int, element []byte) {
			l.comma()
			if element[0] == '[' && depth > flatDepth {
				l.asText(element) // an array in an array has no key to be moved up by
			} else {
				l.value(element, depth)
			}
		})
		l.dst = append(l.dst, ']')
	default:
		if src[0] != '"' || len(src)-len(`""`) <= l.text {
			l.dst = append(l.dst, src...)
			return
		}
		l.dst = append(append(l.dst, src[:1+lengthOfText(src[1:], l.text)]...), `…"`...)
	}
}

// member copies a member of an object that is nested to a depth. What is in a container becomes members
// of the object itself, with the path in their keys, where there is no depth left for it.
func (l *Limiter) member(key, value []byte, depth int, inArray bool) {
	nests := value[0] == '{' || value[0] == '[' && (inArray || bytes.ContainsAny(value[1:], "{["))
	if depth <= flatDepth || !nests || len(value) == len("{}") {
		l.key(key)
		l.value(value, depth)
		return
	}
	end := len(l.path)
	l.path = append(l.path, key...)
	if value[0] == '{' {
		l.path = append(l.path, '.')
		for key, value := range parts(value) {
			l.member(key, value, depth, false)
		}
	} else {
		l.elements(value, func(i int, element []byte) {
			index := "[]"
			if i < l.items {
				index = "[" + strconv.Itoa(i) + "]"
			}
			l.member([]byte(index), element, depth, true)
		})
	}
	l.path = l.path[:end]
}

// elements calls each for the first elements of an array, and for a text in place of the others.
func (l *Limiter) elements(array []byte, each func(i int, element []byte)) {
	n := 0
	for _, element := range parts(array) {
		if n < l.items {
			each(n, element)
		}
		n++
	}
	if n > l.items {
		each(l.items, fmt.Appendf(nil, `"%d more"`, n-l.items))
	}
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

// asText appends a value as a text.
func (l *Limiter) asText(value []byte) {
	l.dst = append(l.dst, '"')
	for _, c := range value {
		if c == '"' || c == '\\' {
			l.dst = append(l.dst, '\\')
		}
		l.dst = append(l.dst, c)
	}
	l.dst = append(l.dst, '"')
}
