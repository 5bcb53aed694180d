package ladder

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/journal"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Remark is what is said of the message that ended in a frame.
type Remark struct {
	track.Point
	Text  string
	Nodes []lnet.NID // one of the ends, if several messages ended there
}

// Draw adds the messages of remarks to diagrams, each with what is said of it, and the other
// messages of their RPCs, of which only the operation is known: most of each kind at most. A list
// of remarks is that of the diagram with the same index.
func Draw(j *journal.Journal, diagrams []*Diagram, lists [][]Remark, most int) {
	type call struct {
		xid      uint64
		from, to lnet.NID
	}
	inFrame := make(map[track.Point][]numbered)
	for _, list := range lists {
		for _, r := range list {
			inFrame[placeOf(r.Point)] = nil
		}
	}
	for i, n := range j.All {
		if list, ok := inFrame[placeOf(n.Point)]; ok {
			inFrame[placeOf(n.Point)] = append(list, numbered{*n, i})
		}
	}
	calls := make(map[call][]int) // the diagrams with messages of an RPC
	drawn := make([]map[int]bool, len(diagrams))
	for i, list := range lists {
		drawn[i] = make(map[int]bool)
		for _, r := range list {
			n := choose(inFrame[placeOf(r.Point)], &r)
			if n == nil || drawn[i][n.number] || len(drawn[i]) == most {
				continue
			}
			drawn[i][n.number] = true
			diagrams[i].Add(eventOf(&n.Note, r.Text))
			for _, c := range [...]call{{n.XID, n.From, n.To}, {n.XID, n.To, n.From}} {
				if n.HasXID && !slices.Contains(calls[c], i) {
					calls[c] = append(calls[c], i)
				}
			}
		}
	}
	for number, n := range j.All {
		for _, i := range calls[call{n.XID, n.From, n.To}] {
			if n.HasXID && !drawn[i][number] && len(drawn[i]) < 2*most {
				drawn[i][number] = true
				diagrams[i].Add(eventOf(n, ""))
			}
		}
	}
}

// numbered is a note with its number in the journal.
type numbered struct {
	journal.Note
	number int
}

// placeOf returns a point without its time.
func placeOf(p track.Point) track.Point { return track.Point{File: p.File, Frame: p.Frame} }

// choose returns the message that a remark is about, of those that ended in its frame: one of its
// nodes whose operation it names, or the first; nil without any.
func choose(list []numbered, r *Remark) (best *numbered) {
	highest := -1
	for i := range list {
		n, score := &list[i], 0
		if slices.Contains(r.Nodes, n.From) || slices.Contains(r.Nodes, n.To) {
			score++
		}
		if !n.IsSegment {
			score++
		}
		if n.HasOpcode && strings.Contains(r.Text, string(render.AppendOpcode(nil, n.Opcode))) {
			score += 2
		}
		if score > highest {
			best, highest = n, score
		}
	}
	return best
}

// eventOf makes an event of a note, with what is said of it.
func eventOf(n *journal.Note, text string) *Event {
	m := dissect.Message{RPC: dissect.RPC{HasOpcode: n.HasOpcode, Opcode: n.Opcode, Status: n.Status}}
	m.Kind = n.Kind
	e := &Event{Frame: n.Frame, File: n.File, Order: n.Frame, Time: n.Time, From: n.From, To: n.To, Type: n.Kind}
	e.setRoles(&m)
	switch {
	case n.IsReset:
		e.Op = []byte("RST")
		e.Marks |= Failed
	case n.IsSegment:
		e.Op = []byte("TCP")
		e.Marks |= Retransmitted
	default:
		e.Op = render.AppendOperation(nil, &m)
	}
	switch {
	case text != "":
		e.Facts.AddBytes(schema.Name, schema.AppendText(nil, []byte(text)))
	case n.Status < 0:
		e.Facts.AddBytes(schema.Bad, records.AppendErrno(nil, n.Status))
	}
	return e
}
