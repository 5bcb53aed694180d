package html

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/render"
)

// maxMixed is how many operations the chart of their mix distinguishes; the palette
// has as many colours, and one for the others.
const maxMixed = 8

// mix appends how many RPCs of which operation were sent over time.
func (r *renderer) mix() {
	bins := r.Timeline.Bins()
	operations := r.Timeline.Operations()
	totals := make([]int64, len(operations)+1) // of each operation, and of those beyond them
	columns := make([]int64, len(bins))
	for i := range bins {
		for k, c := range bins[i].Counts {
			totals[min(k, len(operations))] += c
			columns[i] += c
		}
	}
	if sumOf(totals) == 0 {
		r.nothing("The capture has no RPCs.")
		return
	}
	most := slices.Max(columns)
	order := make([]int, len(operations))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(totals[b], totals[a]) })
	shown := order[:min(maxMixed, len(order))]
	names := make([]string, 0, maxMixed+1)
	for _, k := range shown {
		names = append(names, operation(operations[k].Opcode, operations[k].HasOpcode))
	}
	names = append(names, "all others")
	counts := func(bin int) []int64 {
		list := make([]int64, len(names))
		list[len(shown)] = columns[bin]
		for s, k := range shown {
			list[s] = bins[bin].Counts[k]
			list[len(shown)] -= list[s]
		}
		return list
	}
	seen := "The highest column has " + render.Counted(most, "RPC") + "."
	r.paragraph("RPCs by operation in each " + span(r.Timeline.Width()) + ", by the time of the request. " + seen)
	const plot = 220.0
	r.chart("RPCs by operation over time", "Stacked columns of RPCs by operation over time. Most are "+names[0]+": "+
		render.Thousands(totals[shown[0]])+" of "+render.Thousands(sumOf(totals))+". "+seen+" It is at "+
		r.binSpan(slices.Index(columns, most))+".", topMargin+plot+axisHeight)
	r.patterns()
	column := plotWidth / float64(len(bins))
	for _, part := range []int64{0, 1, 2} {
		y := topMargin + plot - plot*float64(part)/2
		r.raw(line("grid", leftMargin, y, leftMargin+plotWidth, y))
		if n := most * part / 2; part == 0 || most > 1 || part == 2 {
			r.raw(label("tick end", "", leftMargin-6, y+4, render.Thousands(n)))
		}
	}
	sums := make([]int64, len(names))
	for i := range bins {
		y := topMargin + plot
		for s, n := range counts(i) {
			sums[s] += n
			if n == 0 {
				continue
			}
			height := max(plot*float64(n)/float64(most), leastHeight)
			y -= height
			r.raw(rect("c"+number(s), leftMargin+float64(i)*column, y, max(column-.8, .8), height,
				names[s]+": "+render.Counted(n, "RPC")+", "+r.binSpan(i)))
		}
	}
	r.timeAxis(plot)
	r.raw("</svg></div>\n", `<ul class="legend" aria-label="Operations, from the bottom of the columns to the top">`)
	for s, n := range sums {
		if n > 0 {
			r.raw(`<li class="key">`, colorKey("c"+number(s), names[s]+" "+render.Thousands(n)), "</li>")
		}
	}
	r.raw("</ul>\n")
	r.binTable("mix-values", "RPCs by operation", counts, func(k int) string { return names[k] })
}

// leastHeight is the height of the part of a column that is smaller: one RPC among thousands is
// seen, too.
const leastHeight = 1.5

// patterns appends the hatchings of the even colours, so that neighbours can be
// distinguished without colours.
func (r *renderer) patterns() {
	r.raw("<defs>")
	for s := 1; s <= maxMixed; s += 2 {
		k := number(s)
		r.raw(`<pattern id="hatch`, k, `" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(`,
			[]markup{"45", "-45", "0", "90"}[s/2%4], `)"><rect class="f`, k,
			`" width="6" height="6"/><line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern>`)
	}
	r.raw("</defs>\n")
}
