package track

import (
	"slices"

	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
)

// ImportState is the state of a connection, numbered as Lustre does.
type ImportState uint8

// The states. Of a connection that was there before the capture began, the
// state is unknown until something shows it.
const (
	StateUnknown ImportState = iota
	Closed
	New
	Discon
	Connecting
	Replay
	ReplayLocks
	ReplayWait
	Recover
	Full
	Evicted
	Idle
)

func (s ImportState) String() string {
	if s == StateUnknown {
		return "UNKNOWN"
	}
	return opcodes.ImportState.Name(uint64(s))
}

// Import is the life of a connection between a client and a target: the import
// of the one, the export of the other.
type Import struct {
	*Link
	State       ImportState
	First, Last Point // seen of it

	Asked, Granted Connect // of the last connect that has them
	HasAsked       bool
	HasGranted     bool
	ConnCnt        uint32
	Attempts       int             // connect requests
	Failures       map[int32]int64 // connects that were answered with an error, by it
	LastCommitted  uint64
	LastTransno    uint64
	Requests       int64
	Replies        int64
	Pings          int64
	Evictions      int

	History []Change
	Events  []Event
	Dropped int // entries of History and Events that were too many

	told     *int        // entries of all connections
	handle   uint64      // the server's, as of the last connect
	before   ImportState // state of the replay that a reconnect interrupts
	initial  bool        // the last connect was
	ost      bool        // it was ended by an OST_DISCONNECT
	replayed replayed
	calls    []callback
}

// Connect is what one side says in a connect.
type Connect struct {
	Flags, Flags2 uint64
	Version       uint32
	Instance      uint32
}

// Change is a transition and the frame that proves it.
type Change struct {
	Point
	State ImportState
}

// EventKind is what happened to a connection.
type EventKind uint8

// The events.
const (
	EvConnect   EventKind = iota // a connect request
	EvConnected                  // it was granted
	EvRefused                    // it was refused
	EvLate                       // the reply to a connect that was given up
	EvNotConn                    // the server does not know the client, or the target is not there
	EvEvicted
	EvCallback   // a lock callback that was not obeyed when the client was evicted
	EvReplay     // requests were replayed
	EvGap        // requests that should have been replayed and were not
	EvLockReplay // locks were replayed
	EvPing
	EvPingLost // a ping without reply
	EvDisconnect
)

var eventNames = [...]string{"connect", "connected", "refused", "late", "notconn", "evicted", "callback", "replay", "gap",
	"lock_replay", "ping", "ping_lost", "disconnect"}

func (k EventKind) String() string { return eventNames[k] }

// Event is something that happened to a connection, or a run of the same. What
// the last fields mean depends on the kind.
type Event struct {
	Point         // of the first
	Until   Point // the last
	Kind    EventKind
	Count   int
	Node    lnet.NID // EvConnect: the server that was asked
	ConnCnt uint32
	OpFlags uint32 // EvConnect, EvConnected: pb_op_flags
	Status  int32
	Opcode  uint32
	From    uint64 // EvReplay, EvGap: the first transno; EvCallback: the lock's cookie at the client
	To      uint64 // the last transno
	Replied bool   // EvCallback: it was answered, but the lock was not given up
}

// Kind says what sort of connection it is: "client", "mgc", "lwp", "mdt-mdt",
// "mdt-ost", or nothing while that is unknown.
func (i *Import) Kind() string {
	f := i.Asked.Flags
	switch {
	case !i.HasAsked:
		return ""
	case f&flagLightweight != 0:
		return "lwp"
	case i.Target == "MGS":
		return "mgc"
	case f&flagMDSMDS != 0:
		return "mdt-mdt"
	case f&flagMDS != 0:
		return "mdt-ost"
	}
	return "client"
}

// Refused are the flags that were asked for and not granted.
func (i *Import) Refused() (flags, flags2 uint64) {
	if !i.HasAsked || !i.HasGranted {
		return 0, 0
	}
	return i.Asked.Flags &^ i.Granted.Flags, i.Asked.Flags2 &^ i.Granted.Flags2
}

// The most entries of a History or Events: of one of a few connections, and
// when many have many.
const (
	maxHistory = 1024
	fewHistory = 16
)

// room makes room for an entry behind n others: it returns how many of them,
// the oldest, have to go.
func (i *Import) room(n int) (drop int) {
	if n >= maxHistory || n >= fewHistory && *i.told >= maxTold {
		drop = (n + 1) / 2
	}
	i.Dropped += drop
	*i.told += 1 - drop
	return drop
}

// to notes a transition.
func (i *Import) to(s ImportState, p Point) {
	if i.State == s {
		return
	}
	i.State = s
	i.History = append(slices.Delete(i.History, 0, i.room(len(i.History))), Change{p, s})
}

// event notes an event; one like the last prolongs it when runs make sense.
func (i *Import) event(e Event) *Event {
	e.Until, e.Count = e.Point, 1
	if n := len(i.Events); n > 0 && e.Kind.runs() && i.Events[n-1].Kind == e.Kind {
		last := &i.Events[n-1]
		last.Until = e.Point
		last.Count++
		last.From, last.To = min(last.From, e.From), max(last.To, e.To)
		return last
	}
	i.Events = append(slices.Delete(i.Events, 0, i.room(len(i.Events))), e)
	return &i.Events[len(i.Events)-1]
}

func (k EventKind) runs() bool {
	return k == EvPing || k == EvReplay || k == EvLockReplay || k == EvPingLost
}

func (c *Connect) read(b []byte, big bool) bool {
	if len(b) < 8 {
		return false
	}
	*c = Connect{Flags: opcodes.OcdFlags.Uint(b, big)}
	if c.Flags&flagFlags2 != 0 {
		c.Flags2 = opcodes.OcdFlags2.Uint(b, big)
	}
	if c.Flags&flagVersion != 0 {
		c.Version = uint32(opcodes.OcdVersion.Uint(b, big))
	}
	c.Instance = uint32(opcodes.OcdInstance.Uint(b, big)) // servers fill it in without the flag, too
	return true
}

var (
	flagLightweight = opcodes.ObdConnectFlags.Bit("LIGHTWEIGHT")
	flagMDSMDS      = opcodes.ObdConnectFlags.Bit("MDS_MDS")
	flagMDS         = opcodes.ObdConnectFlags.Bit("MDS")
	flagFlags2      = opcodes.ObdConnectFlags.Bit("FLAGS2")
	flagVersion     = opcodes.ObdConnectFlags.Bit("VERSION")
)
