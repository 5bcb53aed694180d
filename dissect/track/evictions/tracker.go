// Package evictions follows clients that servers evict, and finds out why.
//
// A Tracker gets changes of connections from a track.Imports, which follows how each is
// lost, and locks from a locks.Locks. It passes each Eviction to the hook that New gets,
// when all that belongs to it has been seen, or at the end of the capture.
//
// A server does not tell a client that it evicts it: the client finds out when it
// sends the next request, and connects again. So the cause is what the messages
// before that prove, and Unknown where they prove nothing.
package evictions

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
)

// Tracker follows evictions.
type Tracker struct {
	imports *track.Imports
	done    func(*Eviction)
	linger  int64
	pending []*Eviction // in the order of time
	pings   int64       // what usualPings has found
}

// The bounds of what is followed. Over one of them, the oldest is passed on.
const (
	maxPending = 1 << 12
	maxLocks   = 16 // of an Eviction
)

// New makes a Tracker. imports has the bytes that were not captured; done gets each Eviction once. linger is for how long one is
// held until its RPCs and locks have ended, in nanoseconds of capture time; 0: until
// the end of the capture.
func New(imports *track.Imports, linger int64, done func(*Eviction)) *Tracker {
	return &Tracker{imports: imports, done: done, linger: linger}
}

// ImportChanged takes a change of a connection: its type is that of the hook of
// track.Imports.
func (t *Tracker) ImportChanged(i *track.Import, p track.Point) {
	o := i.Outage()
	if o == nil || o.Evicted != p {
		return
	}
	e := &Eviction{Connection: i.Connection, Target: i.Target, Client: i.Client, Server: i.Server, Kind: i.Kind(), At: p,
		Outage: o, Instance: i.Granted.Instance, atLine: i.FromLog && i.State != track.StateEvicted}
	t.add(e)
}

func (t *Tracker) add(e *Eviction) {
	if len(t.pending) >= maxPending {
		t.pass()
	}
	if e.pings = e.Interval; e.pings == 0 {
		if t.pings == 0 {
			t.pings = t.usualPings()
		}
		e.pings = t.pings
	}
	t.pending = append(t.pending, e)
}

// usualPings returns the median of the ping intervals of all connections, 0 where none is known:
// a client may have been silent since the capture began.
func (t *Tracker) usualPings() int64 {
	var list []int64
	for _, i := range t.imports.List() {
		if n := i.PingInterval(); n > 0 {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// Lock takes a lock that has ended.
func (t *Tracker) Lock(l *locks.Lock) {
	if l.End.How != locks.Evicted || l.Connection == nil {
		return
	}
	at := slices.IndexFunc(t.pending, func(e *Eviction) bool { return e.Connection == l.Connection && e.At == l.End.Point })
	if at < 0 {
		return
	}
	for i := range l.Callbacks {
		c := &l.Callbacks[i]
		if !c.Asks() || !l.IsIgnored(c) && (c.Answered.IsZero() || c.Status != 0 || !c.Obeyed.IsZero()) {
			continue
		}
		e, ignored := t.pending[at], IgnoredLock{l, *c}
		switch {
		case l.End.Point.Time-c.Sent.Time >= min(MinIgnored, cmp.Or(e.pings, MinIgnored)):
			e.ignored(ignored)
			return
		case e.Recent == nil || c.Sent.Time < e.Recent.Callback.Sent.Time:
			e.Recent = &ignored
		}
	}
}

func (e *Eviction) ignored(l IgnoredLock) {
	if len(e.Locks) >= maxLocks {
		e.Dropped++
		return
	}
	e.Locks = append(e.Locks, l)
	slices.SortStableFunc(e.Locks, func(a, b IgnoredLock) int { return cmp.Compare(a.Callback.Sent.Time, b.Callback.Sent.Time) })
}

// Advance sets the time and passes on the evictions that happened long enough ago.
func (t *Tracker) Advance(now int64) {
	for t.linger != 0 && len(t.pending) > 0 && t.pending[0].At.Time+t.linger <= now {
		t.pass()
	}
}

// Close passes on all evictions, and those that only the logs of servers show: the capture has ended. The locks must have ended
// before.
func (t *Tracker) Close() {
	for len(t.pending) > 0 {
		t.pass()
	}
	for l := t.imports.EvictingAlone(); l != nil; l = t.imports.EvictingAlone() {
		c := &track.Connection{Client: l.PeerNode(), ClientUUID: l.UUID, Server: l.Node, Target: l.Target, TargetFrom: track.TargetFromLog}
		e := &Eviction{Connection: c, Target: c.Target, Client: c.Client, Server: c.Server, At: l.Point(), atLine: true,
			Outage: &track.Outage{Lost: l.Point(), Evicted: l.Point()}}
		if c.Target == "MGS" {
			e.Kind = "mgc"
		}
		t.add(e)
		t.pass()
	}
}

// isFoundOut reports whether an eviction, which a server's log has, is one that a client's
// log has.
func (e *Eviction) isFoundOut(o *Eviction) bool {
	a, b := e.Connection, o.Connection
	return !o.atLine && a.Target == b.Target && (a == b || a.ClientUUID == b.ClientUUID && a.ClientUUID != "" || a.Client == b.Client &&
		a.Client != (lnet.NID{}))
}

func (t *Tracker) pass() {
	e := t.pending[0]
	t.pending = t.pending[1:]
	if e.atLine && slices.ContainsFunc(t.pending, e.isFoundOut) {
		return
	}
	since := e.At.Time - maxIgnored
	e.IsEarly, e.IsLossy = t.imports.Begin() > since, t.imports.HasLost(e.Connection, track.Span{From: since, To: e.At.Time})
	e.mayHaveRecovered = !e.Recovering.IsZero() && t.imports.IsLossy(e.Connection, track.Span{From: e.Recovering.Time, To: e.At.Time})
	e.Target, e.Cause = e.Connection.Target, e.cause() // the name may have been found since
	if e.Line = t.imports.Evicting(e.Connection, e.At.Time); e.Line != nil {
		if e.atLine { // the server may have several
			e.At = e.Line.Point()
		}
		if c := byLog(e.Line.Reason, e.Cause); c != e.Cause {
			e.Cause, e.ByLog = c, true
		}
	}
	e.Client, e.ByLog = e.Connection.Client, e.ByLog || e.At.IsLog()
	e.IsOfEarlierMount = e.atLine && t.imports.IsEarlierMount(e.Connection, e.At.Time)
	t.done(e)
}
