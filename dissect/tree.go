package dissect

import (
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// State holds what is special about a node, as bits.
type State uint8

// The states.
const (
	BigEndian State = 1 << iota // integers of the node's bytes are big-endian
	NotValid                    // a valid mask switches the field off: its value means nothing
	Missing                     // its bytes are missing; Val is the lnet.Why
	Undecoded                   // bytes that no declaration covers
	Remark                      // text for people, not part of the wire
	Zeros                       // a buffer of zero bytes that no declaration gives a meaning
)

// Source is the bytes that a node's offset counts in.
type Source uint8

// The sources.
const (
	InMessage   Source = iota // Message.Data
	InContent                 // Message.Content, the bulk data
	InText                    // text made by the dissector
	Implied                   // a header that is not on the wire and follows from others
	InTransport               // the first of the packets and messages of the transport, each of which is a source
)

// maxTransport is how many packets and messages of the transport a tree shows of a
// message.
const maxTransport = 10

// Node is a field of a message. Nodes are stored in one slice in the order of the
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

// Name returns the node's name, empty for the elements of an array.
func (n *Node) Name() string { return n.Field.Name }

// Is reports whether a state bit is set.
func (n *Node) Is(s State) bool { return n.State&s != 0 }

// Tree holds the fields of a message. Build replaces them, and allocates nothing once
// the tree is large enough.
type Tree struct {
	Nodes []Node
	Notes []lnet.Note

	Remarks bool // make Remark and Zeros nodes, for people

	src     [int(InTransport) + maxTransport][]byte
	walker  walker
	rpc     rpcMsg     // of the message
	req     rpcMsg     // of its request
	inside  []*rpcMsg  // messages inside messages, by depth
	bulkMsg schema.Msg // used in place of the lustre_msg that bulk data lack

	contentField schema.Field    // of the section "content"
	extra        []*schema.Field // of buffers that are not declared, by number
}

// inner returns where to parse a message inside other ones.
func (t *Tree) inner(depth int) *rpcMsg {
	for len(t.inside) <= depth {
		t.inside = append(t.inside, &rpcMsg{})
	}
	return t.inside[depth]
}

// Bytes returns the captured bytes of a node.
func (t *Tree) Bytes(n *Node) []byte {
	b := t.src[n.Src]
	off, end := int(n.Off), int(n.Off)+int(n.Len)
	if off > len(b) {
		return nil
	}
	return b[off:min(end, len(b))]
}

// Build fills the tree with the fields of a message.
func (t *Tree) Build(m *Message) {
	t.Nodes, t.Notes = t.Nodes[:0], append(t.Notes[:0], m.Notes...)
	t.src[InMessage], t.src[InContent], t.src[InText] = m.Data, m.Content, t.src[InText][:0]
	t.walker.reset(t, m)
	if m.IB != nil {
		t.infiniband(m)
	} else {
		t.socklnd(m)
	}
	switch {
	case m.LNetOff >= 0:
		t.lnetHeader(m)
	case m.HasLNet():
		t.impliedReply(m)
	}
	switch m.Kind {
	case lnet.Request, lnet.Reply, lnet.EarlyReply:
		t.ptlrpc(m)
	case lnet.PingReply, lnet.Push:
		t.section(sectionPing, m.PayloadOff, m.Size)
	case lnet.Selftest:
		t.selftest(m)
	case lnet.Bulk, lnet.GetReply:
		t.bulkData(m)
	}
}

// ParseRPC parses the lustre_msg in m without its fields, for summaries. It returns
// nil if m has no lustre_msg or an encrypted one. The result is valid until the tree is
// used again. complete reports whether every buffer that a summary reads was captured.
func (t *Tree) ParseRPC(m *Message) (msg *schema.Msg, complete bool) {
	p := &t.rpc
	ok, encrypted := p.openIn(m)
	if !ok || encrypted || !m.RPC.HasOpcode {
		return nil, false
	}
	p.identify(m.RPC.Opcode, m.Kind != lnet.Request, t.requestMsg(m))
	p.Status = m.RPC.Status
	return &p.Msg, p.summaryComplete(m)
}

// InnerError returns the first error inside a reply that is not its status, 0 if there
// is none. The reply is read with its request, as far as that was kept, to tell errors
// from results that are regular.
func (t *Tree) InnerError(m *Message) int32 {
	v := m.RPC.Variant
	if v == nil && m.Req == nil {
		v = opcodes.ErrorVariant(m.RPC.Opcode, m.Msg)
	}
	if v == nil || v.InnerError == nil || m.Msg != nil && v.InnerError(m.Msg) == 0 {
		return 0
	}
	msg, _ := t.ParseRPC(m)
	if msg == nil {
		return 0
	}
	return v.InnerError(msg)
}

// BuildField fills the tree with one field, whose bytes belong to no message; a struct
// is the field that schema.Sub returns for it. in is the struct around the field, if
// its declaration needs that, else nil. The bytes are of a big-endian sender if big is
// set.
func (t *Tree) BuildField(f *schema.Field, in *schema.Struct, b []byte, big bool) {
	t.Nodes, t.Notes = t.Nodes[:0], t.Notes[:0]
	t.src[InMessage], t.src[InContent], t.src[InText] = b, nil, t.src[InText][:0]
	t.bulkMsg = schema.Msg{Big: big}
	w := &t.walker
	w.reset(t, &Message{Message: lnet.Message{Data: b, Size: len(b), LNetOff: -1}})
	w.rpc, w.big = &t.bulkMsg, big
	v := w.view()
	*v = schema.View{Struct: b, Rest: b, Big: big, Type: in, Msg: &t.bulkMsg}
	w.tail(w.field(f, v, 0, len(b)), len(b))
	w.drop()
}
