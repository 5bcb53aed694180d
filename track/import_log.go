package track

import (
	"slices"

	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
)

// ImportLog is what happened to a connection, oldest first.
type ImportLog struct {
	History []Transition
	Events  []Event
	Dropped int // entries of History and Events that were too many

	total *int // entries of all connections
}

// The bounds of logs: a History or Events has up to maxLog entries, but only
// fewLog when all connections together have maxLogTotal.
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

// ImportState is the state of a connection, numbered as in Lustre.
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
)

func (s ImportState) String() string {
	if s == StateUnknown {
		return "UNKNOWN"
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
)

var eventNames = [...]string{"connect", "connected", "refused", "late", "notconn", "evicted", "callback", "replay", "gap",
	"lock_replay", "ping", "ping_lost", "disconnect"}

func (k EventKind) String() string { return eventNames[k] }

// EventNames returns the names of all kinds of events, in their order.
func EventNames() []string { return eventNames[:] }

// isRun reports whether successive events of a kind are one entry.
func (k EventKind) isRun() bool {
	return k == EventPing || k == EventReplay || k == EventLockReplay || k == EventPingUnanswered
}

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
}

// setState notes a transition.
func (i *Import) setState(s ImportState, p Point) {
	if i.State == s {
		return
	}
	i.State = s
	i.History = append(slices.Delete(i.History, 0, i.makeRoom(len(i.History))), Transition{p, s})
}

// add notes an event; one like the last prolongs it where runs make sense.
func (l *ImportLog) add(e Event) *Event {
	e.Until, e.Count = e.Point, 1
	if n := len(l.Events); n > 0 && e.Kind.isRun() && l.Events[n-1].Kind == e.Kind {
		last := &l.Events[n-1]
		last.Until = e.Point
		last.Count++
		last.From, last.To = min(last.From, e.From), max(last.To, e.To)
		return last
	}
	l.Events = append(slices.Delete(l.Events, 0, l.makeRoom(len(l.Events))), e)
	return &l.Events[len(l.Events)-1]
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
