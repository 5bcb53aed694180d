package ladder

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Journal notes a few words about each message, so that it is known at the end of a capture what
// a diagram of some of them looks like. Its methods Message and TCPEvent are hooks. Of more than
// maxNotes messages the oldest are forgotten. The zero Journal is ready for use.
type Journal struct {
	chunks [][]journalNote // of notesInChunk
	count  int             // messages that were noted
	files  []string
	nodes  []lnet.NID
	index  map[lnet.NID]uint16
	last   [2]uint16 // nodes of the last message
}

// maxNotes is the number of messages that are known at the end: 20 MB.
const (
	notesInChunk = 1 << 12
	maxNotes     = 1 << 19
)

// maxNodes is how many nodes have an index.
const maxNodes = 1<<16 - 1

type journalNote struct {
	frame, time    int64
	xid            uint64
	opcode         uint32
	status         int32 // of a reply
	from, to, file uint16
	kind           lnet.Kind
	flags          noteFlags
}

type noteFlags uint8

const (
	hasOpcode noteFlags = 1 << iota
	hasXID
	isSegment // of TCP, in which no message ended
	isReset
)

// Message notes a message.
func (j *Journal) Message(_ *track.RPC, m *dissect.Message) {
	n := journalNote{frame: m.Frame, time: m.Time, xid: m.RPC.XID, opcode: m.RPC.Opcode, kind: m.Kind, file: j.file(m.File)}
	from, to := ends(m)
	n.from, n.to = j.node(from), j.node(to)
	j.last = [2]uint16{n.from, n.to}
	if m.RPC.HasOpcode {
		n.flags |= hasOpcode
	}
	if m.RPC.HasXID {
		n.flags |= hasXID
	}
	if m.Kind == lnet.Reply || m.Kind == lnet.EarlyReply {
		n.status = m.RPC.Status
	}
	j.add(n)
}

// TCPEvent notes a segment.
func (j *Journal) TCPEvent(t *lnet.TCPEvent) {
	node := func(a netip.AddrPort) uint16 { return j.node(addressNID(a)) }
	n := journalNote{frame: t.Number, time: t.Time, from: node(t.Src), to: node(t.Dst), file: j.file(t.File), flags: isSegment}
	if t.RST {
		n.flags |= isReset
	}
	j.add(n)
}

func (j *Journal) add(n journalNote) {
	at := j.count % maxNotes
	if at/notesInChunk == len(j.chunks) {
		j.chunks = append(j.chunks, make([]journalNote, 0, notesInChunk))
	}
	if c := &j.chunks[at/notesInChunk]; j.count < maxNotes {
		*c = append(*c, n)
	} else {
		(*c)[at%notesInChunk] = n
	}
	j.count++
}

func (j *Journal) file(name string) uint16 {
	i := slices.Index(j.files, name)
	if i < 0 {
		i = len(j.files)
		j.files = append(j.files, name)
	}
	return uint16(i)
}

func (j *Journal) node(n lnet.NID) uint16 {
	for _, i := range j.last {
		if int(i) < len(j.nodes) && j.nodes[i] == n {
			return i
		}
	}
	i, ok := j.index[n]
	if !ok && len(j.nodes) < maxNodes {
		if j.index == nil {
			j.index = make(map[lnet.NID]uint16)
		}
		i = uint16(len(j.nodes))
		j.nodes, j.index[n] = append(j.nodes, n), i
	}
	return i
}

// Remark is what is said of the message that ended in a frame.
type Remark struct {
	track.Point
	Text  string
	Nodes []lnet.NID // one of the ends, if several messages ended there
}

// Draw adds the messages of remarks to diagrams, each with what is said of it, and the other
// messages of their RPCs, of which only the operation is known: most of each kind at most. A list
// of remarks is that of the diagram with the same index.
func (j *Journal) Draw(diagrams []*Diagram, lists [][]Remark, most int) {
	type place struct {
		frame int64
		file  uint16
	}
	type call struct {
		xid  uint64
		a, b uint16
	}
	inFrame := make(map[place][]*journalNote)
	for _, list := range lists {
		for _, r := range list {
			inFrame[place{r.Frame, j.file(r.File)}] = nil
		}
	}
	for n := range j.all {
		if list, ok := inFrame[place{n.frame, n.file}]; ok {
			inFrame[place{n.frame, n.file}] = append(list, n)
		}
	}
	callOf := func(n *journalNote) call { return call{n.xid, min(n.from, n.to), max(n.from, n.to)} }
	calls := make(map[call][]int) // the diagrams with messages of an RPC
	drawn := make([]map[*journalNote]bool, len(diagrams))
	for i, list := range lists {
		drawn[i] = make(map[*journalNote]bool)
		for _, r := range list {
			n := j.choose(inFrame[place{r.Frame, j.file(r.File)}], &r)
			if n == nil || drawn[i][n] || len(drawn[i]) == most {
				continue
			}
			drawn[i][n] = true
			diagrams[i].Add(j.event(n, r.Text))
			if c := callOf(n); n.flags&hasXID != 0 && !slices.Contains(calls[c], i) {
				calls[c] = append(calls[c], i)
			}
		}
	}
	for n := range j.all {
		for _, i := range calls[callOf(n)] {
			if n.flags&hasXID != 0 && !drawn[i][n] && len(drawn[i]) < 2*most {
				drawn[i][n] = true
				diagrams[i].Add(j.event(n, ""))
			}
		}
	}
}

func (j *Journal) all(yield func(*journalNote) bool) {
	for _, c := range j.chunks {
		for i := range c {
			if !yield(&c[i]) {
				return
			}
		}
	}
}

// choose returns the message that a remark is about, of those that ended in its frame: one of its
// nodes whose operation it names, or the first; nil without any.
func (j *Journal) choose(list []*journalNote, r *Remark) (best *journalNote) {
	score := -1
	for _, n := range list {
		s := 0
		if slices.Contains(r.Nodes, j.nodes[n.from]) || slices.Contains(r.Nodes, j.nodes[n.to]) {
			s++
		}
		if n.flags&isSegment == 0 {
			s++
		}
		if n.flags&hasOpcode != 0 && strings.Contains(r.Text, string(render.AppendOpcode(nil, n.opcode))) {
			s += 2
		}
		if s > score {
			best, score = n, s
		}
	}
	return best
}

func (j *Journal) event(n *journalNote, text string) *Event {
	m := dissect.Message{RPC: dissect.RPC{HasOpcode: n.flags&hasOpcode != 0, Opcode: n.opcode, Status: n.status}}
	m.Kind = n.kind
	e := &Event{Frame: n.frame, File: j.files[n.file], Order: n.frame, Time: n.time, From: j.nodes[n.from], To: j.nodes[n.to], Type: n.kind}
	e.setRoles(&m)
	switch {
	case n.flags&isReset != 0:
		e.Op = []byte("RST")
		e.Marks |= Failed
	case n.flags&isSegment != 0:
		e.Op = []byte("TCP")
		e.Marks |= Retransmitted
	default:
		e.Op = render.AppendOperation(nil, &m)
	}
	line := schema.Line{}
	switch {
	case text != "":
		line.AddEscaped(schema.Name, func(dst []byte) []byte { return append(dst, text...) })
	case n.status < 0:
		line.AddEscaped(schema.Bad, func(dst []byte) []byte { return records.AppendErrno(dst, n.status) })
	}
	e.Facts, e.Parts = line.Text, line.Parts
	return e
}
