package locks

import (
	"slices"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Lock is a lock that a client asked a server for. What the capture does not show
// is zero: a lock from before the capture is known by its handles, until a
// message describes it.
type Lock struct {
	// Desc is the lock as it was granted, or as it was requested while Granted in
	// it is 0. Of a lock from before the capture there may only be the kind and
	// the name of the resource.
	Desc         opcodes.LockDesc
	Client       lnet.NID // the node that has the lock, also when it is a server
	Server       lnet.NID
	Connection   *track.Connection // nil: unknown
	ClientHandle uint64            // the client's cookie
	Handle       uint64            // the server's cookie
	Job          string

	Asked   track.Point // the request
	Granted track.Point // the reply or the completion callback that granted it
	Told    track.Point // the reply, if the lock is Blocked

	HasJob  bool
	Blocked bool // the reply says that it has to wait for others
	Missing track.Missing
	Error   int32 // of a refused lock: the status of the reply

	Replays   int // how often the client replayed it to a restarted server
	Callbacks []Callback
	Converts  []Convert
	BlockedBy []Blocker
	Lines     []Line
	Dropped   int // callbacks, converts, blockers and lines that were too many to keep

	End  End
	Last int64 // time of the end, or that of the capture

	state
}

// state is what Locks needs to follow a lock.
type state struct {
	number    uint64 // distinguishes all locks of a capture
	place     place
	known     known
	intent    bool // the reply has the resource
	unread    bool // the reply was not captured, or not as a whole
	fromLog   bool // there is no capture
	clientLog bool // the log of the client has it
	serverLog bool
	partly    bool              // a part in the middle of the range was released
	blocking  *opcodes.LockDesc // the lock that the last blocking callback describes; nil: none does
	live      fifo.Element[Lock]
	connected fifo.Element[Lock]

	byClient, byServer fifo.Entry[Lock]
}

// known is what Desc has.
type known uint8

const (
	knownNothing   known = iota
	knownResource        // kind and name
	knownRequested       // what was requested
	knownGranted         // what was granted
)

// End is how and when a lock ended. Point is zero when no message shows it.
type End struct {
	How   How
	Point track.Point
	By    uint32 // opcode of the request that gave it back
}

// How is how a lock ended.
type How uint8

// The ends of a lock.
const (
	Open         How = iota // no message ended it
	Canceled                // the client gave it back, or gave up waiting for it
	Early                   // the client gave it back along with another request
	Evicted                 // the server evicted the client
	Disconnected            // the client disconnected
	Replaced                // another flock of the same owner took its range
	Refused                 // the reply is an error
	Gone                    // the client answered a callback that it does not have the lock
	Failed                  // its completion callback does not grant it: a deadlock of flocks
	Unfollowed              // there were too many locks to follow it any longer
	Given                   // it is gone, by a log that does not say how
	ends
)

var howNames = [ends]string{"open", "cancel", "early", "evicted", "disconnect", "replaced", "refused", "gone", "failed", "unfollowed", ""}

// String returns the word in JSON, empty for Given.
func (h How) String() string { return howNames[h] }

// CallbackKind is the kind of a callback.
type CallbackKind uint8

// The kinds. BlockingCompletion is a completion callback that is a blocking one
// as well.
const (
	Blocking CallbackKind = iota
	Completion
	BlockingCompletion
	Glimpse
	callbackKinds
)

var callbackNames = [callbackKinds]string{"blocking", "completion", "completion", "glimpse"}

// String returns the word in JSON.
func (k CallbackKind) String() string { return callbackNames[k] }

// Callback is a callback from the server about a lock.
type Callback struct {
	Kind     CallbackKind
	Sent     track.Point
	Answered track.Point // the reply
	Status   int32       // of the reply
	Missing  track.Missing
	Obeyed   track.Point // the cancel or convert that followed a blocking callback

	twice bool // another one is the same, by the log of the other node
}

// Asks reports whether the callback asks the client to give the lock back.
func (c *Callback) Asks() bool { return c.Kind == Blocking || c.Kind == BlockingCompletion }

// Convert is when a client kept only some bits of an inode lock.
type Convert struct {
	Point track.Point
	Bits  uint64 // that it keeps
}

// Line is what a line of a log says about a lock.
type Line struct {
	Kind     debuglog.Kind
	OnClient bool  // written by the client's node, else by the server
	Status   int32 // of LockReplied
	Time     int64 // by the clock of the capture
	File     string
	Number   int64
	Bits     uint64 // that the client keeps, of LockConverts
}

// Blocker is a lock that kept another one from being granted.
type Blocker struct {
	Client lnet.NID
	Handle uint64 // the server's cookie
	Job    string
	From   int64 // time from which on it did
	Until  int64 // time of its end, 0: it did not end before the one that waited

	number uint64
}

// maxPerLock entries of each list of a lock are kept. Of the callbacks, half of
// them may be glimpses.
const maxPerLock = 64

// TargetIndex returns the index of the target, as in OST0001, where it is known
// without the name of the file system; else it is empty.
func (l *Lock) TargetIndex() string {
	if l.Connection == nil {
		return ""
	}
	return l.Connection.TargetIndex
}

// Target returns the name of the target, empty when it is unknown.
func (l *Lock) Target() string {
	if l.Connection == nil {
		return ""
	}
	return l.Connection.Target
}

// HasResource reports whether kind and name of the resource are known.
func (l *Lock) HasResource() bool { return l.known >= knownResource }

// HasDesc reports whether mode, and range or bits, are known.
func (l *Lock) HasDesc() bool { return l.known >= knownRequested }

// IsGranted reports whether the lock was granted, also when that was before the
// capture.
func (l *Lock) IsGranted() bool { return l.known == knownGranted || !l.Granted.IsZero() }

// Mode returns the granted mode, before that the requested one.
func (l *Lock) Mode() (mode uint64, ok bool) {
	if mode = l.Desc.Granted; mode == 0 {
		mode = l.Desc.Requested
	}
	return mode, l.HasDesc()
}

// Waited returns the nanoseconds from the request until the lock was granted, or
// until the wait or the capture ended. It is unknown where the reply was not
// captured, and of an intent, whose work takes time, too, unless others are known to have kept it waiting.
func (l *Lock) Waited() (ns int64, ok bool) {
	end := l.Last
	if !l.Granted.IsZero() {
		end = l.Granted.Time
	}
	known := !l.Granted.IsZero() || !l.unread
	if l.intent && !l.Granted.IsZero() && !l.Blocked && len(l.BlockedBy) == 0 {
		return 0, false // the reply took so long for what was done along with it
	}
	return max(0, end-l.Asked.Time), !l.Asked.IsZero() && known
}

// Held returns the nanoseconds from the grant until the lock or the capture
// ended.
func (l *Lock) Held() (ns int64, ok bool) {
	return max(0, l.Last-l.Granted.Time), !l.Granted.IsZero()
}

// stuckAfter is how long a wait or a callback that is pending at the end of the
// capture is not stuck, in nanoseconds.
const stuckAfter = int64(1e9)

// IsStuck reports whether the lock was never granted, or a callback about it was
// not answered or not obeyed. What has been pending for less than a second when
// the capture ended is not stuck.
func (l *Lock) IsStuck() bool {
	if waited, ok := l.Waited(); ok && !l.IsGranted() && l.End.How != Refused && (l.End.How != Open || waited >= stuckAfter) {
		return l.Blocked || l.Missing == track.Unanswered
	}
	for i := range l.Callbacks {
		if l.IsIgnored(&l.Callbacks[i]) {
			return true
		}
	}
	return false
}

// IsIgnored reports whether a callback about the lock was not answered or, when it
// asks for the lock, not obeyed.
func (l *Lock) IsIgnored(c *Callback) bool {
	if c.Answered.IsZero() && c.Missing == track.Unanswered {
		return true
	}
	given := l.End.How != Open && l.End.How != Evicted
	return c.Asks() && c.Obeyed.IsZero() && c.Status == 0 && !given && l.Last-c.Sent.Time >= stuckAfter
}

// isLive reports whether the lock waits or is held.
func (l *Lock) isLive() bool { return l.End.How == Open }

// isWaiting reports whether the lock is requested and not granted yet.
func (l *Lock) isWaiting() bool { return l.isLive() && !l.IsGranted() && l.known == knownRequested }

// sameOwner reports whether two flocks belong to the same processes.
func (l *Lock) sameOwner(o *Lock) bool {
	return l.Desc.Kind == opcodes.FlockLock && l.Client == o.Client && l.Desc.Owner == o.Desc.Owner
}

// isInConflict reports whether a lock that is held conflicts with one that waits.
func (l *Lock) isInConflict(o *Lock) bool {
	return l != o && l.isLive() && l.known == knownGranted && !l.partly && !l.sameOwner(o) && l.Desc.Conflicts(&o.Desc)
}

// isSilent reports whether the server sends no blocking callbacks for the lock.
func (l *Lock) isSilent() bool { return l.Desc.Kind == opcodes.FlockLock || l.Desc.IsGroup() }

// isAskedFor reports whether a blocking callback is not obeyed yet.
func (l *Lock) isAskedFor() bool {
	for i := range l.Callbacks {
		if c := &l.Callbacks[i]; c.Asks() && c.Obeyed.IsZero() {
			return true
		}
	}
	return false
}

// obey notes the message that follows the blocking callbacks.
func (l *Lock) obey(p track.Point) {
	for i := range l.Callbacks {
		if c := &l.Callbacks[i]; c.Asks() && c.Obeyed.IsZero() {
			c.Obeyed = p
		}
	}
}

// addCallback adds a callback and returns its index, -1 when there are too many.
func (l *Lock) addCallback(c Callback) int {
	most := maxPerLock
	if c.Kind == Glimpse {
		most = maxPerLock / 2
	}
	if len(l.Callbacks) >= most {
		l.Dropped++
		return -1
	}
	l.Callbacks = append(l.Callbacks, c)
	return len(l.Callbacks) - 1
}

// asBlocker returns the lock as one that keeps others waiting.
func (l *Lock) asBlocker() Blocker {
	b := Blocker{Client: l.Client, Handle: l.Handle, Job: l.Job, number: l.number}
	if !l.Granted.IsZero() {
		b.From = l.Granted.Time
	}
	return b
}

// addBlocker adds a lock that keeps this one waiting.
func (l *Lock) addBlocker(b Blocker) {
	for i := range l.BlockedBy {
		if l.BlockedBy[i].number == b.number {
			return
		}
	}
	if len(l.BlockedBy) >= maxPerLock {
		l.Dropped++
		return
	}
	b.From = max(b.From, l.Asked.Time)
	l.BlockedBy = append(l.BlockedBy, b)
}

// IsBlockedBy reports whether another lock kept this one waiting.
func (l *Lock) IsBlockedBy(holder *Lock) bool {
	return slices.ContainsFunc(l.BlockedBy, func(b Blocker) bool { return b.number == holder.number })
}

// stopBlocking notes that a lock, by its number, does not keep this one waiting any
// more.
func (l *Lock) stopBlocking(number uint64, now int64) {
	for i := range l.BlockedBy {
		if b := &l.BlockedBy[i]; b.Until == 0 && b.number == number {
			b.Until = now
		}
	}
}

// Time returns for how many nanoseconds the blocker kept a lock waiting.
func (b *Blocker) Time(l *Lock) int64 {
	until := l.Last
	if !l.Granted.IsZero() {
		until = l.Granted.Time
	}
	if b.Until != 0 {
		until = min(until, b.Until)
	}
	return max(0, until-b.From)
}
