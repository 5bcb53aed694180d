package ladder

import (
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// markNames are the marks as JSON has them, in the order of their bits.
var markNames = [...]string{"retransmitted", "incomplete", "resent", "no_reply", "no_request", "failed"}

// Records returns the events as records.
func (d *Diagram) Records() (list []*records.Arrow) {
	full := render.NIDs{Full: true}
	for _, e := range d.Events() {
		a := &records.Arrow{At: track.Point{Frame: e.Frame, File: e.File, Time: e.Time}, From: nidText(e.From, full), To: nidText(e.To, full),
			Kind: e.Type.String(), Opcode: e.Opcode, HasOpcode: e.HasOpcode, Variant: e.Variant, XID: e.XID, Text: string(e.Facts.Text),
			Note: e.note()}
		switch e.Kind {
		case Loss:
			a.Kind = records.Loss
		case LogLine:
			a.Kind, a.Line, a.To = records.Logged, e.Line, ""
		}
		for bit, name := range markNames {
			if e.Marks&(1<<bit) != 0 {
				a.Marks = append(a.Marks, name)
			}
		}
		list = append(list, a)
	}
	return list
}
