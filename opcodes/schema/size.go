package schema

import "strconv"

// AppendSize appends a number of bytes with a unit: 512, 4K, 1.5M.
func AppendSize[N int64 | uint64 | float64](dst []byte, bytes N) []byte {
	const units = "KMGTPEZ"
	n, u := float64(bytes), -1
	for n >= 1023.95 && u < len(units)-1 {
		u, n = u+1, n/1024
	}
	digits := 0
	if n < 10 && n != float64(int64(n)) {
		digits = 1
	}
	if dst = strconv.AppendFloat(dst, n, 'f', digits, 64); u >= 0 {
		dst = append(dst, units[u])
	}
	return dst
}

// SizeText is AppendSize with the name of the unit behind a space: 512 B, 1.5 MiB.
func SizeText[N int64 | uint64 | float64](n N, space string) string {
	text := AppendSize(nil, n)
	if last := len(text) - 1; text[last] > '9' {
		return string(text[:last]) + space + string(text[last:]) + "iB"
	}
	return string(text) + space + "B"
}
