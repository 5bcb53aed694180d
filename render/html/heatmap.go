package html

import (
	"math"
	"sort"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/timeline"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/tables"
)

// shades is the number of shades of the heat map.
const shades = 6

// heatMap appends how many RPCs had which latency over time.
func (r *renderer) heatMap() {
	bins := r.Timeline.Bins()
	bounds := timeline.LatencyBounds()
	rows := make([]int64, len(bounds))
	var most int64
	for k := range bounds {
		for i := range bins {
			rows[k] += bins[i].Latencies[k]
			most = max(most, bins[i].Latencies[k])
		}
	}
	first, last, ok := tables.Filled(rows)
	if !ok {
		r.nothing("No request and its reply were both captured, so no latency is known.")
		return
	}
	total := r.total()
	median := total.Latency.Quantile(.5)
	slow := slowRows(rows, bounds, median)
	seen := "Half of all " + render.Counted(sumOf(rows), "RPC") + " with a reply took at most " + latency(median) + ", 99" + thin + "% at most " +
		latency(total.Latency.Quantile(.99)) + ", the slowest " + latency(total.Latency.Max) + "."
	r.paragraph("Each column is " + span(r.Timeline.Width()) + ", by the time of the request; each row is a range of latencies. The more a " +
		"cell stands out from the page, the more RPCs. " + seen)
	height := min(24.0, max(14.0, 240/float64(last-first+1)))
	plot := height * float64(last-first+1)
	marked := sumOf(rows[slow:])
	if marked > 0 {
		seen += " Marked as slow: " + render.Counted(marked, "RPC") + " of more than " + span(bounds[slow-1]) + "."
	}
	r.chart("Latencies over time", "Heat map of latencies over time. "+seen, topMargin+plot+axisHeight)
	width := plotWidth / float64(len(bins))
	for k := first; k <= last; k++ { // the slow ones are drawn last, over others
		y := topMargin + float64(last-k)*height
		r.raw(label("tick end", "", leftMargin-6, y+4, span(bounds[k])))
		for i := range bins {
			n := bins[i].Latencies[k]
			if n == 0 {
				continue
			}
			x, w, class := leftMargin+float64(i)*width, width-.5, "h"+number(shade(n, most))
			if k >= slow {
				const least = 9 // to be seen from afar
				middle := x + w/2
				w, class = max(w, least), "slow"
				x = middle - w/2
			}
			r.raw(rect(class, x, y, w, height-.5, render.Counted(n, "RPC")+" of "+bucketText(bounds, k)+", "+r.binSpan(i)))
		}
	}
	r.timeAxis(plot)
	r.raw("</svg></div>\n<p class=\"legend\">RPCs in a cell:")
	for s, from := 1, int64(1); s <= shades; s++ {
		next := afterShade(s, most)
		if next == from {
			continue
		}
		counts := render.Thousands(from)
		if next > from+1 {
			counts += "–" + render.Thousands(next-1)
		}
		r.raw(` <span class="key">`, colorKey("h"+number(s), counts), "</span>")
		from = next
	}
	if marked > 0 {
		r.raw(` <span class="key">`, colorKey("slow", "slow: "+render.Thousands(marked)+" of more than "+span(bounds[slow-1])), "</span>")
	}
	r.raw("</p>\n")
	r.binTable("latency-values", "RPCs with a reply", func(k int) []int64 { return bins[k].Latencies[first : last+1] },
		func(k int) string { return "≤ " + span(bounds[first+k]) })
}

// slowRows returns the first of the rows whose RPCs are marked, len(rows) for none: the slowest
// of all, one in a hundred or at most three, that took much longer than usual.
func slowRows(rows, bounds []int64, median int64) int {
	const few, much = 3, 4
	all, n := sumOf(rows), int64(0)
	k := len(rows)
	for ; k > 1 && bounds[k-2] >= much*median; k-- {
		if n += rows[k-1]; n > max(few, all/100) {
			break
		}
	}
	return k
}

// binTable appends the values of a chart: a row for each column of it that has some.
func (r *renderer) binTable(id markup, caption string, values func(bin int) []int64, title func(k int) string) {
	t := table{id: id, caption: caption + " by " + span(r.Timeline.Width()), columns: []column{
		{title: "from", class: num, help: "time of the first request at the earliest"}, {title: "RPCs", class: num}}}
	for k := range values(0) {
		t.columns = append(t.columns, column{title: title(k), class: num})
	}
	for i := range r.Timeline.Bins() {
		counts := values(i)
		all := sumOf(counts)
		if all == 0 {
			continue
		}
		row := []cell{r.timeCell(track.Point{Time: r.Timeline.Begin() + int64(i)*r.Timeline.Width()}), numberCell(all)}
		for _, n := range counts {
			row = append(row, numberCell(n))
		}
		t.rows = append(t.rows, row)
	}
	r.raw("<details class=\"values\"><summary>Values of the chart</summary>\n")
	r.table(&t)
	r.raw("</details>\n")
}

// shade returns the shade of a count, from 1 to shades: by its logarithm.
func shade(n, most int64) int {
	if most <= 1 {
		return shades
	}
	return 1 + int(float64(shades-1)*math.Log(float64(n))/math.Log(float64(most))+1e-9)
}

// afterShade returns the least count with a darker shade than s, most+1 for none.
func afterShade(s int, most int64) int64 {
	return 1 + int64(sort.Search(int(most), func(k int) bool { return shade(int64(k)+1, most) > s }))
}

func bucketText(bounds []int64, k int) string {
	switch k {
	case 0:
		return "at most " + span(bounds[0])
	case len(bounds) - 1:
		return "more than " + span(bounds[k-1])
	}
	return span(bounds[k-1]) + " to " + span(bounds[k])
}
