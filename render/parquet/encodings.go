package parquet

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// maxDictionary is the size of a dictionary page at most, uncompressed.
const maxDictionary = 1 << 20

// dictionary holds the different values of a chunk.
type dictionary struct {
	data   []byte   // the values as PLAIN: each behind its length
	starts []uint32 // of the values in data
	index  map[string]uint32
}

func (d *dictionary) reset() {
	d.data, d.starts = d.data[:0], d.starts[:0]
	clear(d.index)
}

func (d *dictionary) len() int { return len(d.starts) }

// value returns a value as PLAIN and without its length.
func (d *dictionary) value(index uint32) (plain, text []byte) {
	from, to := d.starts[index], uint32(len(d.data))
	if int(index)+1 < len(d.starts) {
		to = d.starts[index+1]
	}
	return d.data[from:to], d.data[from+4 : to]
}

// add adds a value that index does not have, and returns its index. It reports false if
// the dictionary is full.
func (d *dictionary) add(v []byte) (index uint32, ok bool) {
	if len(v) > maxDictionary-4-len(d.data) {
		return 0, false
	}
	if d.index == nil {
		d.index = make(map[string]uint32)
	}
	index = uint32(len(d.starts))
	d.starts = append(d.starts, uint32(len(d.data)))
	d.data = appendPlain(d.data, v)
	_, text := d.value(index)
	d.index[unsafe.String(unsafe.SliceData(text), len(text))] = index // without a copy of each value; reset clears it before data is used again
	return index, true
}

func appendPlain(dst, v []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(v))), v...)
}

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

func (d *delta) reset() { d.buf, d.n, d.values, d.first = d.buf[:0], 0, 0, 0 }

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
		part := d.block[i : i+miniBlockValues]
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
func appendPacked(dst []byte, values []uint64, width int) []byte {
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
	for ; n > 0; n -= 8 {
		dst = append(dst, byte(acc))
		acc >>= 8
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
	dst = binary.AppendVarint(dst, int64(d.first))
	return append(dst, d.buf...)
}

// maxGroups is how many groups of 8 numbers a bit-packed run has at most: its header
// takes one byte.
const maxGroups = 63

// runs encodes small numbers as RLE: runs of a repeated number, and bit-packed runs of
// groups of 8 numbers.
type runs struct {
	buf    []byte
	width  int // bits per number
	last   uint32
	count  int       // how often last was put without being encoded
	group  [8]uint64 // the group that is being filled
	n      int       // numbers in it
	header int       // offset of the header of the bit-packed run
	groups int       // groups in that run; 0 if there is no such run at the end of buf
}

func (r *runs) reset(width int) {
	r.buf, r.width, r.count, r.n, r.groups = r.buf[:0], width, 0, 0, 0
}

func (r *runs) put(v uint32) {
	if v != r.last {
		r.encode()
		r.last = v
	}
	r.count++
}

// encode encodes the run of the last number: the group that is being filled has to be
// filled first.
func (r *runs) encode() {
	for r.count > 0 && (r.n > 0 || r.count < 8) {
		r.group[r.n] = uint64(r.last)
		r.count--
		if r.n++; r.n == 8 {
			r.pack()
		}
	}
	if r.count == 0 {
		return
	}
	r.buf = binary.AppendUvarint(r.buf, uint64(r.count)<<1)
	for bits := 0; bits < r.width; bits += 8 {
		r.buf = append(r.buf, byte(r.last>>bits))
	}
	r.count, r.groups = 0, 0
}

func (r *runs) pack() {
	if r.groups == 0 || r.groups == maxGroups {
		r.header, r.groups = len(r.buf), 0
		r.buf = append(r.buf, 0)
	}
	r.groups++
	r.buf[r.header] = byte(r.groups<<1 | 1)
	r.buf = appendPacked(r.buf, r.group[:], r.width)
	r.n = 0
}

func (r *runs) finish() []byte {
	r.encode()
	if r.n > 0 {
		clear(r.group[r.n:])
		r.pack()
	}
	return r.buf
}
