package render

import (
	"math/bits"
	"strconv"
)

// bins counts values by powers of two of a unit: n[k] those of at most
// unit<<k and more than half of that.
type bins struct {
	unit int64
	n    [48]int64
}

func (h *bins) add(v, count int64) {
	k := 0
	if v > h.unit {
		k = bits.Len64(uint64((v - 1) / h.unit))
	}
	h.n[min(k, len(h.n)-1)] += count
}

// append appends a line for each bin from the first to the last that has
// values: its upper end, how many there are, and a bar.
func (h *bins) append(dst []byte, c *Colors, columns int, label func([]byte, int64) []byte) []byte {
	first, last, most := -1, -1, int64(0)
	for k, n := range h.n {
		if n == 0 {
			continue
		}
		if first < 0 {
			first = k
		}
		last, most = k, max(most, n)
	}
	if first < 0 {
		return dst
	}
	const labelWidth, countWidth, usual = 8, 9, 60
	room := int64(usual)
	if columns > 0 {
		room = int64(max(10, columns-labelWidth-countWidth-6))
	}
	for k := first; k <= last; k++ {
		var buf [32]byte
		text := label(buf[:0], h.unit<<k)
		dst = append(appendSpaces(dst, labelWidth-len(text)), "<= "...)
		dst = append(dst, text...)
		num := strconv.AppendInt(buf[:0], h.n[k], 10)
		dst = append(appendSpaces(append(dst, ' '), countWidth-len(num)), num...)
		dst = append(append(dst, ' '), c.Num.on...)
		dst = appendBar(dst, h.n[k], most, room)
		dst = append(append(dst, c.Num.off...), '\n')
	}
	return dst
}

// appendBar appends a bar of n/most of the room, in eighths of a column.
func appendBar(dst []byte, n, most, room int64) []byte {
	eighths := n * room * 8 / most
	for ; eighths >= 8; eighths -= 8 {
		dst = append(dst, "█"...)
	}
	parts := [...]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	if n > 0 && eighths == 0 && n*room*8/most == 0 {
		eighths = 1
	}
	return append(dst, parts[eighths]...)
}
