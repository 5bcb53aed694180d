package wiretest

import "github.com/lshark/lshark/dissect/capture"

// DialogXID is the xid, and the match bits, of the request of a dialog.
const DialogXID = 0x6000000000040

// Way is how the answer of a dialog is transferred, combined with flags for what
// is missing in the capture.
type Way uint8

// How the answer is transferred.
const (
	ByReply Way = iota
	ByBulkPut
	ByBulkGet
	ByEarlyReply
	ways
)

// Flags: what is missing in the capture.
const (
	WithoutRequest Way = 1 << (iota + 2)
	CutBySnaplen       // in the middle of the answer
	LosingSegment      // the second of the answer
)

// largestSegment is how many bytes one segment of a dialog has at most.
const largestSegment = 32 << 10

// Dialog builds the frames of an RPC between two nodes: a request, its answer,
// and another message, which proves where the answer ends. The request is a
// lustre_msg; the answer is a lustre_msg or bulk data. The connection began
// before the capture.
func Dialog(way Way, request, answer []byte) []capture.Frame {
	w := Socklnd{Version: 3}
	c := NewConn()
	if way&WithoutRequest == 0 {
		c.sendLarge(false, w.PutAt(false, RequestPortal, DialogXID, 0, request), 0)
	}
	const behindEarlyReply = 192
	switch way % ways {
	case ByReply:
		c.sendLarge(true, w.PutAt(true, ReplyPortal, DialogXID, behindEarlyReply, answer), way)
	case ByEarlyReply:
		c.sendLarge(true, w.PutAt(true, ReplyPortal, DialogXID, 0, answer), way)
	case ByBulkPut:
		c.sendLarge(true, w.PutAt(true, BulkPortal, DialogXID, 0, answer), way)
	case ByBulkGet:
		get, data := w.Transfer(BulkPortal, DialogXID, answer)
		c.sendLarge(true, get, 0)
		c.sendLarge(false, data, way)
	}
	c.sendLarge(true, w.PutAt(true, ReplyPortal, DialogXID+64, behindEarlyReply, nil), 0)
	return c.Frames
}

// sendLarge sends a message in segments, and leaves out of the capture what the
// flags of way name.
func (c *Conn) sendLarge(back bool, data []byte, way Way) {
	const (
		frameHeaders   = 14 + 20 + 20 // of Ethernet, IP and TCP
		messageHeaders = 24 + 72      // of socklnd and LNet
	)
	snaplen := frameHeaders + messageHeaders + (len(data)-messageHeaders)/2
	for i := 0; len(data) > 0; i++ {
		n := min(largestSegment, len(data))
		if way&LosingSegment != 0 && len(data) > 200 {
			n = min(n, len(data)/2) // so that there is a second one
		}
		c.Send(back, data[:n])
		last := &c.Frames[len(c.Frames)-1]
		if way&CutBySnaplen != 0 {
			last.Data = last.Data[:min(snaplen, len(last.Data))]
		}
		if way&LosingSegment != 0 && i == 1 {
			c.Frames = c.Frames[:len(c.Frames)-1]
		}
		data = data[n:]
	}
}
