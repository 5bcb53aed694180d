// Package journal notes a few words about all messages of a capture, so that it is known at the end
// what a diagram of some of them looks like.
package journal

import (
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

// Journal has the notes. Its methods Message and TCPEvent are hooks. Of more than
// maxNotes messages the oldest are forgotten. The zero Journal is ready for use.
type Journal struct {
	chunks [][]stored // of notesInChunk
	count  int        // messages that were noted
	files  []string
	nodes  []lnet.NID
	index  map[lnet.NID]uint16
}

// maxNotes is the number of messages that are known at the end: 20 MB.
const (
	notesInChunk = 1 << 12
	maxNotes     = 1 << 19
)

// maxNodes is how many nodes have an index.
const maxNodes = 1<<16 - 1

// Note is about a message, or a segment of TCP in which none ended.
type Note struct {
	track.Point
	From, To  lnet.NID
	Kind      lnet.Kind
	XID       uint64
	HasXID    bool
	Opcode    uint32
	HasOpcode bool
	Status    int32 // of a reply
	IsSegment bool
	IsReset   bool
}

// stored is a Note in the memory that it needs.
type stored struct {
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
	n := stored{frame: m.Frame, time: m.Time, xid: m.RPC.XID, opcode: m.RPC.Opcode, kind: m.Kind, file: j.file(m.File)}
	from, to := m.Ends()
	n.from, n.to = j.node(from), j.node(to)
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
	node := func(a netip.AddrPort) uint16 { return j.node(lnet.AddressNID(a)) }
	n := stored{frame: t.Number, time: t.Time, from: node(t.Src), to: node(t.Dst), file: j.file(t.File), flags: isSegment}
	if t.RST {
		n.flags |= isReset
	}
	j.add(n)
}

func (j *Journal) add(n stored) {
	at := j.count % maxNotes
	if at/notesInChunk == len(j.chunks) {
		j.chunks = append(j.chunks, make([]stored, 0, notesInChunk))
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

// All returns the notes with their numbers. A note is valid until the next one.
func (j *Journal) All(yield func(number int, n *Note) bool) {
	var n Note
	for c, chunk := range j.chunks {
		for i := range chunk {
			s := &chunk[i]
			n = Note{
				Point: track.Point{Frame: s.frame, File: j.files[s.file], Time: s.time}, From: j.nodes[s.from], To: j.nodes[s.to], Kind: s.kind,
				XID: s.xid, HasXID: s.flags&hasXID != 0, Opcode: s.opcode, HasOpcode: s.flags&hasOpcode != 0, Status: s.status,
				IsSegment: s.flags&isSegment != 0, IsReset: s.flags&isReset != 0,
			}
			if !yield(c*notesInChunk+i, &n) {
				return
			}
		}
	}
}
