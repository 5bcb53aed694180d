package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// maxBound is the size of a bound of strings in bytes at most.
const maxBound = 64

// bounds are the least and the greatest of some values, or bounds of them: strings are
// truncated.
type bounds struct {
	ok        bool  // there are values
	low, high int64 // of numbers, as ordered does; of booleans 0 and 1
	min, max  float64
	from, to  []byte
	cutFrom   bool // from is a prefix of the least value
	cutTo     bool // to is a prefix of the greatest value
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
		b.from, b.cutFrom = prefix(b.from, v)
	}
	if !b.ok || bytes.Compare(v, b.to) > 0 && !(b.cutTo && bytes.HasPrefix(v, b.to)) {
		b.to, b.cutTo = prefix(b.to, v)
	}
	b.ok = true
}

// prefix copies a string to dst, as much of it as a bound may have, and reports whether
// that is not all.
func prefix(dst, v []byte) ([]byte, bool) {
	n := len(v)
	if n > maxBound {
		for n = maxBound; !utf8.RuneStart(v[n]); n-- {
		}
	}
	return append(dst[:0], v[:n]...), n < len(v)
}

// merge adds the values of other, which is of the same type.
func (b *bounds) merge(t Type, other *bounds) {
	switch {
	case !other.ok:
	case t == Double:
		b.float(other.min)
		b.float(other.max)
	case t == String:
		b.mergeText(other)
	default:
		b.int(other.low)
		b.int(other.high)
	}
}

func (b *bounds) mergeText(other *bounds) {
	if !b.ok || bytes.Compare(other.from, b.from) < 0 {
		b.from, b.cutFrom = append(b.from[:0], other.from...), other.cutFrom
	}
	covered := b.ok && (bytes.Compare(other.to, b.to) <= 0 || b.cutTo && bytes.HasPrefix(other.to, b.to))
	if !covered || other.cutTo && bytes.HasPrefix(b.to, other.to) { // a bound of all strings with the prefix
		b.to, b.cutTo = append(b.to[:0], other.to...), other.cutTo
	}
	b.ok = true
}

type limit struct {
	plain []byte
	ok    bool
	exact bool // it is a value, not only a bound
}

// limits returns the bounds as PLAIN; of strings without the length.
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
		least = limit{bytes.Clone(b.from), true, !b.cutFrom}
		greatest = limit{bytes.Clone(b.to), true, !b.cutTo}
		if b.cutTo {
			greatest.plain, greatest.ok = after(greatest.plain)
		}
		return least, greatest
	}
	return word(uint64(b.low)), word(uint64(b.high))
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
