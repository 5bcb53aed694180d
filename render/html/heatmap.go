package html

import (
	"math"

	"github.com/lshark/lshark/dissect/track/timeline"
)

// shades is the number of shades of the heat map.
const shades = 8

func (r *renderer) heatMap() {
	bins := r.Timeline.Bins()
	bounds := timeline.LatencyBounds()
	first, last, most, all := -1, -1, int64(0), int64(0)
	for k := range bounds {
		n := int64(0)
		for i := range bins {
			n += bins[i].Latencies[k]
			most = max(most, bins[i].Latencies[k])
		}
		all += n
		if n > 0 {
			if first < 0 {
				first = k
			}
			last = k
		}
	}
	if first < 0 {
		r.nothing("No request and its reply were both captured, so no latency is known.")
		return
	}
	total := r.total()
	r.paragraph("Each column is " + span(r.Timeline.Width()) + ", by the time of the request; each row is a range of latencies. The darker a cell, the more RPCs; on a dark page the brighter. Half of all " + counted(all, "RPC") + " with a reply took at most " + latency(total.Latency.Quantile(.5)) + ", 99" + thin + "% at most " + latency(total.Latency.Quantile(.99)) + ", the slowest " + latency(total.Latency.Max) + ".")
	rows := last - first + 1
	height := min(24.0, max(14.0, 240/float64(rows)))
	plot := height * float64(rows)
	r.chart("Heat map of latencies over time", topMargin+plot+axisHeight)
	cell := plotWidth / float64(len(bins))
	for k := first; k <= last; k++ {
		y := topMargin + float64(last-k)*height
		r.label("tick end", leftMargin-6, y+4, span(bounds[k]))
		for i := range bins {
			n := bins[i].Latencies[k]
			if n == 0 {
				continue
			}
			r.rect("h"+number(shade(n, most)), leftMargin+float64(i)*cell, y, cell-.5, height-.5,
				counted(n, "RPC")+" of "+bucketText(bounds, k)+", "+r.binSpan(i))
		}
	}
	from, to := r.plotSpan()
	r.timeAxis(from, to, plot)
	r.raw("</svg></div>\n<p class=\"legend\">RPCs in a cell:")
	for s, from := 1, int64(1); s <= shades; s++ {
		to := from
		for to < most && shade(to+1, most) == s {
			to = lastOfShade(to, s, most)
		}
		if shade(from, most) != s {
			continue
		}
		r.raw(` <span class="key"><svg aria-hidden="true" width="14" height="14"><rect class="h`, number(s), `" width="14" height="14"/></svg>`)
		text := count(from)
		if to > from {
			text += "–" + count(to)
		}
		r.text(text)
		r.raw("</span>")
		from = to + 1
	}
	r.raw("</p>\n")
}

// shade returns the shade of a count, from 1 to shades: by its logarithm.
func shade(n, most int64) int {
	if most <= 1 {
		return shades
	}
	return 1 + int(float64(shades-1)*math.Log(float64(n))/math.Log(float64(most))+1e-9)
}

// lastOfShade returns the greatest count, not above most, with the shade s. from must be a
// count with that shade.
func lastOfShade(from int64, s int, most int64) int64 {
	low, high := from, most
	for low < high {
		middle := low + (high-low+1)/2
		if shade(middle, most) == s {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
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
