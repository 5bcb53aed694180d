package ladder

import (
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// Kind is what an event is.
type Kind uint8

// The kinds.
const (
	Message Kind = iota // any message but bulk data
	Bulk                // bulk data
	Loss                // bytes that were not captured, in which messages may have begun
	LogLine             // a line of a debug log, which From wrote
)

// Mark is something unusual about an event, as bits.
type Mark uint8

// The marks.
const (
	Retransmitted Mark = 1 << iota // TCP or InfiniBand sent parts of it again
	Incomplete                     // parts of it were not captured
	Resent                         // the request was sent again
	NoReply                        // of a request: no reply was captured
	NoRequest                      // of a reply: its request was not captured
	Failed                         // of a reply: its status is an error
)

// Event is a row of a diagram: a message, bytes that were not captured, or a line of a
// log. Text in it is escaped.
type Event struct {
	Number   int64 // of the message, as in lnet.Message; 0: none
	Frame    int64 // number of the frame in its file
	File     string
	Line     int64 // number of the line in the log File
	Order    int64 // number of the frame over all files
	Time     int64 // nanoseconds since the epoch
	From, To lnet.NID
	Client   lnet.NID // the end that sends the requests; zero: unknown
	Kind     Kind
	Type     lnet.Kind // of the message
	Marks    Mark
	Minor    bool // it only keeps a connection alive

	Opcode    uint32
	HasOpcode bool
	Variant   string

	XID   uint64
	Op    []byte        // the operation, or the kind of message
	Facts schema.Marked // what matters, as in summary lines
	Note  []byte        // what is unusual, such as "not answered"

	transfer lnet.Transfer
	codes    []byte // of the message's notes
	reason   string // of SetReason
}

// Reader makes events of messages.
type Reader struct {
	summary *render.Summary
}

// NewReader makes a Reader. names has the targets and locks that handles stand for, nil: none
// are known. The caller must pass each message to names.Message before it passes it to Read.
func NewReader(names *track.Names) *Reader {
	return &Reader{render.NewSummary(render.SummaryOptions{Names: names})}
}

// Read sets an event to a message. It copies what it needs, and reuses the memory of
// the event.
func (r *Reader) Read(e *Event, m *dissect.Message) {
	facts := e.Facts
	facts.Reset()
	facts.Append(&r.summary.Facts(m).Marked)
	*e = Event{
		Number: m.Number, Type: m.Kind, Frame: m.Frame, File: m.File, Order: m.Order, Time: m.Time,
		Minor: render.IsKeepalive(m),
		Op:    render.AppendOperation(e.Op[:0], m), Facts: facts,
		Note: e.Note[:0], transfer: m.Transfer, codes: e.codes[:0],
	}
	e.From, e.To = m.Ends()
	if m.RPC.HasXID {
		e.XID = m.RPC.XID
	}
	e.Opcode, e.HasOpcode, e.Variant = m.RPC.Opcode, m.RPC.HasOpcode, m.RPC.Variant.String()
	e.setRoles(m)
	if m.RPC.Encrypted {
		e.addCode("encrypted")
	}
	for i := range m.Notes {
		switch code := m.Notes[i].Code; code {
		case "retransmitted":
			e.Marks |= Retransmitted
		case "gap": // in the message, or in front of it
			if slices.ContainsFunc(m.Holes, func(h lnet.Hole) bool { return h.Why == lnet.Lost }) {
				e.Marks |= Incomplete
				e.addCode(code)
			}
		case "resent":
			e.Marks |= Resent
			e.addCode(code)
		default:
			e.addCode(code)
		}
	}
	e.update()
}

// setRoles sets what is known by the kind of the message: which end is the client, and whether the
// RPC failed.
func (e *Event) setRoles(m *dissect.Message) {
	switch m.Kind {
	case lnet.Bulk, lnet.GetReply:
		e.Kind = Bulk
	case lnet.Request:
		e.Client = e.From
	case lnet.Reply, lnet.EarlyReply:
		e.Client = e.To
		if m.RPC.Status < 0 || m.RPC.GSS.Errno() != 0 {
			e.Marks |= Failed
		}
	}
	if m.RPC.HasOpcode && opcodes.IsCallback(m.RPC.Opcode) {
		// A server sends these requests.
		if e.Client == e.From {
			e.Client = e.To
		} else if e.Client == e.To {
			e.Client = e.From
		}
	}
}

// Lost sets an event to bytes that were not captured.
func (r *Reader) Lost(e *Event, l *lnet.Loss) {
	*e = Event{Kind: Loss, Marks: Incomplete, Time: l.From, From: lnet.AddressNID(l.Src), To: lnet.AddressNID(l.Dst),
		Op: e.Op[:0], Note: e.Note[:0], codes: e.codes[:0], Facts: e.Facts}
	e.Facts.Reset()
	e.Facts.Add(schema.Number, strconv.FormatInt(l.Bytes, 10))
	e.Facts.Add(schema.Dim, " bytes ")
	e.Facts.Add(schema.Bad, lossReason(l.Why))
}

// logLine makes an event of a line of a log.
func logLine(l *track.LogLine) *Event {
	e := &Event{Kind: LogLine, Time: l.Time, File: l.File, Line: l.Line, From: l.Node, To: l.Node, XID: l.XID}
	e.Facts.AddBytes(schema.Dim, render.AppendLogLine(nil, &l.Event))
	if l.Opcode != debuglog.NoOpcode {
		e.Opcode, e.HasOpcode = l.Opcode, true
	}
	return e
}

// lossReason returns why bytes were not captured, in words.
func lossReason(w lnet.Why) string {
	switch w {
	case lnet.Present:
		return "unreadable"
	case lnet.BeforeFile:
		return "from before the capture, or not captured"
	case lnet.EndOfFile:
		return "after the end of the capture, or never received"
	case lnet.Snaplen:
		return "cut by the snaplen"
	}
	return "not captured"
}

// TransferUpdate adds what the transport did with the message after it was read.
func (e *Event) TransferUpdate(t *lnet.Transfer) {
	e.transfer.Add(t)
	e.update()
}

// SetReason notes something unusual in words: that a request has no reply, or a reply
// no request.
func (e *Event) SetReason(mark Mark, reason string) {
	e.Marks |= mark
	e.reason = reason
	e.update()
}

func (e *Event) addCode(code string) {
	if len(e.codes) > 0 {
		e.codes = append(e.codes, ' ')
	}
	e.codes = append(e.codes, code...)
}

func (e *Event) update() {
	n := append(e.Note[:0], e.reason...)
	add := func(text string) {
		if len(n) > 0 {
			n = append(n, ", "...)
		}
		n = append(n, text...)
	}
	if t := &e.transfer; t.Resent > 0 || e.Marks&Retransmitted != 0 {
		e.Marks |= Retransmitted
		add("retransmitted")
		if t.Resent > 1 {
			n = append(strconv.AppendInt(append(n, ' '), int64(t.Resent), 10), " packets"...)
		}
		if t.Lost > 0 {
			n = append(render.AppendLatency(append(n, ", "...), t.Lost), " lost"...)
		}
	}
	if len(e.codes) > 0 {
		add(string(e.codes))
	}
	e.Note = n
}
