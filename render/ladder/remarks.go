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
	type place struct {
		file  string
		frame int64
	}
	type call struct {
		xid      uint64
		from, to lnet.NID
	}
	inFrame := make(map[place][]int)
	for _, list := range lists {
		for _, r := range list {
			inFrame[place{r.File, r.Frame}] = nil
		}
	}
	for i, n := range j.All {
		if list, ok := inFrame[place{n.File, n.Frame}]; ok {
			inFrame[place{n.File, n.Frame}] = append(list, i)
		}
	}
	calls := make(map[call][]int) // the diagrams with messages of an RPC
	drawn := make([]map[int]bool, len(diagrams))
	for i, list := range lists {
		drawn[i] = make(map[int]bool)
		for _, r := range list {
			at := choose(j, inFrame[place{r.File, r.Frame}], &r)
			if at < 0 || drawn[i][at] || len(drawn[i]) == most {
				continue
			}
			drawn[i][at] = true
			n := j.At(at)
			diagrams[i].Add(eventOf(&n, r.Text))
			for _, c := range [...]call{{n.XID, n.From, n.To}, {n.XID, n.To, n.From}} {
				if n.HasXID && !slices.Contains(calls[c], i) {
					calls[c] = append(calls[c], i)
				}
			}
		}
	}
	for at, n := range j.All {
		for _, i := range calls[call{n.XID, n.From, n.To}] {
			if n.HasXID && !drawn[i][at] && len(drawn[i]) < 2*most {
				drawn[i][at] = true
				diagrams[i].Add(eventOf(n, ""))
			}
		}
	}
}

// choose returns the message that a remark is about, of those that ended in its frame: one of its
// nodes whose operation it names, or the first; -1 without any.
func choose(j *journal.Journal, list []int, r *Remark) (best int) {
	score := -1
	best = -1
	for _, at := range list {
		n, s := j.At(at), 0
		if slices.Contains(r.Nodes, n.From) || slices.Contains(r.Nodes, n.To) {
			s++
		}
		if !n.IsSegment {
			s++
		}
		if n.HasOpcode && strings.Contains(r.Text, string(render.AppendOpcode(nil, n.Opcode))) {
			s += 2
		}
		if s > score {
			best, score = at, s
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
