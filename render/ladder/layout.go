package ladder

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/render"
)

// layout has the places of all parts of a diagram. Places and widths are in columns of
// text, from 0.
type layout struct {
	width     int // of a line, 0: without a limit
	frame     int // width of the column of frames, right-aligned; 0: hidden
	time      int // width of the column of times
	lifelines []int
	columns   []*node
	text      int        // where the text right of the lifelines begins
	xid       int        // width of the column of xids in it; 0: hidden
	op        int        // width of the column of operations in it; 0: they are on the arrows
	short     bool       // long operations are abbreviated
	names     [][]string // names of the columns, below them NIDs and targets
	headers   [][]string // what of these has room above the columns, else letters; the legend has the rest
}

const (
	usualWidth  = 120 // where lines have no limit
	minSpacing  = 6   // of two lifelines
	maxSpacing  = 16  // with operations in the text
	minText     = 26  // right of the lifelines
	maxText     = 40  // room that it has before operations are on the arrows
	arrowEnds   = 7   // of an arrow with an operation on it, both lifelines included
	maxOp       = 30
	margin      = 2 // between columns
	minForFrame = 60
)

// newLayout decides on the layout of events. times are their times as text.
func (d *Diagram) newLayout(events []*Event, ns *nodes, times []string, width int) *layout {
	l := &layout{width: width}
	whole := width
	if whole == 0 {
		whole = usualWidth
	}
	l.short = whole < usualWidth
	left := l.measure(d, events, times, whole)
	room := whole - left - 1 - margin
	l.columns = ns.columns(max(2, (room-minText)/minSpacing+1))
	if width > 0 { // else text may go on to the right
		room -= max(minText, min(whole/3, maxText))
	}
	header := 0
	for _, n := range l.columns {
		header = max(header, render.Width([]byte(d.title(n)))+margin)
	}
	spaces := max(1, len(l.columns)-1)
	onArrows := l.opWidth(events) + arrowEnds
	if spaces*onArrows > room && !l.short {
		l.short = true
		onArrows = l.opWidth(events) + arrowEnds
	}
	spacing := 0
	if spaces*onArrows > room {
		l.op = l.opWidth(events)
		if width > 0 {
			room = whole - left - 1 - margin - minText/2 - l.op - 1
		}
		spacing = max(minSpacing, min(header, maxSpacing, room/spaces))
	} else {
		spacing = max(onArrows, min(header, room/spaces))
	}
	if width > 0 && spaces*spacing+l.xid > room {
		l.xid = 0
	}
	for i := range l.columns {
		l.lifelines = append(l.lifelines, left+i*spacing)
	}
	l.text = l.lifelines[len(l.lifelines)-1] + 1 + margin
	var first, letters [][]string
	for i, n := range l.columns {
		l.names = append(l.names, d.headerLines(n))
		first, letters = append(first, l.names[i][:1]), append(letters, []string{letter(i)})
	}
	for _, l.headers = range [][][]string{l.names, first, letters} {
		if l.headersFit() {
			break
		}
	}
	return l
}

// measure sets the widths of frames, times and xids for lines of a width, and returns
// where the lifelines may begin.
func (l *layout) measure(d *Diagram, events []*Event, times []string, whole int) (left int) {
	xids := make(map[uint64]bool)
	for i, e := range events {
		l.time = max(l.time, len(times[i]))
		l.frame = max(l.frame, render.Width(frameText(d, e)))
		if e.XID != 0 {
			xids[e.XID] = true
		}
	}
	for xid := range xids {
		if len(xids) > 1 && whole >= usualWidth {
			l.xid = max(l.xid, len(xidText(xid))+1)
		}
	}
	if left = l.time + margin; whole < minForFrame {
		l.frame = 0
	}
	if l.frame > 0 {
		left += l.frame + 1
	}
	return left
}

// opWidth returns the width of the longest operation, at most maxOp.
func (l *layout) opWidth(events []*Event) (n int) {
	for _, e := range events {
		n = max(n, min(render.Width(l.opText(e)), maxOp))
	}
	return n
}

func (l *layout) opText(e *Event) []byte {
	if !l.short {
		return e.Op
	}
	return render.ShortenOpcode(bytes.Clone(e.Op))
}

// frameText returns the number of an event's frame, empty without one. A line of a log has a label of the
// log in place of a file.
func frameText(d *Diagram, e *Event) []byte {
	switch i := slices.Index(d.Files, e.File); {
	case e.Kind == LogLine:
		return render.AppendFrame(nil, logLabel(slices.Index(d.Logs, e.File)), e.Line)
	case e.Frame == 0:
		return nil
	case i >= 0:
		return render.AppendFrame(nil, strconv.Itoa(i+1), e.Frame)
	}
	return render.AppendFrame(nil, e.File, e.Frame)
}

// logLabel returns what stands for a log.
func logLabel(log int) string { return "L" + strconv.Itoa(log+1) }

func xidText(xid uint64) string { return "x" + strconv.FormatUint(xid, 10) }

func (d *Diagram) headerLines(n *node) (lines []string) {
	lines = append(lines, d.title(n))
	if n.others > 0 {
		return lines
	}
	for _, nid := range n.nids {
		if t := d.nidText(nid); t != lines[0] {
			lines = append(lines, t)
		}
	}
	return append(lines, n.targets...)
}

// headerRows returns the number of lines above the lifelines.
func (l *layout) headerRows() (n int) {
	for _, lines := range l.headers {
		n = max(n, len(lines))
	}
	return n
}

func widest(lines []string) (n int) {
	for _, line := range lines {
		n = max(n, render.Width([]byte(line)))
	}
	return n
}

func (l *layout) headersFit() bool {
	free := 0
	for i, lines := range l.headers {
		w := widest(lines)
		from := l.headerAt(i, w)
		if from < free || l.width > 0 && from+w > l.width {
			return false
		}
		free = from + w + 1
	}
	return true
}

// legend returns what the legend says of a column, empty if that is above the column.
func (l *layout) legend(column int) string {
	lines, above := l.names[column], l.headers[column]
	s := lines[0]
	if len(lines) > 1 {
		s += "  " + strings.Join(lines[1:], " ")
	}
	switch {
	case above[0] != lines[0]:
		return above[0] + "  " + s
	case len(above) == len(lines):
		return ""
	}
	return s
}

// headerAt returns where text of a width begins that is above a lifeline.
func (l *layout) headerAt(column, width int) int { return max(0, l.lifelines[column]-(width-1)/2) }

func letter(column int) string {
	const letters = 26
	if column < letters {
		return string(rune('A' + column))
	}
	return letter(column/letters-1) + letter(column%letters)
}

// gaps returns for each event how many lines the gap before it takes, the time since the
// previous event: 0 for most. A gap is drawn if it is at least a twentieth of the whole
// diagram's time and three times the median gap, or at least a second and a hundredth of
// the whole time. It takes one line, two from a tenth of the whole time on, and three from
// a third on.
func gaps(events []*Event) []int {
	lines := make([]int, len(events))
	if len(events) < 2 {
		return lines
	}
	all := make([]int64, 0, len(events)-1)
	for i := 1; i < len(events); i++ {
		all = append(all, events[i].Time-events[i-1].Time)
	}
	slices.Sort(all)
	median := all[(len(all)-1)/2]
	whole := events[len(events)-1].Time - events[0].Time
	for i := 1; i < len(events); i++ {
		gap := events[i].Time - events[i-1].Time
		relative := gap >= max(whole/20, 1) && gap >= 3*median
		if !relative && (gap < int64(time.Second) || gap < whole/100) {
			continue
		}
		switch {
		case gap >= whole/3:
			lines[i] = 3
		case gap >= whole/10:
			lines[i] = 2
		default:
			lines[i] = 1
		}
	}
	return lines
}
