package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
)

// bins counts values by their size: n[k] those that are at most bounds[k] and
// greater than the bound before; the last bin has also those beyond all bounds.
type bins struct {
	bounds []int64
	n      []int64
}

func newBins(bounds []int64) *bins { return &bins{bounds, make([]int64, len(bounds))} }

var sizeBounds = func() (list []int64) {
	for k := range 40 {
		list = append(list, 1<<k)
	}
	return list
}()

func (h *bins) add(v, count int64) {
	k, _ := slices.BinarySearch(h.bounds, v)
	h.n[min(k, len(h.n)-1)] += count
}

// append appends a line for each bin from the first to the last that has
// values: its upper end, how many there are, and a bar.
func (h *bins) append(dst *schema.Marked, columns int, label func([]byte, int64) []byte) {
	first, last, ok := Filled(h.n)
	if !ok {
		return
	}
	most := slices.Max(h.n)
	const labelWidth, countWidth, minBar, maxBar = 8, 9, 10, 60
	room := int64(maxBar)
	if columns > 0 {
		room = int64(min(max(minBar, columns-labelWidth-countWidth-6), maxBar))
	}
	for k := first; k <= last; k++ {
		text := label(nil, h.bounds[k])
		dst.Plain(fmt.Sprintf("%*s<= %s %*d", labelWidth-len(text), "", text, countWidth, h.n[k]))
		dst.Plain(" ").Add(schema.Number, bar(h.n[k], most, room)).Plain("\n")
	}
}

// Filled returns the first and the last of some counts that are not 0.
func Filled(counts []int64) (first, last int, ok bool) {
	first = slices.IndexFunc(counts, func(n int64) bool { return n != 0 })
	for last = len(counts) - 1; last > first && counts[last] == 0; last-- {
	}
	return first, last, first >= 0
}

// bar returns a bar of n/most of the room, in eighths of a column. A count that
// is not 0 has at least one eighth.
func bar(n, most, room int64) string {
	eighths := n * room * 8 / most
	if n > 0 {
		eighths = max(eighths, 1)
	}
	parts := [...]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	return strings.Repeat("█", int(eighths/8)) + parts[eighths%8]
}
