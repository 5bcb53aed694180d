package parquet

import (
	"encoding/binary"
	"math/bits"
)

// A block of differences has miniBlocks parts, each with numbers of the same width.
const (
	blockValues     = 128
	miniBlocks      = 4
	miniBlockValues = blockValues / miniBlocks
)

// delta encodes numbers as DELTA_BINARY_PACKED.
type delta struct {
	buf    []byte // the blocks that are complete
	block  [blockValues]uint64
	n      int // differences in block
	values int
	first  uint64
	last   uint64
}

func (d *delta) reset() { d.buf, d.n, d.values = d.buf[:0], 0, 0 }

// put appends a number. Differences are modulo 2^64, so signed and unsigned numbers
// are alike.
func (d *delta) put(v uint64) {
	d.values++
	if d.values == 1 {
		d.first, d.last = v, v
		return
	}
	d.block[d.n] = v - d.last
	d.last = v
	if d.n++; d.n == blockValues {
		d.endBlock()
	}
}

func (d *delta) endBlock() {
	block := d.block[:d.n]
	least := int64(block[0])
	for _, v := range block {
		least = min(least, int64(v))
	}
	d.buf = binary.AppendVarint(d.buf, least)
	widths := len(d.buf)
	d.buf = append(d.buf, make([]byte, miniBlocks)...)
	clear(d.block[d.n:])
	for i := 0; i < d.n; i += miniBlockValues {
		part := (*[miniBlockValues]uint64)(d.block[i:])
		var all uint64
		for k := range min(miniBlockValues, d.n-i) {
			part[k] -= uint64(least)
			all |= part[k]
		}
		width := bits.Len64(all)
		d.buf[widths+i/miniBlockValues] = byte(width)
		d.buf = appendPacked(d.buf, part, width)
	}
	d.n = 0
}

// appendPacked appends the lowest bits of numbers.
func appendPacked(dst []byte, values *[miniBlockValues]uint64, width int) []byte {
	if width == 0 {
		return dst
	}
	var acc uint64
	var n int
	for _, v := range values {
		acc |= v << n
		if n += width; n >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, acc)
			n -= 64
			acc = v >> (width - n)
		}
	}
	if n > 0 { // 32 numbers: half a word is left at most
		dst = binary.LittleEndian.AppendUint32(dst, uint32(acc))
	}
	return dst
}

func (d *delta) appendTo(dst []byte) []byte {
	if d.n > 0 {
		d.endBlock()
	}
	dst = binary.AppendUvarint(dst, blockValues)
	dst = binary.AppendUvarint(dst, miniBlocks)
	dst = binary.AppendUvarint(dst, uint64(d.values))
	if d.values == 0 {
		d.first = 0
	}
	dst = binary.AppendVarint(dst, int64(d.first))
	return append(dst, d.buf...)
}
