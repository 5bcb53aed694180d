package html

import (
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/dissect/track/sizes"
)

type bucket struct {
	label string
	from  uint64 // the bars are in this order
	n     int64
}

// emptyBuckets is the label of several in a row that are empty.
const emptyBuckets = "…"

// sizes appends histograms of sizes and offsets.
func (r *renderer) sizes() {
	total := r.total()
	if total == nil {
		r.nothing("The capture has no RPCs.")
		return
	}
	r.raw("<div class=\"histograms\">\n")
	var bulk []bucket
	for k, n := range total.IO {
		bulk = append(bulk, bucket{"≤ " + size(1<<k), 1 << k, n})
	}
	r.histogram("bulk-sizes", "Bulk data: transfers by size", "Size", bulk)
	s := r.Sizes
	r.histogram("request-sizes", "Requests by size", "Size", powers(&s.Requests))
	r.histogram("reply-sizes", "Replies by size", "Size", powers(&s.Replies))
	r.histogram("read-offsets", "OST reads by offset in the object", "Offset", powers(&s.Reads.Offsets))
	r.histogram("write-offsets", "OST writes by offset in the object", "Offset", powers(&s.Writes.Offsets))
	r.histogram("read-lengths", "OST reads by length of a range", "Length", powers(&s.Reads.Lengths))
	r.histogram("write-lengths", "OST writes by length of a range", "Length", powers(&s.Writes.Lengths))
	r.raw("</div>\n")
	r.patternTable()
}

// powers returns the bars of a histogram.
func powers(h *sizes.Histogram) (list []bucket) {
	for k, n := range h {
		switch {
		case k == 0:
			list = append(list, bucket{"0", 0, n})
		case k > bits.Len64(math.MaxInt64):
			list = append(list, bucket{"≥ 8" + thin + "EiB", 1 << 63, n})
		default:
			from := int64(1) << (k - 1)
			list = append(list, bucket{"≥ " + size(from), uint64(from), n})
		}
	}
	return list
}

// histogram appends the bars from the first to the last that is not empty, as a
// table; nothing when all are. Several empty ones in a row are one row.
func (r *renderer) histogram(id markup, caption, name string, list []bucket) {
	first, last, most := -1, -1, int64(0)
	for k, b := range list {
		if b.n == 0 {
			continue
		}
		if first < 0 {
			first = k
		}
		last, most = k, max(most, b.n)
	}
	if first < 0 {
		return
	}
	var rows []bucket
	for k := first; k <= last; k++ {
		b := list[k]
		if n := emptyRun(list[k:]); n >= 3 {
			b.label = emptyBuckets
			k += n - 1
		}
		rows = append(rows, b)
	}
	table[bucket]{id: id, caption: caption, columns: []column[bucket]{
		{title: name, class: num, cell: func(b bucket) cell { return cell{text: b.label, value: strconv.FormatUint(b.from, 10)} }},
		{title: "Count", class: num, cell: func(b bucket) cell {
			c := numberCell(b.n)
			if b.label != emptyBuckets {
				c.bar, c.barOf = b.n, most
			}
			return c
		}},
	}}.append(&r.writer, rows)
}

func emptyRun(list []bucket) int {
	for k := range list {
		if list[k].n > 0 {
			return k
		}
	}
	return len(list)
}

// patternTable appends how ranges follow each other, and how they are aligned.
func (r *renderer) patternTable() {
	type row struct {
		name string
		*files.Accesses
	}
	rows := []row{{"Reads", &r.Files.Accesses.Reads}, {"Writes", &r.Files.Accesses.Writes}}
	rows = slices.DeleteFunc(rows, func(x row) bool { return x.Sequential+x.Strided+x.Random+x.Unaligned == 0 })
	if len(rows) == 0 {
		r.nothing("No ranges were read or written.")
		return
	}
	table[row]{id: "patterns", caption: "How the ranges of reads and writes follow each other, by object and client", columns: []column[row]{
		{cell: func(x row) cell { return cell{text: x.name} }},
		{title: "Sequential", class: num, help: "the range begins where another one ended, or at the beginning",
			cell: func(x row) cell { return numberCell(x.Sequential) }},
		{title: "Strided", class: num, help: "at the same distance as those before", cell: func(x row) cell { return numberCell(x.Strided) }},
		{title: "Random", class: num, cell: func(x row) cell { return numberCell(x.Random) }},
		{title: "Unaligned", class: num, help: "begins within a page of 4096 bytes", cell: func(x row) cell { return numberCell(x.Unaligned) }},
	}}.append(&r.writer, rows)
}
