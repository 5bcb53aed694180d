package html

import (
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/dissect/track/sizes"
	"github.com/lshark/lshark/render/tables"
)

type bucket struct {
	label string
	from  uint64 // the bars are in this order
	n     int64
}

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
	r.histogram("bulk-sizes", "Bulk data: transfers by size", "size", bulk)
	s := r.Sizes
	r.histogram("request-sizes", "Requests by size", "size", powers(&s.Requests))
	r.histogram("reply-sizes", "Replies by size", "size", powers(&s.Replies))
	r.histogram("read-offsets", "OST reads by offset in the object", "offset", powers(&s.Reads.Offsets))
	r.histogram("write-offsets", "OST writes by offset in the object", "offset", powers(&s.Writes.Offsets))
	r.histogram("read-lengths", "OST reads by length of a range", "length", powers(&s.Reads.Lengths))
	r.histogram("write-lengths", "OST writes by length of a range", "length", powers(&s.Writes.Lengths))
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
	counts := make([]int64, len(list))
	for k, b := range list {
		counts[k] = b.n
	}
	first, last, ok := tables.Filled(counts)
	if !ok {
		return
	}
	most := slices.Max(counts)
	t := table{id: id, caption: caption, columns: []column{{title: name, class: num}, {title: "count", class: num}}}
	for k := first; k <= last; k++ {
		b, count := list[k], numberCell(counts[k])
		if empty := slices.IndexFunc(counts[k:], func(n int64) bool { return n > 0 }); empty >= 3 {
			b.label = "…"
			k += empty - 1
		} else {
			count.html += bar(b.n, most)
		}
		t.rows = append(t.rows, []cell{{html: text(b.label), value: strconv.FormatUint(b.from, 10)}, count})
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
	}{{"reads", &r.Files.Accesses.Reads}, {"writes", &r.Files.Accesses.Writes}} {
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
