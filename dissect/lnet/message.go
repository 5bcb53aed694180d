package lnet

import (
	"net/netip"
	"slices"
	"sort"

	"github.com/lshark/lshark/dissect/lnet/link"
)

// Hole is a run of bytes of a message that the capture does not have.
type Hole struct {
	Off, Len int
	Why      Why
}

// Why is the reason why bytes are missing.
type Why uint8

// The reasons for missing bytes.
const (
	Present    Why = iota
	Snaplen        // the capture kept only the first bytes of the frame
	Lost           // the segment is not in the capture
	EndOfFile      // the capture ends here, or the receiver never got them
	BeforeFile     // they may have been sent before the capture began
	Skipped        // bulk data that is not needed
	Shorter        // the length that the sender claims is too short for them
)

var whyTexts = [...]string{"present", "cut by the snaplen", "in a segment that was not captured",
	"behind the end of the capture, or never received", "before the capture, or in a segment that was not captured", "bulk data, not kept", "outside its buffer"}

func (w Why) String() string { return whyTexts[w] }

// Note is a remark on something unusual about a message.
type Note struct {
	Code string // one word, for scripts: truncated, gap, retransmitted, resent, replay, checksum, tail, guess …
	Text string
}

// Transport is the network driver (LND) that sent a message.
type Transport uint8

// The transports.
const (
	TCP  Transport = iota // socklnd
	O2IB                  // o2iblnd
)

// Message is a message of LNet or of its transport, from the transport's header to
// the last byte of the payload. The decoder reuses it: it and all it refers to are
// valid until the handler returns. Clone keeps one.
type Message struct {
	Number int64   // of the message, from 1 in the order of the decoder
	Frame  int64   // number of the frame that completed it, in its file
	File   string  // name of that file, empty when only one is read
	Order  int64   // number of that frame over all files: capture.Frame.Number
	Time   int64   // of that frame, nanoseconds since the epoch
	Source int     // capture point
	Frames []int64 // Order of all frames with bytes of it, if Options.Frames is set
	Conn   int     // number of the connection, from 0 in the order of the capture

	Src, Dst  netip.AddrPort
	Transport Transport
	Kind      Kind

	// Version is that of the transport. For socklnd it is that of the connection's
	// hello, 1 to 4, or 0 if that was not captured and the framing was inferred. For
	// o2iblnd it is ibm_version, 0x11 or 0x12.
	Version uint8
	Swapped bool   // the transport's integers are big-endian
	Seq     uint32 // TCP sequence number of the first byte, or IB.PSN

	Transfer Transfer // what the transport had done for it by then
	IB       *IB      // nil unless Transport is O2IB

	RoundTrips RoundTrips // of its direction, since the message before in this direction

	LNet Header

	// Data is what was kept of the message, Size its length on the wire.
	// Bytes of Data in a hole are zero.
	Data       []byte
	Size       int
	LNetOff    int    // of the LNet header in Data, -1 without one
	PayloadOff int    // of the LNet payload in Data
	Holes      []Hole // in order
	Tail       Why    // why Data is shorter than Size

	Notes []Note
}

// setFrame sets the frame that completes the message.
func (m *Message) setFrame(f *link.Frame) {
	m.Order, m.Frame, m.File, m.Time = f.Order, f.Number, f.File, f.Time
}

// Note adds a note.
func (m *Message) Note(code, text string) {
	m.Notes = append(m.Notes, Note{code, text})
}

// HasLNet reports whether the message is one of LNet, not of its transport alone: it
// has an LNet header, or is the REPLY that the end of RDMA writes stands for.
func (m *Message) HasLNet() bool { return m.LNetOff >= 0 || m.LNet.Type == TypeReply }

// Ends returns the NIDs of sender and receiver, or their addresses in a message without NIDs.
func (m *Message) Ends() (from, to NID) {
	if m.HasLNet() && m.LNet.Src.Len > 0 {
		return m.LNet.Src, m.LNet.Dst
	}
	return AddressNID(m.Src), AddressNID(m.Dst)
}

// Clone returns a copy that stays valid.
func (m *Message) Clone() *Message {
	c := *m
	c.Frames, c.Data = slices.Clone(m.Frames), slices.Clone(m.Data)
	c.Holes, c.Notes = slices.Clone(m.Holes), slices.Clone(m.Notes)
	c.IB = m.IB.Clone()
	return &c
}

// Payload returns what was kept of the LNet payload.
func (m *Message) Payload() []byte {
	if m.PayloadOff >= len(m.Data) {
		return nil
	}
	return m.Data[m.PayloadOff:]
}

// hole returns the index of the first hole that ends behind an offset. There
// may be thousands of holes, and each field calls it.
func (m *Message) hole(off int) int {
	return sort.Search(len(m.Holes), func(i int) bool { return m.Holes[i].Off+m.Holes[i].Len > off })
}

// Captured returns how many of the n bytes from offset off are in front of the
// first hole.
func (m *Message) Captured(off, n int) int {
	if i := m.hole(off); i < len(m.Holes) && m.Holes[i].Off < off+n {
		return max(0, m.Holes[i].Off-off)
	}
	return n
}

// Missing returns why some of the n bytes from offset off are missing, Present if
// none is.
func (m *Message) Missing(off, n int) Why {
	i := m.hole(off)
	if i < len(m.Holes) && m.Holes[i].Off < off+n {
		return m.Holes[i].Why
	}
	if off+n <= len(m.Data) {
		return Present
	}
	if off+n > m.Size {
		return Shorter
	}
	return m.Tail
}

// IB describes a message over InfiniBand or RoCE: the o2iblnd messages and the RDMA
// writes that it consists of.
type IB struct {
	SrcQP, DestQP uint32 // queue pairs of sender and receiver; SrcQP is 0 while unknown
	PSN           uint32 // packet sequence number, of 24 bits, of the first packet of the last part
	Headers       []byte // BTH and extension headers of that packet
	Local         bool   // Src and Dst of the message are LIDs

	// The o2iblnd messages in their order: an IMMEDIATE; PUT_REQ, PUT_ACK and
	// PUT_DONE; GET_REQ; or, of the REPLY to it, GET_REQ and GET_DONE. One that was
	// not captured is missing. A message of the connection manager has its private
	// data.
	Parts  []IBPart
	Writes IBWrites

	// Status is that of PUT_NAK, PUT_DONE or GET_DONE: bytes, or a negative errno.
	Status int32

	// Reject is the reason of the connection manager for a Connrej, 28 when the
	// reason is that of o2iblnd in the data; 0 for other messages.
	Reject uint16

	// Credits is the number of messages that the sender may send before the receiver
	// returns credits; -1 when it is unknown. A NOOP is not counted.
	Credits int
}

// IBPart is an o2iblnd message.
type IBPart struct {
	Frame link.Frame // that completed it
	Back  bool       // it was sent by the receiver of the Message
	Data  []byte     // the kib_msg, or kib_rej
}

// IBWrites are the RDMA writes that carried the payload of a message, as far as they
// were captured.
type IBWrites struct {
	Packets     int
	Bytes       int
	First, Last link.Frame // of these packets

	// Of the first write: the virtual address, the key, and the BTH and RETH. All are
	// zero when its first packet is missing.
	VA      uint64
	RKey    uint32
	Headers []byte

	Places []IBPlace // of the packets, if Options.Frames is set
}

// IBPlace is where the payload of a packet of an RDMA write lies in the message.
type IBPlace struct {
	PSN      uint32
	Off, Len int
}

// Clone returns a copy that stays valid, nil of nil.
func (b *IB) Clone() *IB {
	if b == nil {
		return nil
	}
	c := *b
	c.Headers, c.Writes.Headers, c.Parts = slices.Clone(b.Headers), slices.Clone(b.Writes.Headers), slices.Clone(b.Parts)
	c.Writes.Places = slices.Clone(b.Writes.Places)
	for i := range c.Parts {
		c.Parts[i].Data = slices.Clone(c.Parts[i].Data)
	}
	return &c
}

// Transfer is what TCP or InfiniBand did to carry a message: what was sent again, and
// how much later the message arrived because of it.
type Transfer struct {
	Resent int   // retransmitted packets with bytes of the message
	Timed  int   // those of them whose cost in latency is known
	RTT    int64 // round trip of the connection in nanoseconds, 0 if unknown

	// Lost is by how many nanoseconds the Timed packets delayed the message, between
	// LostFrom and LostTo. A packet that the receiver had already (spurious) costs
	// nothing.
	Lost             int64
	LostFrom, LostTo int64

	NotCaptured bool // bytes were sent again of which the capture lacks the first transmission
	AckedLate   bool // the first acknowledgement came so late that an earlier one must be missing
}

// RoundTrips are measurements of how long data of a direction of a connection waited for
// the acknowledgement, without data that was sent again. A receiver may delay an
// acknowledgement, so a single one only shows that the round trip took no longer.
type RoundTrips struct {
	N     int   // number of measurements
	Least int64 // the shortest in nanoseconds, 0 without any
}

// add adds a measurement.
func (t *RoundTrips) add(ns int64) {
	if t.N == 0 || ns < t.Least {
		t.Least = ns
	}
	t.N++
}

// take returns the measurements and resets them.
func (t *RoundTrips) take() RoundTrips {
	taken := *t
	*t = RoundTrips{}
	return taken
}

// WasDisturbed reports whether anything was sent again, or acknowledged late.
func (t *Transfer) WasDisturbed() bool {
	return t.Resent != 0 || t.Timed != 0 || t.Lost != 0 || t.NotCaptured || t.AckedLate
}

// Add adds what happened later.
func (t *Transfer) Add(later *Transfer) {
	t.Resent += later.Resent
	t.Timed += later.Timed
	t.lose(later.LostFrom, later.LostTo)
	t.NotCaptured = t.NotCaptured || later.NotCaptured
	t.AckedLate = t.AckedLate || later.AckedLate
}

// lose adds the latency that was lost between two times. It counts once where
// losses overlap.
func (t *Transfer) lose(from, to int64) {
	if from >= to {
		return
	}
	if t.Lost == 0 {
		t.Lost, t.LostFrom, t.LostTo = to-from, from, to
		return
	}
	t.Lost += max(0, to-max(from, t.LostTo)) + max(0, min(to, t.LostFrom)-from)
	t.LostFrom, t.LostTo = min(t.LostFrom, from), max(t.LostTo, to)
}
