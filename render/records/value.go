package records

import (
	"net/netip"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Type is the type of a key's values. It decides how they are written, what
// they can be compared with, and the type of a column that holds them.
type Type uint8

// The types. The comments say which field of a Value holds it and how JSON
// shows it.
const (
	Uint        Type = iota // U: a number
	Int                     // U, two's complement: a number
	Decimal                 // U, an identifier of 64 bits: a string in decimal
	Hex                     // U, an identifier of 64 bits: a string such as "0x1f"
	Bool                    // no field: a key has the value true or no value
	Enum                    // U: the name in Names, or the number when Names has none
	Flags                   // U: the names of the set bits as an array
	Status                  // U, two's complement: a number; Names and errnos are for comparisons
	Seconds                 // U, whole seconds: a number
	Duration                // U, nanoseconds, may be negative: seconds with a fraction
	Float                   // F: a number
	Time                    // U, nanoseconds since the epoch: a string in UTC
	Text                    // Text: a string
	Strings                 // Strings: an array of strings
	EscapedText             // Escaped: a string that filters do not compare and JSON does not have
	Counts                  // Counts: an object with a number for each name
	FID                     // U (sequence), OID and Ver: a string such as "[0x200000401:0x1:0x0]"
	NID                     // NID: a string
	Address                 // Addr: a string
	Object                  // the values of its parts
	Section                 // a part of a message's tree
)

var typeNames = [...]string{Uint: "number", Int: "number", Decimal: "number", Hex: "number", Bool: "bool", Enum: "enum",
	Flags: "flags", Status: "number", Seconds: "seconds", Duration: "seconds", Float: "number", Time: "time", Text: "text",
	Strings: "list of text", EscapedText: "text",
	Counts: "counts", FID: "FID",
	NID: "NID", Address: "address", Object: "object", Section: "object"}

// String returns the type in a word for users.
func (t Type) String() string { return typeNames[t] }

// Unit is the unit of a number. Times have a type instead.
type Unit string

// The units.
const (
	NoUnit Unit = ""
	Bytes  Unit = "bytes"
)

// Count is how often something occurred.
type Count struct {
	Name string
	N    int64
}

// Value is one value of a key. Which fields hold it depends on Type. They are
// valid until the record or the Value is used for something else.
type Value struct {
	Type  Type
	U     uint64
	Names *schema.Names // of Enum, Flags and Status
	Text  []byte        // of the wire: escaped where it is shown
	OID   uint32
	Ver   uint32
	NID   lnet.NID
	Addr  netip.AddrPort

	// Of statistics and connections only.
	F       float64
	Strings []string // as Text
	Counts  []Count

	Escaped Escaped // of EscapedText

	buf []byte
}

// Escaped is text in which whatever a terminal would act on is escaped already, so that it
// is shown as it is. All other text of a Value is of the wire, or may be.
type Escaped []byte

// SetString makes Text a copy of s.
func (v *Value) SetString(s string) {
	v.buf = append(v.buf[:0], s...)
	v.Text = v.buf
}

// SetFID sets the value of a FID.
func (v *Value) SetFID(f track.FID) { v.U, v.OID, v.Ver = f.Seq, f.OID, f.Ver }

// SetErrno makes Text the name of a negative errno, or the number when it has no
// name.
func (v *Value) SetErrno(status int32) {
	v.buf = AppendErrno(v.buf[:0], status)
	v.Text = v.buf
}

// AppendErrno appends the name of a negative errno, or of a failed GSS call, or the number when it has no
// name.
func AppendErrno(dst []byte, status int32) []byte {
	if name := opcodes.GSSErrorName(status); name != "" {
		return append(dst, name...)
	}
	return schema.AppendErrno(dst, status)
}

// NamedValue returns the number of a name, or of names of flags separated by |, commas or spaces.
func NamedValue(names *schema.Names, text string) (u uint64, ok bool) {
	if v, ok := names.Find(text); ok || !names.Flags {
		return v.Value, ok
	}
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("|, ", r) }) {
		v, found := names.Find(name)
		if !found {
			return 0, false
		}
		u, ok = u|v.Value, true
	}
	return u, ok
}

// noteCodes are the codes of notes.
var noteCodes = []schema.Value{
	{Name: "checksum", Doc: "the checksum of the transport is wrong"},
	{Name: "encrypted", Doc: "the message is encrypted; only what wraps it can be read"},
	{Name: "foreign", Doc: "a message of another network driver of LNet, which is not decoded"},
	{Name: "gap", Doc: "bytes are missing because a segment is not in the capture"},
	{Name: "guess", Doc: "the layout is guessed: the request is missing or truncated"},
	{Name: "rdma_failed", Doc: "the RDMA transfer of the payload was refused or failed"},
	{Name: "replay", Doc: "a request that is replayed after recovery"},
	{Name: "resent", Doc: "a request, or a message of the connection manager of InfiniBand, that was sent before"},
	{Name: "retransmitted", Doc: "a TCP segment or InfiniBand packet with bytes of the message was sent again"},
	{Name: "short", Doc: "a buffer is shorter than its length field or its struct"},
	{Name: "tail", Doc: "there are bytes after the last known field"},
	{Name: "truncated", Doc: "bytes are missing because frames were captured in part or the capture ends"},
	{Name: "unanswered", Doc: "a message of the connection manager of InfiniBand that had no answer until the end of the capture; it is listed again there"},
	{Name: "unknown", Doc: "the bytes match no known layout"},
}

var eventCodes = [...]string{
	track.EventConnect:        "the client sent a connect request",
	track.EventConnected:      "the server accepted the connect",
	track.EventRefused:        "the server refused the connect",
	track.EventLateReply:      "a reply to a connect came after the client had given it up",
	track.EventNotConnected:   "the server does not know the client, or the target is not there",
	track.EventEvicted:        "the server evicted the client",
	track.EventCallback:       "a lock callback was pending when the server evicted the client",
	track.EventReplay:         "the client replayed requests",
	track.EventNotReplayed:    "requests that should have been replayed were not",
	track.EventLockReplay:     "the client replayed locks",
	track.EventPing:           "the client sent pings",
	track.EventPingUnanswered: "pings had no reply",
	track.EventDisconnect:     "the client sent a disconnect request",
	track.EventContextSetup:   "the client asked for a security context",
	track.EventContextReady:   "the security context was set up",
	track.EventContextFailed:  "the server refused the security context",
	track.EventLog:            "a line of the log of a node",
}

// kindDocs says what messages of each kind are.
var kindDocs = [...]string{
	lnet.Unknown:    "a message of LNet for another portal, or one whose header was not captured",
	lnet.Connreq:    "the first message of the node that connects: to the acceptor of its peer, or over InfiniBand a REQ of the connection manager",
	lnet.Connack:    "over InfiniBand, the connection is accepted: a REP of the connection manager",
	lnet.Connrej:    "over InfiniBand, the connection is refused: a REJ of the connection manager",
	lnet.Dreq:       "over InfiniBand, one end asks to end the connection: a DREQ of the connection manager",
	lnet.Drep:       "over InfiniBand, the answer to a dreq: a DREP of the connection manager",
	lnet.Hello:      "the first message of each node on a TCP connection: version, NIDs, purpose of the connection",
	lnet.Noop:       "a message of the transport alone: keep-alive, acknowledgement or credits",
	lnet.Ack:        "the acknowledgement of a PUT of LNet",
	lnet.Get:        "a GET of LNet: a server fetches bulk data, as of a write",
	lnet.GetReply:   "the bulk data that answer a get",
	lnet.Bulk:       "bulk data in a PUT of LNet, as of a read",
	lnet.Ping:       "a ping of LNet: it asks for the interfaces of a node",
	lnet.PingReply:  "the answer to a ping of LNet",
	lnet.Push:       "a node sends its interfaces",
	lnet.Selftest:   "a message of LNet selftest",
	lnet.Request:    "the request of an RPC",
	lnet.Reply:      "the reply of an RPC",
	lnet.EarlyReply: "a server needs more time: it extends the time for which the client waits for the reply",
}

// kinds are what messages are.
var kinds = schema.Enum("kind", "", "what a message is", described(lnet.KindNames(), kindDocs[:]))

// described returns values with names and meanings.
func described(names, docs []string) (list []schema.Value) {
	for i, name := range names {
		list = append(list, schema.Value{Name: name, Value: uint64(i), Doc: docs[i]})
	}
	return list
}

func codes() (list []Entry) {
	for _, group := range []struct {
		of     string
		values []schema.Value
	}{{"message", kinds.Values}, {"note", noteCodes}, {"event", described(track.EventNames(), eventCodes[:])}, {"place", places.Values}} {
		for _, v := range group.values {
			list = append(list, Entry{Kind: CodeEntry, Name: v.Name, Path: v.Name, Of: group.of, Doc: v.Doc})
		}
	}
	return list
}
