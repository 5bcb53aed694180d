package dissect

import (
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// State is what is special about a node.
type State uint8

// The states, bits.
const (
	BigEndian State = 1 << iota // integers of the node's bytes are big-endian
	Leftover                    // a valid mask switches the field off: no interpretation
	Missing                     // the bytes are not there; Val is a Why
	Undecoded                   // bytes behind what is known
	Remark                      // text for people, not part of the wire
)

// Source says which bytes a node's offset counts in.
type Source uint8

// The sources.
const (
	InMessage Source = iota // Message.Data
	InContent               // Message.Content, the bulk data
	InText                  // text made by the dissector
)

// Node is a field of a message. Nodes lie in one slice in the order of the
// wire, each followed by its descendants.
type Node struct {
	Field *schema.Field
	Val   uint64 // of integers
	Off   int32
	Len   int32
	End   int32 // index of the node behind the last descendant
	Index int32 // in its array or list, -1 outside
	Depth uint8
	Src   Source
	State State
	Tag   bool // the struct's name belongs in front
}

// Name is the node's name, empty for the elements of an array.
func (n *Node) Name() string { return n.Field.Name }

// Is says whether a state bit is set.
func (n *Node) Is(s State) bool { return n.State&s != 0 }

// Tree is what a message says, field by field. It is an arena: Build empties
// and fills it, and nothing is allocated once it is large enough.
type Tree struct {
	Nodes []Node
	Notes []lnet.Note

	Remarks bool // make Remark nodes, for people

	src    [3][]byte
	walker walker
	rpc    rpcMsg
	req    rpcMsg
	bulk   schema.Msg
	inside []*rpcMsg // messages inside messages, by depth

	content schema.Field    // of the section of that name
	extra   []*schema.Field // of buffers that no declaration knows, by number
}

// inner is the place to take apart a message inside another one.
func (t *Tree) inner(depth int) *rpcMsg {
	for len(t.inside) <= depth {
		t.inside = append(t.inside, &rpcMsg{})
	}
	return t.inside[depth]
}

// Bytes are the captured bytes of a node.
func (t *Tree) Bytes(n *Node) []byte {
	b := t.src[n.Src]
	off, end := int(n.Off), int(n.Off)+int(n.Len)
	if off > len(b) {
		return nil
	}
	return b[off:min(end, len(b))]
}

// Build dissects a message.
func (t *Tree) Build(m *Message) {
	t.Nodes, t.Notes = t.Nodes[:0], append(t.Notes[:0], m.Notes...)
	t.src = [3][]byte{m.Data, m.Content, t.src[InText][:0]}
	w := &t.walker
	w.reset(t, m)
	w.transport(m)
	if m.LNetOff >= 0 {
		w.lnet(m)
	}
	switch m.Kind {
	case lnet.Request, lnet.Reply, lnet.EarlyReply:
		w.ptlrpc(m)
	case lnet.PingReply, lnet.Push:
		w.section(sectionPing, m.PayloadOff, m.Size)
	case lnet.Selftest:
		w.selftest(m)
	case lnet.Bulk, lnet.GetReply:
		w.bulk(m)
	}
}
