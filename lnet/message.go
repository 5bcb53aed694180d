package lnet

import (
	"net/netip"
	"slices"
	"sort"
)

// Kind is what a message is.
type Kind uint8

// The kinds, in the order of the layers that make them.
const (
	Unknown    Kind = iota
	Connreq         // request of the connecting side to the acceptor
	Hello           // socklnd hello
	Noop            // socklnd keep-alive or zero-copy acknowledgement
	Ack             // LNet ACK
	Get             // LNet GET of a bulk
	GetReply        // LNet REPLY, the data of a GET
	Bulk            // LNet PUT to a bulk portal
	Ping            // LNet GET of a peer's interfaces
	PingReply       // its answer
	Push            // LNet PUT of one's own interfaces
	Selftest        // LNet selftest
	Request         // ptlrpc request
	Reply           // ptlrpc reply
	EarlyReply      // ptlrpc early reply: more time is needed
)

var kindNames = [...]string{"unknown", "connreq", "hello", "noop", "ack", "get", "getreply", "bulk", "ping",
	"ping_reply", "push", "selftest", "request", "reply", "early_reply"}

func (k Kind) String() string { return kindNames[k] }

// KindNames lists the names of all kinds, in their order.
func KindNames() []string { return kindNames[:] }

// NID is an LNet network identifier in the one form all code compares: the
// address bytes (4 or 16, the rest zero), the network's number and type.
type NID struct {
	Addr [16]byte
	Len  uint8  // bytes of Addr in use: 4 or 16; 0 is the zero NID
	Type uint8  // LND type: 2 tcp, 5 o2ib, 9 lo …; 0xff any
	Num  uint16 // network number
}

// Type is the kind of an LNet message.
type Type uint8

// The LNet message types, as numbered on the wire.
const (
	TypeAck Type = iota
	TypePut
	TypeGet
	TypeReply
	TypeHello
)

// LNet is a decoded LNet header. Which of the last fields mean something
// depends on Type.
type Header struct {
	Type      Type
	Src, Dst  NID
	Length    uint32   // payload bytes behind the header
	MatchBits uint64   // PUT, GET, ACK
	Portal    uint32   // PUT, GET
	Offset    uint32   // PUT: offset, GET: src_offset
	Sink      uint32   // GET: sink_length, ACK: mlength
	Handle    [16]byte // PUT: ack_wmd, GET: return_wmd, ACK and REPLY: dst_wmd
}

// Hole is a run of bytes of a message that the capture does not have.
type Hole struct {
	Off, Len int
	Why      Why
}

// Why says why bytes are missing.
type Why uint8

// The reasons for missing bytes.
const (
	Present   Why = iota
	Snaplen       // the capture kept only the first bytes of the frame
	Lost          // the segment is not in the capture
	EndOfFile     // the capture ends here
	Skipped       // bulk data nobody asked for
	Shorter       // the length field of the sender leaves no room
)

var whyTexts = [...]string{"present", "cut by the snaplen", "in a segment that the capture lacks",
	"behind the end of the capture", "bulk data, not kept", "outside its buffer"}

func (w Why) String() string { return whyTexts[w] }

// Note is something odd about a message.
type Note struct {
	Code string // one word, for scripts: truncated, gap, retransmitted, resent, replay, checksum, tail, guess …
	Text string
}

// Transport is what carried an LNet message.
type Transport uint8

// The transports.
const (
	TCP  Transport = iota // socklnd
	O2IB                  // o2iblnd
)

// Message is one unit of an LNet conversation, from the transport's header to
// the last payload byte. The decoder reuses it: it and all it refers to are
// valid until the handler returns. Clone keeps one.
type Message struct {
	Frame  int64   // number of the frame that completed it
	Time   int64   // of that frame, nanoseconds since the epoch
	Source int     // capture point
	Frames []int64 // numbers of all frames that carried bytes of it, when Options.Frames asks for them
	Conn   int     // number of the connection, from 0 in order of appearance

	Src, Dst  netip.AddrPort
	Transport Transport
	Kind      Kind

	// Socklnd framing. Version is 1 to 4 of the connection's hello, 0 when
	// it was not seen and the framing was inferred.
	Version uint8
	Swapped bool // the transport's integers are big-endian
	Seq     uint32

	LNet Header

	// Data holds the message as captured; Size is its length on the wire.
	// Data may be shorter than Size (cut, or bulk that was skipped); bytes
	// of Data that a hole covers are zero.
	Data       []byte
	Size       int
	LNetOff    int    // of the LNet header in Data, -1 without one
	PayloadOff int    // of the LNet payload in Data
	Holes      []Hole // in order
	Tail       Why    // why Data is shorter than Size

	Notes []Note
}

// Note adds a remark.
func (m *Message) Note(code, text string) {
	m.Notes = append(m.Notes, Note{code, text})
}

// Clone returns a copy that stays valid.
func (m *Message) Clone() *Message {
	c := *m
	c.Frames, c.Data = slices.Clone(m.Frames), slices.Clone(m.Data)
	c.Holes, c.Notes = slices.Clone(m.Holes), slices.Clone(m.Notes)
	return &c
}

// Payload is what was captured of the LNet payload.
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

// Captured returns how many of the n bytes of Data from off lie before the
// first hole.
func (m *Message) Captured(off, n int) int {
	if i := m.hole(off); i < len(m.Holes) && m.Holes[i].Off < off+n {
		return max(0, m.Holes[i].Off-off)
	}
	return n
}

// Missing says why the n bytes of Data from off are not all there, or Present.
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
