package debuglog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
)

// Call is what the log of one node has about an RPC: the node that sent it, or the one that
// served it.
type Call struct {
	XID    uint64
	Opcode uint32
	Served bool     // by the node of this log, else it sent the request
	Peer   lnet.NID // the other node
	Log    int      // number of the log
	File   string   // its name

	FirstLine, LastLine int64 // numbers of its lines, other than notes

	// Nanoseconds since the epoch, 0 where the log does not say. Arrived, Handling and
	// Handled are of the node that served the request.
	Sent, Completed            int64
	Arrived, Handling, Handled int64

	Service, Total int64 // of a request that was handled, in nanoseconds; Total begins with Arrived
	Transno        uint64
	Status         int32
	ReplyStatus    int32 // NoReply: there was none yet

	PID     uint32 // of the thread that sent or served it
	Process string // its name
	UUID    string // of the client
	Refs    int32  // references to the export
	Job     string
	User    User
	Target  string // by the name of the import
	Import  string // its name

	Failed int64 // when the node last gave up waiting for the reply, 0: it did not
	Resent int   // how often the node announced to send it again

	Intent int32 // error of what was asked for along with a lock, as the client logs it; 0: none
}

// Thread is a thread of a node, by the number of its log and its process id.
type Thread struct {
	Log int
	PID uint32
}

// Thread returns the thread that sent or served the RPC.
func (c *Call) Thread() Thread { return Thread{c.Log, c.PID} }

// Begin returns the time of the first event.
func (c *Call) Begin() int64 { return cmp.Or(c.Sent, c.Arrived, c.Handling, c.Handled, c.Completed) }

// End returns the time of the last event.
func (c *Call) End() int64 { return max(c.Completed, c.Handled, c.Handling, c.Sent, c.Failed) }

// Over reports whether the log has the end of the RPC.
func (c *Call) Over() bool { return c.Completed != 0 || c.Handled != 0 }

// Take adds an event to a call, with the offset of the clock of its log. It reports whether
// the event may belong to it: a request that was handled and comes again is another Call.
func (c *Call) Take(e *Event, offset int64) bool {
	switch {
	case e.XID != c.XID || e.Opcode != c.Opcode:
		return false
	case e.Kind == Note:
		return c.takeNote(e, offset)
	case (e.Kind == Handling || e.Kind == Handled) != c.Served:
		return false
	case e.Peer != c.Peer && (e.Kind != Completed || c.Sent == 0): // which has the server that the import has turned to since
		return false
	}
	t := e.Time + offset
	switch e.Kind {
	case Sent:
		if c.IsSent() || c.Completed != 0 && c.Completed < t {
			return false
		}
		c.Sent = t
	case Completed:
		if c.Completed != 0 {
			return false
		}
		if c.Completed = t; !c.IsSent() {
			c.Sent = 0 // it was not
		}
	case Handling:
		if c.Handling != 0 || c.Handled != 0 {
			return false
		}
		c.Handling = t
	case Handled:
		if c.Handled != 0 || c.Handling != 0 && c.PID != e.PID {
			return false
		}
		c.Handled, c.Arrived = t, t-e.Total
		c.Service, c.Total, c.Transno, c.Status, c.ReplyStatus = e.Service, e.Total, e.Transno, e.Status, e.ReplyStatus
	}
	if c.LastLine = e.Line; c.FirstLine == 0 {
		c.FirstLine = e.Line
	}
	if c.Process == "" || e.Kind == Sent || c.Served {
		c.PID, c.Process, c.UUID, c.Refs, c.Job = e.PID, e.Process, e.UUID, e.Refs, e.Job
	}
	return true
}

// takeNote adds a line in words to the call of the node that sent the request.
func (c *Call) takeNote(e *Event, offset int64) bool {
	if e.User.Known && c.Served == e.Served {
		c.User = e.User
	}
	if c.Served || e.Served {
		return false
	}
	c.Target, c.Import = e.Target, e.Name
	switch {
	case c.Sent == 0 && e.IsConnect():
		c.Sent = e.Time + offset // about: the line that says so is the next one
	case e.IsTimeout():
		if c.Failed = e.Time + offset; c.FirstLine == 0 { // the log has no other line about it
			c.Sent, c.FirstLine, c.LastLine, c.Job = c.Failed-e.Service, e.Line, e.Line, e.Job
		}
	case hasPrefix(e.Text, "going to resend", "resending request on EINPROGRESS"):
		c.Resent++
	case hasPrefix(e.Text, "op="):
		if _, status, ok := strings.Cut(e.Text, ", status="); ok {
			n, _ := strconv.ParseInt(status, 10, 32)
			c.Intent = int32(min(n, 0))
		}
	}
	return true
}

// IsSent reports whether the log says that the node has sent the request.
func (c *Call) IsSent() bool { return c.Sent != 0 && c.Process != "" }

// IsConnect reports whether a Note says that the node is about to send a connect.
func (e *Event) IsConnect() bool { return e.Kind == Note && hasPrefix(e.Text, "(re)connect request") }

// GaveUp returns why the node gave up waiting for a reply, by a Note: SlowReply, SentDelay or NetworkError.
func (e *Event) GaveUp() Reason {
	switch {
	case e.Kind != Note || e.Served:
	case e.Reason == SlowReply, e.Reason == SentDelay, e.Reason == NetworkError:
		return e.Reason
	case hasPrefix(e.Text, "TIMEOUT-NORESEND", "timeout (sent at", "inflight"):
		return SlowReply
	case hasPrefix(e.Text, "send limit expired"):
		return SentDelay
	}
	return NoReason
}

// BeginsCall reports whether a Note is all that a log without the flag rpctrace has of an RPC: that it was given up, and when it was sent.
func (e *Event) BeginsCall() bool { return e.Service > 0 && e.IsTimeout() }

// IsTimeout reports whether a Note says that the node gives up waiting for a reply.
func (e *Event) IsTimeout() bool { return e.GaveUp() != NoReason }

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// NewCall returns the call that an event of an RPC begins.
func NewCall(e *Event, log int, offset int64) Call {
	c := Call{XID: e.XID, Opcode: e.Opcode, Peer: e.Peer, Log: log, Served: e.Kind == Handling || e.Kind == Handled, ReplyStatus: NoReply}
	c.Take(e, offset)
	return c
}

// RPC is what the logs of both nodes have about an RPC, by one clock.
type RPC struct {
	Client, Server Call
	HasClient      bool // Client is known
	HasServer      bool
	Handled        int // how often the server handled it
	NotOnWire      NotOnWire

	// Cause is the request because of which the client sent this one, through requests that
	// the capture does not have, as its sender has it; XID is 0 where nothing is between.
	Cause Call
}

// NotOnWire is what the log has and the capture of the same node does not.
type NotOnWire uint8

// The values. Nothing: all that is known to have been sent was captured.
const (
	Nothing       NotOnWire = iota
	RequestUnseen           // the client has sent the request, by its log
	ReplyUnseen             // the server has made the reply
)

var notOnWireNames = [...]string{"", "request", "reply"}

// String returns the name that records have, empty for Nothing.
func (n NotOnWire) String() string { return notOnWireNames[n] }

// Queue returns how long the request waited for a thread, in nanoseconds.
func (c *Call) Queue() int64 { return max(0, c.Total-c.Service) }
