package dissect

import (
	"unsafe"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// Arena keeps copies of messages. The data that they refer to is copied into a few large
// slices, which Reset empties for reuse.
type Arena struct {
	msgs  []Message
	reqs  []RequestInfo
	rpcs  []schema.Msg
	bufs  [][]byte
	data  []byte
	notes []lnet.Note
	holes []lnet.Hole
	ibs   []lnet.IB
	parts []lnet.IBPart

	places []lnet.IBPlace
}

// Sizes in bytes of elements that a message refers to.
const (
	holeSize  = int(unsafe.Sizeof(lnet.Hole{}))
	frameSize = int(unsafe.Sizeof(int64(0))) // a frame's number
	placeSize = int(unsafe.Sizeof(lnet.IBPlace{}))
)

// Reset removes all messages.
func (a *Arena) Reset() {
	a.msgs, a.reqs, a.data = a.msgs[:0], a.reqs[:0], a.data[:0]
	a.rpcs, a.bufs = a.rpcs[:0], a.bufs[:0]
	a.notes, a.holes = a.notes[:0], a.holes[:0]
	a.ibs, a.parts, a.places = a.ibs[:0], a.parts[:0], a.places[:0]
}

// grow makes room for messages that are RPCs, and for their data in bytes.
func (a *Arena) grow(messages, bytes int) {
	const buffers = 6 // of a lustre_msg
	a.msgs, a.reqs, a.data = make([]Message, 0, messages), make([]RequestInfo, 0, messages), make([]byte, 0, bytes)
	a.rpcs, a.bufs = make([]schema.Msg, 0, messages), make([][]byte, 0, buffers*messages)
}

// Len returns the number of messages.
func (a *Arena) Len() int { return len(a.msgs) }

// Size returns the size of the data, holes and places of all messages in bytes.
func (a *Arena) Size() int {
	return len(a.data) + len(a.holes)*holeSize + len(a.places)*placeSize
}

// At returns a message, which is valid until the next Add or Reset.
func (a *Arena) At(i int) *Message { return &a.msgs[i] }

// Add adds a copy of a message without Frames.
func (a *Arena) Add(m *Message) {
	a.msgs = append(a.msgs, *m)
	c := &a.msgs[len(a.msgs)-1]
	c.Frames = nil
	c.Data, c.Content, c.RPC.JobID = a.bytes(m.Data), a.bytes(m.Content), a.bytes(m.RPC.JobID)
	c.RPC.GSS.Setup.Target = a.bytes(m.RPC.GSS.Setup.Target)
	if m.Msg != nil {
		c.Msg = a.rpc(m, c.Data)
	}
	n := len(a.notes)
	a.notes = append(a.notes, m.Notes...)
	c.Notes = a.notes[n:len(a.notes):len(a.notes)]
	n = len(a.holes)
	a.holes = append(a.holes, m.Holes...)
	c.Holes = a.holes[n:len(a.holes):len(a.holes)]
	if m.IB != nil {
		c.IB = a.infiniband(m.IB)
	}
	if m.Req != nil {
		a.reqs = append(a.reqs, *m.Req)
		c.Req = &a.reqs[len(a.reqs)-1]
		c.Req.Data = a.bytes(m.Req.Data)
	}
}

// infiniband returns a copy of x. Its o2iblnd messages are copied too.
func (a *Arena) infiniband(x *lnet.IB) *lnet.IB {
	a.ibs = append(a.ibs, *x)
	c := &a.ibs[len(a.ibs)-1]
	c.Headers, c.Writes.Headers = a.bytes(x.Headers), a.bytes(x.Writes.Headers)
	p := len(a.places)
	a.places = append(a.places, x.Writes.Places...)
	c.Writes.Places = a.places[p:len(a.places):len(a.places)]
	n := len(a.parts)
	a.parts = append(a.parts, x.Parts...)
	c.Parts = a.parts[n:len(a.parts):len(a.parts)]
	for i := range c.Parts {
		c.Parts[i].Data = a.bytes(c.Parts[i].Data)
	}
	return c
}

// rpc returns a copy of the lustre_msg of m whose buffers are in data, the copy of
// m.Data. A buffer is a slice of m.Data with the same end of its capacity, from
// which its offset follows.
func (a *Arena) rpc(m *Message, data []byte) *schema.Msg {
	a.rpcs = append(a.rpcs, *m.Msg)
	c := &a.rpcs[len(a.rpcs)-1]
	n := len(a.bufs)
	for _, b := range m.Msg.Bufs {
		if b != nil {
			off := cap(m.Data) - cap(b)
			b = data[off : off+len(b)]
		}
		a.bufs = append(a.bufs, b)
	}
	c.Bufs = a.bufs[n:len(a.bufs):len(a.bufs)]
	return c
}

// bytes returns a copy of b. If the slice has to grow, earlier copies are not moved.
func (a *Arena) bytes(b []byte) []byte {
	if b == nil {
		return nil
	}
	n := len(a.data)
	a.data = append(a.data, b...)
	return a.data[n:len(a.data):len(a.data)]
}

// Clone returns a copy of a message, without Frames, that stays valid.
func (m *Message) Clone() *Message {
	var a Arena
	a.Add(m)
	return a.At(0)
}
