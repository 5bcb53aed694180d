package parquet

import "encoding/binary"

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
	group  [8]uint32 // the group that is being filled
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
		r.group[r.n] = r.last
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
	var acc uint64
	var bits int
	for _, v := range r.group {
		acc |= uint64(v) << bits
		for bits += r.width; bits >= 8; bits -= 8 {
			r.buf = append(r.buf, byte(acc))
			acc >>= 8
		}
	}
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
