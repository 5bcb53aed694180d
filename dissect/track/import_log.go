package track

import (
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// ImportLog is what happened to a connection, oldest first.
type ImportLog struct {
	History []Transition
	Events  []Event
	PingLog []Point // each ping; Events has runs of them
	Dropped int     // entries of the three that were too many

	changes int  // number of changes so far
	total   *int // entries of all connections
}

// The bounds of logs: History, Events and PingLog have up to maxLog entries each,
// but only fewLog when all connections together have maxLogTotal.
const (
	maxLog      = 1024
	fewLog      = 16
	maxLogTotal = 1 << 18
)

// Transition is a change of state and the frame that proves it.
type Transition struct {
	Point
	State ImportState
}

// ImportState is the state of a connection, numbered as in Lustre up to StateIdle.
type ImportState uint8

// The states. That of a connection which was made before the capture began is
// unknown until a message shows it.
const (
	StateUnknown ImportState = iota
	StateClosed
	StateNew
	StateDiscon
	StateConnecting
	StateReplay
	StateReplayLocks
	StateReplayWait
	StateRecover
	StateFull
	StateEvicted
	StateIdle
	StateDisconnecting // a disconnect was sent and not answered; Lustre calls that CONNECTING, too
)

// String returns the name that Lustre prints for the state.
func (s ImportState) String() string {
	switch s {
	case StateUnknown:
		return "UNKNOWN"
	case StateDiscon:
		return "DISCONN"
	case StateDisconnecting:
		return "DISCONNECTING"
	}
	return opcodes.ImportState.Name(uint64(s))
}

// EventKind is what happened to a connection.
type EventKind uint8

// The events.
const (
	EventConnect        EventKind = iota // a connect request
	EventConnected                       // it was granted
	EventRefused                         // it was refused
	EventLateReply                       // the reply to a connect that the client had given up
	EventNotConnected                    // the server does not know the client, or the target is not there
	EventEvicted                         // the server evicted the client
	EventCallback                        // a lock callback that was pending when the client was evicted
	EventReplay                          // requests were replayed
	EventNotReplayed                     // requests that should have been replayed and were not
	EventLockReplay                      // locks were replayed
	EventPing                            // pings
	EventPingUnanswered                  // pings without a reply
	EventDisconnect                      // a disconnect request
	EventContextSetup                    // a request for a security context
	EventContextReady                    // it was set up
	EventContextFailed                   // it was not
	EventLog                             // a line of a node's log
)

var eventNames = [...]string{"connect", "connected", "refused", "late", "notconn", "evicted", "callback", "replay", "not_replayed",
	"lock_replay", "ping", "ping_lost", "disconnect", "gss_init", "gss_ready", "gss_failed", "log"}

func (k EventKind) String() string { return eventNames[k] }

// EventNames returns the names of all kinds of events, in their order.
func EventNames() []string { return eventNames[:] }

// runKinds are the kinds of which successive events are one entry.
var runKinds = []EventKind{EventPing, EventReplay, EventLockReplay, EventPingUnanswered}

// Event is something that happened to a connection, or a run of the same. What
// the fields behind Count mean depends on the kind.
type Event struct {
	Point         // of the first
	Until   Point // the last
	Kind    EventKind
	Count   int
	Node    lnet.NID // EventConnect: the server
	ConnCnt uint32
	OpFlags uint32 // EventConnect, EventConnected: pb_op_flags
	Status  int32
	Opcode  uint32
	From    uint64 // EventReplay, EventNotReplayed: the first transno; EventCallback: the lock's cookie at the client
	To      uint64 // the last transno
	Replied bool   // EventCallback: it was answered, but the lock was not released
	Silence int64  // EventDisconnect: time since the last message other than pings, in nanoseconds; 0: unknown
	Text    string // of the line, where a log has the event
}

// Since returns the point since which the connection is in its state; the zero
// Point when the state is unknown.
func (i *Import) Since() Point {
	if len(i.History) == 0 {
		return Point{}
	}
	return i.History[len(i.History)-1].Point
}

// EventAt returns the event of a kind that a message has added, nil: none.
func (l *ImportLog) EventAt(p Point, kind EventKind) *Event {
	for k := len(l.Events) - 1; k >= 0 && l.Events[k].Time >= p.Time; k-- {
		if e := &l.Events[k]; e.Kind == kind && e.Point == p {
			return e
		}
	}
	return nil
}

// setState notes a transition.
func (i *Import) setState(s ImportState, p Point) {
	if i.State == s {
		return
	}
	i.State = s
	i.changes++
	i.History = append(slices.Delete(i.History, 0, i.makeRoom(len(i.History))), Transition{p, s})
}

// add notes an event, in the order of time. One like the event before it
// prolongs that where runs make sense.
func (l *ImportLog) add(e Event) *Event {
	l.changes++
	e.Until, e.Count = e.Point, 1
	at := len(l.Events)
	for at > 0 && l.Events[at-1].Time > e.Time {
		at--
	}
	if at > 0 && slices.Contains(runKinds, e.Kind) && l.Events[at-1].Kind == e.Kind {
		run := &l.Events[at-1]
		if e.Time >= run.Until.Time {
			run.Until = e.Point
		}
		run.Count++
		run.From, run.To = min(run.From, e.From), max(run.To, e.To)
		return run
	}
	drop := l.makeRoom(len(l.Events))
	at = max(0, at-drop)
	l.Events = slices.Insert(slices.Delete(l.Events, 0, drop), at, e)
	return &l.Events[at]
}

// makeRoom counts an entry behind n others and returns how many of them, the
// oldest, have to be deleted.
func (l *ImportLog) makeRoom(n int) (drop int) {
	if n >= maxLog || n >= fewLog && *l.total >= maxLogTotal {
		drop = (n + 1) / 2
	}
	l.Dropped += drop
	*l.total += 1 - drop
	return drop
}
