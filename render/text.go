package render

// width is the number of columns text takes on a terminal, without escapes.
func width(b []byte) int {
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

// appendSpaces appends n spaces, none when n is negative.
func appendSpaces(dst []byte, n int) []byte {
	const blank = "                                "
	for ; n > len(blank); n -= len(blank) {
		dst = append(dst, blank...)
	}
	if n > 0 {
		dst = append(dst, blank[:n]...)
	}
	return dst
}
