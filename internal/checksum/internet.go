// Package checksum computes Internet checksums (RFC 1071).
package checksum

import "encoding/binary"

// Add adds the 16-bit words of b, in big-endian order, to a sum of words in ones'
// complement. A last single byte counts as a word with a zero behind it.
func Add(sum uint16, b []byte) uint16 {
	total := uint64(sum)
	for ; len(b) >= 8; b = b[8:] {
		v := binary.BigEndian.Uint64(b)
		total += v>>32 + v&0xffffffff
	}
	for ; len(b) >= 2; b = b[2:] {
		total += uint64(b[0])<<8 | uint64(b[1])
	}
	if len(b) > 0 {
		total += uint64(b[0]) << 8
	}
	for total>>16 != 0 {
		total = total>>16 + total&0xffff
	}
	return uint16(total)
}

// Internet returns the checksum of b: the complement of the sum.
func Internet(b []byte) uint16 { return ^Add(0, b) }
