package parquet

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// maxDictionary is the size of a dictionary page at most, uncompressed.
const maxDictionary = 1 << 20

// minSlots is the size of a hash table at first.
const minSlots = 64

// dictionary holds the different values of a chunk.
type dictionary struct {
	data   []byte   // the values as PLAIN: each behind its length
	starts []uint32 // of the values in data
	hashes []uint32
	slots  []uint32 // index of a value plus 1, by hash; twice as many as values or more
	seed   maphash.Seed
}

func (d *dictionary) reset() {
	d.data, d.starts, d.hashes = d.data[:0], d.starts[:0], d.hashes[:0]
	clear(d.slots)
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

// find returns the index of a value, and otherwise its hash.
func (d *dictionary) find(v []byte) (index, hash uint32, ok bool) {
	if d.slots == nil {
		d.slots, d.seed = make([]uint32, minSlots), maphash.MakeSeed()
	}
	hash = uint32(maphash.Bytes(d.seed, v))
	mask := uint32(len(d.slots) - 1)
	for i := hash & mask; d.slots[i] != 0; i = (i + 1) & mask {
		index = d.slots[i] - 1
		if d.hashes[index] == hash {
			if _, text := d.value(index); bytes.Equal(text, v) {
				return index, hash, true
			}
		}
	}
	return 0, hash, false
}

// add adds a value that find did not find, and returns its index. It reports false if
// the dictionary is full.
func (d *dictionary) add(v []byte, hash uint32) (index uint32, ok bool) {
	if len(v) > maxDictionary-4-len(d.data) {
		return 0, false
	}
	index = uint32(len(d.starts))
	d.starts = append(d.starts, uint32(len(d.data)))
	d.hashes = append(d.hashes, hash)
	d.data = appendPlain(d.data, v)
	if 2*len(d.starts) > len(d.slots) {
		d.slots = make([]uint32, 2*len(d.slots))
		for i := range d.hashes {
			d.insert(uint32(i))
		}
	} else {
		d.insert(index)
	}
	return index, true
}

func (d *dictionary) insert(index uint32) {
	mask := uint32(len(d.slots) - 1)
	i := d.hashes[index] & mask
	for d.slots[i] != 0 {
		i = (i + 1) & mask
	}
	d.slots[i] = index + 1
}

func appendPlain(dst, v []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(v))), v...)
}
