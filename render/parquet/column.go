package parquet

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/bloom/xxhash"
)

const (
	// pageValues is the number of values of a page at most, apart from NULLs.
	pageValues = 1 << 14

	// pageBytes is the size of a page of strings at which it ends.
	pageBytes = 1 << 20

	// maxPageBytes is the size that a page of dictionary indices would have as strings, at
	// which it ends: it may have to become one, when the dictionary is full.
	maxPageBytes = 16 << 20
)

// Column is a leaf of the schema: values are appended to it, row by row. Levels are
// those of the format: repetition is 0 for the first value of a row, and otherwise the
// number of repeated fields in the path up to the one that is repeated; definition is
// the number of optional and repeated fields in the path that are there.
type Column struct {
	leaf        Leaf
	compressor  *compressor
	repetitions runs
	definitions runs
	page        counts // of the page that is being filled
	ints        delta
	texts       texts
	plain       []byte // booleans and doubles
	bounds      bounds // of the page
	chunk       chunk
	hashes      []uint64 // of the values of the chunk, for a Bloom filter; with duplicates
	bloom       bool
}

// counts counts the values of a page or of a chunk.
type counts struct {
	levels int // with NULLs, empty and absent lists
	values int
	rows   int
}

// level begins a value or NULL, which is one of the column if ok is set.
func (c *Column) level(ok bool, repetition, definition int) {
	leaf := &c.leaf
	if !ok || uint(repetition) > uint(leaf.MaxRepetition) || definition < 0 {
		panic(fmt.Sprintf("parquet: %q: a value of another type, or of levels %d, %d", leaf.Path, repetition, definition))
	}
	if repetition == 0 {
		if c.page.values >= pageValues || len(c.texts.plain) >= pageBytes || c.texts.size >= maxPageBytes {
			c.endPage()
		}
		c.page.rows++
	}
	if leaf.MaxRepetition > 0 {
		c.repetitions.put(uint32(repetition))
	}
	if leaf.MaxDefinition > 0 {
		c.definitions.put(uint32(definition))
	}
	c.page.levels++
}

// value begins a value, of the type of the column if ok is set.
func (c *Column) value(ok bool, repetition, definition int) {
	c.level(ok && definition == c.leaf.MaxDefinition, repetition, definition)
	c.page.values++
}

// Null appends that there is no value: definition is less than that of a value.
func (c *Column) Null(repetition, definition int) {
	c.level(definition < c.leaf.MaxDefinition, repetition, definition)
}

// Int64 appends an Int64, or a Timestamp in microseconds.
func (c *Column) Int64(v int64, repetition, definition int) {
	c.value(c.leaf.Type == Int64 || c.leaf.Type == Timestamp, repetition, definition)
	c.bounds.int(v)
	c.int(uint64(v))
}

// Uint64 appends a Uint64.
func (c *Column) Uint64(v uint64, repetition, definition int) {
	c.value(c.leaf.Type == Uint64, repetition, definition)
	c.bounds.int(ordered(v))
	c.int(v)
}

func (c *Column) int(v uint64) {
	c.ints.put(v)
	if c.bloom {
		c.hashes = append(c.hashes, xxhash.Sum64Uint64(v))
	}
}

// Bool appends a Boolean.
func (c *Column) Bool(v bool, repetition, definition int) {
	c.value(c.leaf.Type == Boolean, repetition, definition)
	bit := (c.page.values - 1) % 8
	if bit == 0 {
		c.plain = append(c.plain, 0)
	}
	var number byte
	if v {
		number = 1
	}
	c.plain[len(c.plain)-1] |= number << bit
	c.bounds.int(int64(number))
}

// Double appends a Double.
func (c *Column) Double(v float64, repetition, definition int) {
	c.value(c.leaf.Type == Double, repetition, definition)
	c.bounds.float(v)
	c.plain = binary.LittleEndian.AppendUint64(c.plain, math.Float64bits(v))
}

// Bytes appends a String, which is copied. Bytes that are not UTF-8 are stored as
// U+FFFD.
func (c *Column) Bytes(v []byte, repetition, definition int) {
	c.value(c.leaf.Type == String, repetition, definition)
	c.texts.size += len(v)
	if stored, isNew := c.texts.add(v, &c.bounds); isNew && c.bloom {
		c.hashes = append(c.hashes, xxhash.Sum64(stored))
	}
}
