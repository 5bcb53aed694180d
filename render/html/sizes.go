package html

import (
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/render/tables"
)

// sizes appends histograms of sizes and offsets.
func (r *renderer) sizes() {
	total := r.total()
	if total == nil {
		r.nothing("The capture has no RPCs.")
		return
	}
	r.raw("<div class=\"histograms\">\n")
	r.histogram("bulk-sizes", "Bulk data: transfers by size", "size", total.IO[:], func(k int) (string, uint64) { return "≤ " + size(1<<k), 1 << k })
	s := r.Sizes
	r.histogram("request-sizes", "Requests by size", "size", s.Requests[:], power)
	r.histogram("reply-sizes", "Replies by size", "size", s.Replies[:], power)
	r.histogram("read-offsets", "OST reads by offset in the object", "offset", s.Reads.Offsets[:], power)
	r.histogram("write-offsets", "OST writes by offset in the object", "offset", s.Writes.Offsets[:], power)
	r.histogram("read-lengths", "OST reads by length of a range", "length", s.Reads.Lengths[:], power)
	r.histogram("write-lengths", "OST writes by length of a range", "length", s.Writes.Lengths[:], power)
	r.raw("</div>\n")
	r.patternTable()
}

// power describes the k-th bar of a histogram of powers of two.
func power(k int) (label string, from uint64) {
	switch {
	case k == 0:
		return "0", 0
	case k > bits.Len64(math.MaxInt64):
		return "≥ 8" + thin + "EiB", 1 << 63
	}
	return "≥ " + size(1<<(k-1)), 1 << (k - 1)
}

// histogram appends the bars from the first to the last that is not empty, as a
// table; nothing when all are. Several empty ones in a row are one row. The bars are in the order of
// where they begin.
func (r *renderer) histogram(id markup, caption, name string, counts []int64, bar func(k int) (label string, from uint64)) {
	first, last, ok := tables.Filled(counts)
	if !ok {
		return
	}
	most := slices.Max(counts)
	t := table{id: id, caption: caption, columns: []column{{title: name, class: num}, {title: "count", class: num}}}
	for k := first; k <= last; k++ {
		count := numberCell(counts[k])
		label, from := bar(k)
		if empty := slices.IndexFunc(counts[k:], func(n int64) bool { return n > 0 }); empty >= 3 {
			label = "…"
			k += empty - 1
		} else {
			count.html += proportion(counts[k], most)
		}
		t.rows = append(t.rows, []cell{{html: text(label), value: strconv.FormatUint(from, 10)}, count})
	}
	r.table(&t)
}

// patternTable appends how ranges follow each other, and how they are aligned.
func (r *renderer) patternTable() {
	t := table{id: "patterns", caption: "How the ranges of reads and writes follow each other, by object and client", columns: []column{{},
		{title: "sequential", class: num, help: "the range begins where another one ended, or at the beginning"},
		{title: "strided", class: num, help: "at the same distance as those before"},
		{title: "random", class: num},
		{title: "unaligned", class: num, help: "begins within a page of 4096 bytes"}}}
	for _, x := range []struct {
		name string
		*files.Accesses
	}{{"reads", &r.Files.Reads}, {"writes", &r.Files.Writes}} {
		if x.Sequential+x.Strided+x.Random+x.Unaligned > 0 {
			t.rows = append(t.rows, []cell{{html: text(x.name)}, numberCell(x.Sequential), numberCell(x.Strided), numberCell(x.Random),
				numberCell(x.Unaligned)})
		}
	}
	if len(t.rows) == 0 {
		r.nothing("No ranges were read or written.")
		return
	}
	r.table(&t)
}
