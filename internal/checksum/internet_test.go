package checksum_test

import (
	"encoding/binary"
	"testing"

	"github.com/lshark/lshark/internal/checksum"
)

// TestInternet compares with the example of RFC 1071, and long and odd data with a sum
// word by word.
func TestInternet(t *testing.T) {
	if got := checksum.Add(0, []byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}); got != 0xddf2 {
		t.Errorf("example: %#x", got)
	}
	b := make([]byte, 0, 100)
	for i := range cap(b) {
		var sum uint32
		padded := append(append([]byte{}, b...), 0)
		for k := 0; k+1 < len(padded); k += 2 {
			sum += uint32(binary.BigEndian.Uint16(padded[k:]))
			sum = sum>>16 + sum&0xffff
		}
		if got := checksum.Internet(b); got != ^uint16(sum) {
			t.Errorf("%d bytes: %#x, want %#x", len(b), got, ^uint16(sum))
		}
		b = append(b, byte(255-i*7))
	}
}
