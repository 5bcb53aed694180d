package render

import (
	"strconv"

	"github.com/lshark/lshark/opcodes/schema"
)

// Width returns the number of columns that text takes on a terminal, without
// escape sequences.
func Width(b []byte) int {
	n := 0
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == 0x1b:
			for i < len(b) && b[i] != 'm' {
				i++
			}
		case b[i]&0xc0 != 0x80:
			n++
		}
	}
	return n
}

// AppendFrame appends the number of a frame, behind the name of its file if it
// has one: client.pcap:2925.
func AppendFrame(dst []byte, file string, number int64) []byte {
	if file != "" {
		dst = append(schema.AppendText(dst, []byte(file)), ':')
	}
	return strconv.AppendInt(dst, number, 10)
}

// appendGap appends what separates two parts of a line: two spaces, or a line
// break where the next part would go beyond the width of the terminal; 0: there
// is no such width. The line begins at start.
func appendGap(dst []byte, start, next, terminal int) []byte {
	if terminal > 0 && Width(dst[start:])+2+next > terminal {
		dst = append(dst, '\n')
	}
	return append(dst, "  "...)
}

// AppendSpaces appends n spaces, none when n is negative.
func AppendSpaces(dst []byte, n int) []byte {
	const blank = "                                "
	for ; n > len(blank); n -= len(blank) {
		dst = append(dst, blank...)
	}
	if n > 0 {
		dst = append(dst, blank[:n]...)
	}
	return dst
}
