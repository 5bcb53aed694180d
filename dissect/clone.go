package dissect

import (
	"unsafe"

	"github.com/lshark/lshark/lnet"
)

// Arena keeps messages after the handler has returned: what they refer to is
// copied into a few large slices, which a Reset keeps for the next ones.
type Arena struct {
	msgs  []Message
	reqs  []RequestInfo
	data  []byte
	notes []lnet.Note
	holes []lnet.Hole
}

// Sizes of what a message refers to beside its data, in bytes.
const (
	holeSize  = int(unsafe.Sizeof(lnet.Hole{}))
	frameSize = int(unsafe.Sizeof(int64(0))) // a frame's number
)

// Reset forgets all messages.
func (a *Arena) Reset() {
	a.msgs, a.reqs, a.data = a.msgs[:0], a.reqs[:0], a.data[:0]
	a.notes, a.holes = a.notes[:0], a.holes[:0]
}

// Len is the number of messages, Size that of the bytes they hold, with their
// holes.
func (a *Arena) Len() int  { return len(a.msgs) }
func (a *Arena) Size() int { return len(a.data) + len(a.holes)*holeSize }

// At is a message. It is valid until the next Add or Reset.
func (a *Arena) At(i int) *Message { return &a.msgs[i] }

// Add keeps a message, without Frames and Msg, which are the dissector's own.
// Tree.Open makes Msg again.
func (a *Arena) Add(m *Message) {
	a.msgs = append(a.msgs, *m)
	c := &a.msgs[len(a.msgs)-1]
	c.Frames, c.Msg = nil, nil // for the handler alone
	c.Data, c.Content, c.RPC.JobID = a.bytes(m.Data), a.bytes(m.Content), a.bytes(m.RPC.JobID)
	n := len(a.notes)
	a.notes = append(a.notes, m.Notes...)
	c.Notes = a.notes[n:len(a.notes):len(a.notes)]
	n = len(a.holes)
	a.holes = append(a.holes, m.Holes...)
	c.Holes = a.holes[n:len(a.holes):len(a.holes)]
	if m.Req != nil {
		// Its Data is replaced when the request is sent again, never
		// overwritten.
		a.reqs = append(a.reqs, *m.Req)
		c.Req = &a.reqs[len(a.reqs)-1]
	}
}

// bytes copies b. When the slice has to grow, what was handed out before stays
// where it is.
func (a *Arena) bytes(b []byte) []byte {
	if b == nil {
		return nil
	}
	n := len(a.data)
	a.data = append(a.data, b...)
	return a.data[n:len(a.data):len(a.data)]
}

// Clone keeps a message, without Frames and Msg, for as long as it is wanted.
// Tree.Open makes Msg again.
func (m *Message) Clone() *Message {
	var a Arena
	a.Add(m)
	return a.At(0)
}
