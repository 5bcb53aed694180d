package opcodes

import "testing"

// TestSumData checks the checksums of the nine digits, which are known for all of
// them, and that T10 kinds follow the sectors of the object.
func TestSumData(t *testing.T) {
	digits := []byte("123456789")
	one := []DataRange{{0, uint32(len(digits))}}
	for name, want := range map[string]uint32{"CRC32": 0x340bc6d9, "ADLER": 0x091e01de, "CRC32C": 0xe3069283, "T10CRC512": guardAdler(0xd0db), "T10IP4K": guardAdler(0xf62a)} {
		c, ok := SumData(ObdoFlags.Number("CKSUM_"+name), digits, one)
		if !ok || c.Value != want || c.Name() != name {
			t.Errorf("%s: %#x, want %#x", c.Name(), c.Value, want)
		}
	}
	if _, ok := SumData(0xf000, digits, one); ok {
		t.Error("a checksum of an unknown kind")
	}
	// Bytes 4095 and 4096 are in two sectors; a read may end before its range.
	c, _ := SumData(ObdoFlags.Number("CKSUM_T10IP4K"), []byte{1, 0, 2}, []DataRange{{4095, 2}, {8192, 100}})
	if want := guardAdler(0xfeff, 0xffff, 0xfdff); c.Value != want {
		t.Errorf("three sectors: %#x, want %#x", c.Value, want)
	}
}

// guardAdler returns the Adler-32 of guard tags.
func guardAdler(tags ...uint16) uint32 {
	a, b := uint32(1), uint32(0)
	for _, tag := range tags {
		for _, c := range []uint32{uint32(tag >> 8), uint32(tag & 0xff)} {
			a = (a + c) % 65521
			b = (b + a) % 65521
		}
	}
	return b<<16 | a
}
