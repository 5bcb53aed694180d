package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// maxBound is the size of a bound of strings in bytes at most.
const maxBound = 64

// bounds are the least and the greatest of some values.
type bounds struct {
	ok        bool  // there are values
	low, high int64 // of numbers, as ordered does; of booleans 0 and 1
	min, max  float64
	from, to  []byte
}

// ordered returns a number that compares as an unsigned one does.
func ordered(v uint64) int64 { return int64(v ^ 1<<63) }

func (b *bounds) reset() { b.ok = false }

func (b *bounds) int(v int64) {
	if !b.ok {
		b.ok, b.low, b.high = true, v, v
		return
	}
	b.low, b.high = min(b.low, v), max(b.high, v)
}

// float adds a number. NaN has no place in the order.
func (b *bounds) float(v float64) {
	switch {
	case v != v:
	case !b.ok:
		b.ok, b.min, b.max = true, v, v
	default:
		b.min, b.max = min(b.min, v), max(b.max, v)
	}
}

// text adds a string, which is valid UTF-8.
func (b *bounds) text(v []byte) {
	if !b.ok || bytes.Compare(v, b.from) < 0 {
		b.from = append(b.from[:0], v...)
	}
	if !b.ok || bytes.Compare(v, b.to) > 0 {
		b.to = append(b.to[:0], v...)
	}
	b.ok = true
}

// merge adds the values of other, which is of the same type.
func (b *bounds) merge(t Type, other *bounds) {
	switch {
	case !other.ok:
	case t == Double:
		b.float(other.min)
		b.float(other.max)
	case t == String:
		b.text(other.from)
		b.text(other.to)
	default:
		b.int(other.low)
		b.int(other.high)
	}
}

type limit struct {
	plain []byte
	ok    bool
	exact bool // it is a value, not only a bound
}

// limits returns the bounds as PLAIN; of strings without the length, and truncated.
func (b *bounds) limits(t Type) (least, greatest limit) {
	if !b.ok {
		return limit{}, limit{}
	}
	word := func(v uint64) limit { return limit{binary.LittleEndian.AppendUint64(nil, v), true, true} }
	switch t {
	case Boolean:
		return limit{[]byte{byte(b.low)}, true, true}, limit{[]byte{byte(b.high)}, true, true}
	case Double: // zeros: bounds of both of them
		low, high := b.min, b.max
		if low == 0 {
			low = math.Copysign(0, -1)
		}
		if high == 0 {
			high = 0
		}
		return word(math.Float64bits(low)), word(math.Float64bits(high))
	case Uint64:
		return word(uint64(b.low) ^ 1<<63), word(uint64(b.high) ^ 1<<63)
	case String:
		least, greatest = prefix(b.from), prefix(b.to)
		if !greatest.exact {
			greatest.plain, greatest.ok = after(greatest.plain)
		}
		return least, greatest
	}
	return word(uint64(b.low)), word(uint64(b.high))
}

// prefix returns as much of a string as a bound may have.
func prefix(v []byte) limit {
	n := len(v)
	if n > maxBound {
		for n = maxBound; !utf8.RuneStart(v[n]); n-- {
		}
	}
	return limit{bytes.Clone(v[:n]), true, n == len(v)}
}

// after changes a string to a short one that is greater than all strings that begin
// with it. It reports false if there is no such string.
func after(v []byte) ([]byte, bool) {
	for len(v) > 0 {
		r, n := utf8.DecodeLastRune(v)
		v = v[:len(v)-n]
		if r < utf8.MaxRune {
			return utf8.AppendRune(v, r+1), true // U+FFFD instead of a surrogate: greater as well
		}
	}
	return nil, false
}
