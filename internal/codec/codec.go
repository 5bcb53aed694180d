// Package codec writes structs to bytes and reads them back. One func describes both
// directions: it visits the fields in their order, and each visit writes the field or,
// in a Codec that reads, sets it.
//
//	func visit(c *codec.Codec, p *track.Point) {
//		codec.Number(c, &p.Frame)
//		codec.Number(c, &p.Time)
//	}
//
// The bytes are for the process that wrote them only: they refer to tables in memory
// (Interned), and their form has no version.
package codec

import (
	"encoding/binary"
	"slices"
	"sync"
)

// Codec is the bytes that are written or read. A read after the end of the bytes sets
// the zero value, and Failed reports it.
type Codec struct {
	buf     []byte
	reading bool
	failed  bool
}

// Writer returns a Codec that appends to dst.
func Writer(dst []byte) Codec { return Codec{buf: dst} }

// Reader returns a Codec that reads b. Bytes that it reads are part of b.
func Reader(b []byte) Codec { return Codec{buf: b, reading: true} }

// Written returns the bytes that were appended, behind those that were there.
func (c *Codec) Written() []byte { return c.buf }

// Rest returns the bytes that were not read yet.
func (c *Codec) Rest() []byte { return c.buf }

// Reading reports whether fields are set.
func (c *Codec) Reading() bool { return c.reading }

// Failed reports whether the bytes to read ended too early.
func (c *Codec) Failed() bool { return c.failed }

// uint visits a number.
func (c *Codec) uint(v uint64) uint64 {
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, v)
		return v
	}
	v, n := binary.Uvarint(c.buf)
	if n <= 0 {
		c.failed, c.buf = true, nil
		return 0
	}
	c.buf = c.buf[n:]
	return v
}

// Number visits an integer. Those near zero take one byte.
func Number[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](c *Codec, p *T) {
	v := int64(*p)
	u := c.uint(uint64(v)<<1 ^ uint64(v>>63))
	if c.reading {
		*p = T(int64(u>>1) ^ -int64(u&1))
	}
}

// Bools visits up to 64 bools, which together take a byte for each seven.
func (c *Codec) Bools(list ...*bool) {
	var bits uint64
	for i, p := range list {
		if *p {
			bits |= 1 << i
		}
	}
	bits = c.uint(bits)
	if c.reading {
		for i, p := range list {
			*p = bits>>i&1 != 0
		}
	}
}

// Present visits whether optional fields follow; is is ignored in a Codec that reads.
func (c *Codec) Present(is bool) bool {
	c.Bools(&is)
	return is
}

// Pointer visits what a pointer points to, if it is not nil. A Codec that reads sets what
// the pointer points to, or a new value when it is nil.
func Pointer[T any](c *Codec, p **T, visit func(*Codec, *T)) {
	if !c.Present(*p != nil) {
		*p = nil
		return
	}
	if *p == nil {
		*p = new(T)
	}
	visit(c, *p)
}

// Bytes visits a slice of bytes, which may be nil.
func (c *Codec) Bytes(p *[]byte) {
	if !c.reading {
		n := 0
		if *p != nil {
			n = len(*p) + 1
		}
		c.buf = append(binary.AppendUvarint(c.buf, uint64(n)), *p...)
		return
	}
	n := c.uint(0)
	if n == 0 {
		*p = nil
		return
	}
	n--
	if n > uint64(len(c.buf)) {
		c.failed, c.buf, *p = true, nil, nil
		return
	}
	*p, c.buf = c.buf[:n:n], c.buf[n:]
}

// Array visits bytes whose number is fixed.
func (c *Codec) Array(b []byte) {
	if !c.reading {
		c.buf = append(c.buf, b...)
		return
	}
	if len(b) > len(c.buf) {
		c.failed, c.buf = true, nil
		clear(b)
		return
	}
	c.buf = c.buf[copy(b, c.buf):]
}

// Text visits a string. In a Codec that reads, the string is a copy.
func (c *Codec) Text(p *string) {
	b := []byte(*p)
	c.Bytes(&b)
	if c.reading {
		*p = string(b)
	}
}

// Slice visits a slice, and each element with a func. A slice that is read has the array
// of the slice that was there, when it is large enough.
func Slice[T any](c *Codec, p *[]T, visit func(*Codec, *T)) {
	n := int(min(c.uint(uint64(len(*p))), 1<<31))
	if c.reading {
		if n > len(c.buf) { // each element takes a byte or more
			c.failed, c.buf, n = true, nil, 0
		}
		*p = slices.Grow((*p)[:0], n)[:n]
		clear(*p)
	}
	for i := range *p {
		visit(c, &(*p)[i])
	}
}

// maxInterned values are kept in a table. A capture without an end may have any number.
const maxInterned = 1 << 16

// Interned is a table of values that many records have: each is written as its index
// in the table, or as it is when the table is full. Several goroutines may use a table at
// the same time.
type Interned[T comparable] struct {
	mu     sync.RWMutex
	index  map[T]uint64
	values []T
}

// Visit visits a value; inline visits one that the table has no room for.
func (t *Interned[T]) Visit(c *Codec, p *T, inline func(*Codec, *T)) {
	var i uint64
	if !c.reading {
		i = t.find(*p)
	}
	if i = c.uint(i); i == 0 {
		inline(c, p)
		return
	}
	if c.reading {
		t.mu.RLock()
		defer t.mu.RUnlock()
		if i > uint64(len(t.values)) {
			c.failed, c.buf = true, nil
			return
		}
		*p = t.values[i-1]
	}
}

// find returns the index of a value, from 1, and 0 when there is no room for it.
func (t *Interned[T]) find(v T) uint64 {
	t.mu.RLock()
	i, ok := t.index[v]
	t.mu.RUnlock()
	if ok {
		return i
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.values) >= maxInterned {
		return 0
	}
	if t.index == nil {
		t.index = make(map[T]uint64)
	}
	t.values = append(t.values, v)
	i = uint64(len(t.values))
	t.index[v] = i
	return i
}
