package ladder

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
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

	reason   string        // that something is missing, or how long was waited
	transfer lnet.Transfer // what the transport did with the message
	codes    []string      // of the message's notes
}

// NewEvent returns the event of a message, with the facts of its line. The names of lines must have had the
// message before.
func NewEvent(lines *render.Summary, m *dissect.Message) *Event {
	e := &Event{
		Number: m.Number, Type: m.Kind, Frame: m.Frame, File: m.File, Order: m.Order, Time: m.Time, Minor: render.IsKeepalive(m),
		Opcode: m.RPC.Opcode, HasOpcode: m.RPC.HasOpcode, Variant: m.RPC.Variant.String(), Op: render.AppendOperation(nil, m),
	}
	e.Facts.Append(&lines.Facts(m).Marked)
	e.From, e.To = m.Ends()
	if m.RPC.HasXID {
		e.XID = m.RPC.XID
	}
	e.setRoles(m)
	if m.RPC.Encrypted {
		e.codes = append(e.codes, "encrypted")
	}
	for i := range m.Notes {
		switch code := m.Notes[i].Code; {
		case code == "retransmitted":
			e.Marks |= Retransmitted
			continue
		case code == "resent":
			e.Marks |= Resent
		case code != "gap":
		case slices.ContainsFunc(m.Holes, func(h lnet.Hole) bool { return h.Why == lnet.Lost }):
			e.Marks |= Incomplete
		default: // the gap is in front of the message
			continue
		}
		e.codes = append(e.codes, m.Notes[i].Code)
	}
	e.TransferUpdate(&m.Transfer)
	return e
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

// lossEvent makes an event of bytes that were not captured.
func lossEvent(l *lnet.Loss) *Event {
	e := &Event{Kind: Loss, Marks: Incomplete, Time: l.From, From: lnet.AddressNID(l.Src), To: lnet.AddressNID(l.Dst)}
	e.Facts.Add(schema.Number, strconv.FormatInt(l.Bytes, 10))
	e.Facts.Add(schema.Dim, " bytes ")
	e.Facts.Add(schema.Bad, cmp.Or(lossReasons[l.Why], "not captured"))
	return e
}

// lossReasons has why bytes were not captured, in words.
var lossReasons = map[lnet.Why]string{
	lnet.Present:    "unreadable",
	lnet.BeforeFile: "from before the capture, or not captured",
	lnet.EndOfFile:  "after the end of the capture, or never received",
	lnet.Snaplen:    "cut by the snaplen",
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

// TransferUpdate adds what the transport did with the message after it was read.
func (e *Event) TransferUpdate(t *lnet.Transfer) {
	if e.transfer.Add(t); e.transfer.Resent > 0 {
		e.Marks |= Retransmitted
	}
}

// note returns what is unusual, such as "not answered".
func (e *Event) note() string {
	var list []string
	if e.reason != "" {
		list = append(list, e.reason)
	}
	if e.Marks&Retransmitted != 0 && e.Number > 0 { // a remark says it itself
		text := "retransmitted"
		if e.transfer.Resent > 1 {
			text += " " + strconv.Itoa(int(e.transfer.Resent)) + " packets"
		}
		list = append(list, text)
		if e.transfer.Lost > 0 {
			list = append(list, string(render.AppendLatency(nil, e.transfer.Lost))+" lost")
		}
	}
	if len(e.codes) > 0 {
		list = append(list, strings.Join(e.codes, " "))
	}
	return strings.Join(list, ", ")
}

// markNames are the marks as JSON has them, in the order of their bits.
var markNames = [...]string{"retransmitted", "incomplete", "resent", "no_reply", "no_request", "failed"}

// Records returns the events as records.
func (d *Diagram) Records() (list []*records.Arrow) {
	full := render.NIDs{Full: true}
	for _, e := range d.Events() {
		a := &records.Arrow{At: track.Point{Frame: e.Frame, File: e.File, Time: e.Time}, From: nidText(e.From, full), To: nidText(e.To, full),
			Kind: e.Type.String(), Opcode: e.Opcode, HasOpcode: e.HasOpcode, Variant: e.Variant, XID: e.XID, Text: string(e.Facts.Text),
			Note: e.note()}
		switch e.Kind {
		case Loss:
			a.Kind = records.Loss
		case LogLine:
			a.Kind, a.Line, a.To = records.Logged, e.Line, ""
		}
		for bit, name := range markNames {
			if e.Marks&(1<<bit) != 0 {
				a.Marks = append(a.Marks, name)
			}
		}
		list = append(list, a)
	}
	return list
}
