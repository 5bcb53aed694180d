package evictions

import (
	"cmp"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
)

// Eviction is a client that a server has evicted: the server dropped the client's
// locks and its connection.
type Eviction struct {
	Connection     *track.Connection
	Target         string // empty: unknown
	Client, Server lnet.NID
	Kind           string // of the connection, see track.Import.Kind

	Cause Cause
	At    track.Point // the reply to the connect that shows the eviction
	*track.Outage

	Instance uint32        // of the target now, 0: unknown
	Locks    []IgnoredLock // of which the client ignored a callback, the oldest callback first
	Dropped  int           // locks that were too many to keep
	Recent   *IgnoredLock  // the lock whose callback was pending longest, of those that were pending for too short a time to be the cause; or nil
	IsEarly  bool          // the cause may have been before the capture began
	IsLossy  bool          // bytes were not captured between the nodes where the cause may have been

	Line             *track.LogLine // of the server's log about it; nil: there is none
	ByLog            bool           // Cause is what Line says, and messages do not show it
	IsOfEarlierMount bool           // the node of the client has mounted the file system again since, and lost nothing
	atLine           bool           // At is the time of a line of the server's log

	mayHaveRecovered bool  // bytes were not captured since the client was let into a recovery
	pings            int64 // nanoseconds between pings: Interval, or what is usual in the capture; 0: unknown
}

// Cause is why a server evicted a client.
type Cause uint8

// The causes, the most certain first: an Eviction has the first that applies.
const (
	Denied       Cause = iota // the server does not accept the client any more
	Admin                     // an administrator wanted it: only a log of the server shows that
	Version                   // what the client replayed was refused: an object had changed
	Recovery                  // the target was restarted, and the client did not recover in time
	LockCallback              // the client did not give back a lock
	Silence                   // nothing was heard from the client for long
	Unknown                   // the capture does not show a cause
	causes
)

var causeNames = [causes]string{"denied", "admin", "version", "recovery", "lock_callback", "silence", "unknown"}

// String returns the word for scripts, which is also the second part of the code of findings.
func (c Cause) String() string { return causeNames[c] }

// Causes returns all causes.
func Causes() []Cause {
	return []Cause{Denied, Admin, Version, Recovery, LockCallback, Silence, Unknown}
}

// byLog returns the cause that the log of the server has.
func byLog(r debuglog.Reason, seen Cause) Cause {
	switch r {
	case debuglog.ByAdmin:
		return Admin
	case debuglog.ByLockCallback:
		return LockCallback
	case debuglog.BySilence:
		return Silence
	}
	if seen == Version { // a client whose replays failed has not finished the recovery, for the log
		return Version
	}
	return Recovery
}

// IsRestarted reports whether the target was restarted before the eviction.
func (e *Eviction) IsRestarted() bool {
	if e.Before != 0 && e.Instance != 0 && e.Before != e.Instance {
		return true
	}
	return !e.mayHaveRecovered && (!e.Recovering.IsZero() || !e.Absent.IsZero())
}

// IgnoredLock is a lock that a client did not give back.
type IgnoredLock struct {
	*locks.Lock
	Callback locks.Callback // that it ignored
}

// Thresholds, in nanoseconds or as a factor.
const (
	// MinIgnored is how long a callback must be pending, or for one ping interval where that is
	// shorter: servers wait longer before they evict, even with the shortest timeouts.
	MinIgnored = int64(5e9)

	// maxIgnored is how long a callback is pending at most before a server evicts, with
	// the default of at_max.
	maxIgnored = int64(600e9)

	// MinSilence is the shortest silence after which servers evict, or enoughSilentPings ping
	// intervals where that is shorter: six pings, which are at least five seconds apart.
	MinSilence        = int64(25e9)
	enoughSilentPings = 5

	// MinSilentPings is how many ping intervals the silence must be long. Servers
	// evict after six by default.
	MinSilentPings = 3
)

// cause returns the first cause that applies.
func (e *Eviction) cause() Cause {
	switch {
	case e.Status != 0:
		return Denied
	case e.Mismatches > 0:
		return Version
	case e.IsRestarted():
		return Recovery
	case len(e.Locks) > 0:
		return LockCallback
	case e.Silence >= min(MinSilence, cmp.Or(enoughSilentPings*e.pings, MinSilence)) && e.Silence >= MinSilentPings*e.Interval:
		return Silence
	}
	return Unknown
}
