package html

import (
	"strconv"
	"time"
)

// The size of a chart in units of its drawing, which are pixels where there is room.
const (
	chartWidth = 960.0
	leftMargin = 76.0 // labels of the vertical axis
	topMargin  = 8.0
	axisHeight = 34.0 // labels of the time axis
	plotWidth  = chartWidth - leftMargin - 12
)

// chart opens a drawing of the timeline in a box that scrolls. seen is what one sees in it. The
// script shows the title of the part that is touched, and needs to know the times at both ends.
func (r *renderer) chart(label, seen string, height float64) {
	from := r.Timeline.Begin()
	to := from + int64(len(r.Timeline.Bins()))*r.Timeline.Width()
	r.raw(`<div class="scroll" role="region" tabindex="0" aria-label="`, text(label),
		`"><svg class="chart" role="img" aria-label="`, text(seen), `" data-from="`, micros(from), `" data-to="`, micros(to),
		`" viewBox="0 0 `, coordinate(chartWidth), " ", coordinate(height), "\">\n")
}

// rect returns a rectangle, with a title that browsers show.
func rect(class markup, x, y, width, height float64, title string) markup {
	m := `<rect class="` + class + `"` + attribute("x", x) + attribute("y", y) + attribute("width", width) + attribute("height", height)
	if title == "" {
		return m + "/>\n"
	}
	return m + ">" + element("title", title) + "</rect>\n"
}

// label returns text. attributes may be empty.
func label(class, attributes markup, x, y float64, s string) markup {
	return `<text class="` + class + `"` + attributes + attribute("x", x) + attribute("y", y) + ">" + text(s) + "</text>\n"
}

func line(class markup, x1, y1, x2, y2 float64) markup {
	return `<line class="` + class + `"` + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) + attribute("y2", y2) + "/>\n"
}

// colorKey returns the explanation of a colour in a legend.
func colorKey(class markup, s string) markup {
	return `<svg aria-hidden="true" width="14" height="14"><rect class="` + class + `" width="14" height="14"/></svg>` + text(s)
}

// timeSteps are the distances between the labels of a time axis, by their units.
var timeSteps = []struct {
	unit  time.Duration
	steps []int64
}{
	{time.Microsecond, []int64{1, 2, 5, 10, 20, 50, 100, 200, 500}},
	{time.Millisecond, []int64{1, 2, 5, 10, 20, 50, 100, 200, 500}},
	{time.Second, []int64{1, 2, 5, 10, 20, 50}},
	{time.Minute, []int64{1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 720, 1440}},
}

// timeStep returns a distance between labels, of which there are at most a few.
func timeStep(length int64) int64 {
	const most, day = 10, 24 * int64(time.Hour)
	for _, u := range timeSteps {
		for _, n := range u.steps {
			if step := n * int64(u.unit); length/step <= most {
				return step
			}
		}
	}
	return (length/most/day + 1) * day
}

func (r *renderer) timeAxis(plotHeight float64) {
	from := r.Timeline.Begin() - r.Capture.First
	to := from + int64(len(r.Timeline.Bins()))*r.Timeline.Width()
	y := topMargin + plotHeight
	r.raw(line("axis", leftMargin, y, leftMargin+plotWidth, y))
	step := timeStep(to - from)
	first := from / step * step
	if first < from {
		first += step
	}
	for t := first; t <= to; t += step {
		x := leftMargin + plotWidth*float64(t-from)/float64(to-from)
		r.raw(line("axis", x, y, x, y+4), label("tick middle", ` data-u="`+micros(r.Capture.First+t)+`"`, x, y+17, timeLabel(t, step)))
	}
}

func timeLabel(t, step int64) string {
	switch {
	case step >= int64(time.Hour):
		return strconv.FormatInt(t/int64(time.Hour), 10) + thin + "h"
	case step >= int64(time.Minute):
		return strconv.FormatInt(t/int64(time.Minute), 10) + thin + "min"
	case step >= int64(time.Millisecond):
		return trimZeros(strconv.FormatFloat(float64(t)/float64(time.Second), 'f', 3, 64)) + thin + "s"
	}
	return trimZeros(strconv.FormatFloat(float64(t)/float64(time.Millisecond), 'f', 3, 64)) + thin + "ms"
}

// binSpan returns from when to when a bin of the timeline is, relative to the first
// frame, in words.
func (r *renderer) binSpan(k int) string {
	from := r.Timeline.Begin() + int64(k)*r.Timeline.Width() - r.Capture.First
	const digits = 3
	format := func(ns int64) string {
		return strconv.FormatFloat(float64(ns)/float64(time.Second), 'f', digits, 64)
	}
	return format(from) + " to " + format(from+r.Timeline.Width()) + thin + "s"
}
