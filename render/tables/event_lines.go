package tables

import (
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// eventLines renders what happened by lines in the order of time: frame, time, node, more
// columns and a text.
type eventLines struct {
	opt                render.SummaryOptions
	at                 render.Moment
	number, time, node int // widths of columns
	start              int // where the line begins
	buf                []byte
}

func newEventLines(o render.SummaryOptions, first int64) eventLines {
	l := eventLines{opt: o, at: render.Moment{First: first}}
	l.resetWidths()
	return l
}

func (l *eventLines) resetWidths() { l.number, l.time, l.node = 5+l.opt.FileWidth(), 9, 9 }

// begin appends a frame, its time and a node.
func (l *eventLines) begin(dst *schema.Marked, frame string, p track.Point, node string) {
	l.start = len(dst.Text)
	render.AddRight(dst, schema.Dim, []byte(frame), &l.number)
	l.buf = l.opt.Time.Append(l.buf[:0], p.Time, l.at, l.opt.Wide())
	render.AddRight(dst.Plain(" "), schema.Dim, l.buf, &l.time)
	l.at.Before = p.Time
	render.AddLeft(dst.Plain(" "), schema.Node, []byte(node), &l.node)
}

// end appends the text, as much of it as the line has room for.
func (l *eventLines) end(dst *schema.Marked, r schema.Role, text []byte) {
	dst.Plain(" ")
	room := len(text)
	if l.opt.Width > 0 {
		room = max(0, l.opt.Width-render.Width(dst.Text[l.start:]))
	}
	render.AddTruncated(dst, r, text, room)
	dst.TrimSpaces()
	dst.Plain("\n")
}
