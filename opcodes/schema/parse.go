package schema

import (
	"strconv"
	"strings"
)

// ParseFID reads a FID such as [0x200000401:0x1:0x0], with or without brackets.
func ParseFID(text string) (seq uint64, oid, ver uint32, ok bool) {
	parts := strings.Split(strings.Trim(text, "[]"), ":")
	if len(parts) != 3 {
		return 0, 0, 0, false
	}
	var n [3]uint64
	for i, bits := range [3]int{64, 32, 32} {
		var err error
		if n[i], err = strconv.ParseUint(parts[i], 0, bits); err != nil {
			return 0, 0, 0, false
		}
	}
	return n[0], uint32(n[1]), uint32(n[2]), true
}

// ParseVersion reads a Lustre version: 2.17.0.0 or its beginning.
func ParseVersion(text string) (uint32, bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return 0, false
	}
	var v uint32
	for i := range 4 {
		v <<= 8
		if i >= len(parts) {
			continue
		}
		n, err := strconv.ParseUint(parts[i], 10, 8)
		if err != nil {
			return 0, false
		}
		v |= uint32(n)
	}
	return v, true
}
