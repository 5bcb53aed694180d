package parquet

import (
	"encoding/binary"
	"math/bits"
)

// The primes of xxHash64.
const (
	prime1 = 0x9e3779b185ebca87
	prime2 = 0xc2b2ae3d27d4eb4f
	prime3 = 0x165667b19e3779f9
	prime4 = 0x85ebca77c2b2ae63
	prime5 = 0x27d4eb2f165667c5
)

// xxHash returns the xxHash64 of bytes, with the seed 0.
func xxHash(b []byte) uint64 {
	n := uint64(len(b))
	h := uint64(prime5)
	if n >= 32 {
		var lanes [4]uint64
		lanes, b = xxStripes(b)
		h = bits.RotateLeft64(lanes[0], 1) + bits.RotateLeft64(lanes[1], 7) + bits.RotateLeft64(lanes[2], 12) + bits.RotateLeft64(lanes[3], 18)
		for _, lane := range lanes {
			h = (h^xxRound(0, lane))*prime1 + prime4
		}
	}
	h += n
	for ; len(b) >= 8; b = b[8:] {
		h = bits.RotateLeft64(h^xxRound(0, binary.LittleEndian.Uint64(b)), 27)*prime1 + prime4
	}
	if len(b) >= 4 {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(b))*prime1, 23)*prime2 + prime3
		b = b[4:]
	}
	for _, c := range b {
		h = bits.RotateLeft64(h^uint64(c)*prime5, 11) * prime1
	}
	return xxAvalanche(h)
}

// xxHashUint returns the xxHash64 of a number of 8 bytes, little-endian.
func xxHashUint(v uint64) uint64 {
	h := uint64(prime5) + 8
	h = bits.RotateLeft64(h^xxRound(0, v), 27)*prime1 + prime4
	return xxAvalanche(h)
}

// xxStripes hashes the stripes of 32 bytes. It returns the four sums and the rest.
func xxStripes(b []byte) ([4]uint64, []byte) {
	p1, p2 := uint64(prime1), uint64(prime2) // variables: the sums overflow
	lanes := [4]uint64{p1 + p2, p2, 0, -p1}
	for ; len(b) >= 32; b = b[32:] {
		for i := range lanes {
			lanes[i] = xxRound(lanes[i], binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	return lanes, b
}

func xxRound(sum, v uint64) uint64 { return bits.RotateLeft64(sum+v*prime2, 31) * prime1 }

func xxAvalanche(h uint64) uint64 {
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return h ^ h>>32
}
