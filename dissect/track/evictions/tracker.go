// Package evictions follows clients that servers evict, and finds out why.
//
// A Tracker gets changes of connections from a track.Imports, RPCs from a
// track.Pairing and locks from a locks.Locks. It passes each Eviction to the hook that
// New gets, when all that belongs to it has been seen, or at the end of the capture.
//
// A server does not tell a client that it evicts it: the client finds out when it
// sends the next request, and connects again. So the cause is what the messages
// before that prove, and Unknown where they prove nothing.
package evictions

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Tracker follows connections that are lost.
type Tracker struct {
	done    func(*Eviction)
	linger  int64
	begin   int64 // time of the first message
	members *fifo.Map[*track.Connection, *member]
	pending []*Eviction // in the order of time
	losses  track.Spans
}

// member is a connection that was lost at least once.
type member struct {
	outage  *Outage // that goes on; nil: none
	silent  int64   // time since which nothing has come from the server; 0: something has, or that is unknown
	refused Refusals
	denied  bool      // the server has denied the connection, and the client tries on
	last    *Eviction // the last one, while it is pending
}

// The bounds of what is followed. Over one of them, the oldest is forgotten or passed
// on.
const (
	maxMembers = 1 << 14
	maxPending = 1 << 12
	maxLocks   = 16 // of an Eviction
	maxLosses  = 1 << 8
)

// New makes a Tracker. done gets each Eviction once. linger is for how long one is
// held until its RPCs and locks have ended, in nanoseconds of capture time; 0: until
// the end of the capture.
func New(linger int64, done func(*Eviction)) *Tracker {
	return &Tracker{done: done, linger: linger, members: fifo.NewMap[*track.Connection, *member](maxMembers)}
}

// Lost takes a run of bytes that were not captured.
func (t *Tracker) Lost(l *lnet.Loss) { t.losses.Add(track.Span{From: l.From, To: l.To}, maxLosses) }

// isCaptured reports whether everything between two times was captured, as far as is
// known.
func (t *Tracker) isCaptured(from, to int64) bool {
	return !t.losses.Overlap(track.Span{From: from, To: to})
}

// Sent takes a request.
func (t *Tracker) Sent(_ *track.RPC, m *dissect.Message) {
	if t.begin == 0 {
		t.begin = m.Time
	}
}

// ImportChanged takes a change of a connection: its type is that of the hook of
// track.Imports.
func (t *Tracker) ImportChanged(i *track.Import, p track.Point) {
	for k := len(i.Events) - 1; k >= 0 && i.Events[k].Time >= p.Time; k-- {
		if e := &i.Events[k]; e.Kind == track.EventEvicted && e.Point == p {
			t.evicted(i, p)
			return
		}
	}
	if i.State == track.StateFull {
		if k, ok := t.members.Get(i.Connection); ok {
			k.outage, k.denied = nil, false
		}
		return
	}
	for k := len(i.Events) - 1; k >= 0 && i.Events[k].Time >= p.Time; k-- {
		t.event(i, &i.Events[k], p)
	}
}

// event takes an event of a connection that is not up.
func (t *Tracker) event(i *track.Import, e *track.Event, p track.Point) {
	switch e.Kind {
	case track.EventNotConnected:
		o := t.outage(i, p)
		t.heard(i)
		o.LostBy, o.HasLostBy = e.Opcode, true
		if e.Status == opcodes.ENODEV {
			o.Absent = p
		}
	case track.EventConnect:
		if e.OpFlags&opcodes.ConnectInitial == 0 {
			t.outage(i, p)
			t.stillSilent(i, p)
		}
	case track.EventConnected:
		if e.OpFlags&opcodes.ConnectRecovering != 0 {
			t.outage(i, p).Recovering = p
		}
		t.heard(i)
	case track.EventRefused:
		t.heard(i)
		if o := t.outage(i, p); e.Status == opcodes.ENODEV && o.Absent.IsZero() {
			o.Absent = p
		}
	}
}

// member returns what is followed of a connection.
func (t *Tracker) member(c *track.Connection) *member {
	k := fifo.GetOrNew(t.members, c)
	return k
}

// outage returns the outage of a connection; it begins at p if none goes on.
func (t *Tracker) outage(i *track.Import, p track.Point) *Outage {
	k := t.member(i.Connection)
	if k.outage != nil {
		return k.outage
	}
	o := &Outage{Lost: p, Served: i.LastServed, Interval: pingInterval(i)}
	since := o.Served.Time
	if o.Served.IsZero() {
		since = t.begin
	}
	k.outage, k.silent, k.refused = o, since, Refusals{}
	t.stillSilent(i, p)
	return o
}

// stillSilent notes that nothing has come from the server by the time of a request.
func (t *Tracker) stillSilent(i *track.Import, p track.Point) {
	k := t.member(i.Connection)
	switch {
	case k.silent == 0:
	case t.isCaptured(k.silent, p.Time):
		k.outage.Silence = p.Time - k.silent
	default:
		k.outage.Silence = 0
	}
}

// heard notes that the server has answered, so that the silence has ended.
func (t *Tracker) heard(i *track.Import) { t.member(i.Connection).silent = 0 }

// pingInterval returns the median of the times between the last pings of a
// connection, 0 when there are too few.
func pingInterval(i *track.Import) int64 {
	const most, fewest = 16, 3
	pings := i.PingLog[max(0, len(i.PingLog)-most):]
	if len(pings) <= fewest {
		return 0
	}
	gaps := make([]int64, 0, most)
	for k := 1; k < len(pings); k++ {
		gaps = append(gaps, pings[k].Time-pings[k-1].Time)
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// evicted takes an eviction.
func (t *Tracker) evicted(i *track.Import, p track.Point) {
	k := t.member(i.Connection)
	status := refusal(i, p)
	if status != 0 && k.denied {
		return
	}
	k.denied = status != 0
	e := &Eviction{Connection: i.Connection, Target: i.Target, Client: i.Client, Server: i.Server, Kind: i.Kind(), At: p,
		Outage: *t.outage(i, p), Instance: i.Granted.Instance, Refused: k.refused}
	e.Before = i.Asked.Instance // what the server granted the last time
	e.Status = status
	k.outage, k.last = nil, e
	if len(t.pending) >= maxPending {
		t.pass()
	}
	t.pending = append(t.pending, e)
}

// refusal returns the status with which a connect was refused, 0 when it was not.
func refusal(i *track.Import, p track.Point) int32 {
	for k := len(i.Events) - 1; k >= 0 && i.Events[k].Time >= p.Time; k-- {
		if e := &i.Events[k]; e.Kind == track.EventRefused && e.Point == p {
			return e.Status
		}
	}
	return 0
}

// Answered takes a reply.
func (t *Tracker) Answered(r *track.RPC, m *dissect.Message) {
	if r.Status != opcodes.ENOTCONN && r.Status != opcodes.EOVERFLOW || r.Connection == nil || !r.HasOpcode {
		return
	}
	k, ok := t.members.Get(r.Connection)
	switch {
	case !ok:
	case r.Status == opcodes.EOVERFLOW:
		if o := k.outage; o != nil && r.Replay() {
			if o.Mismatches++; o.Mismatches == 1 {
				o.Mismatch = track.PointOf(m)
			}
		}
	case r.Opcode == opcodes.OBD_PING, r.Opcode == opcodes.LDLM_CANCEL, track.IsCallback(r.Opcode), track.IsDisconnect(r.Opcode):
	case k.outage != nil:
		k.refused.add(r, m)
	case k.last != nil && r.Requested().Time <= k.last.At.Time:
		k.last.Refused.add(r, m)
	}
}

// add adds a refused request.
func (f *Refusals) add(r *track.RPC, m *dissect.Message) {
	if f.Count++; f.Count == 1 {
		f.First, f.FirstCode, f.Job = track.PointOf(m), r.Opcode, string(r.Job())
	}
	if r.Opcode == opcodes.OST_WRITE {
		f.Writes++
	}
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
		if c.Asks() && l.IsIgnored(c) && l.End.Point.Time-c.Sent.Time >= MinIgnored {
			t.pending[at].ignored(IgnoredLock{l, *c})
			return
		}
	}
}

// ignored adds a lock that was not given back.
func (e *Eviction) ignored(l IgnoredLock) {
	if len(e.Locks) >= maxLocks {
		e.Dropped++
		return
	}
	at := len(e.Locks)
	for at > 0 && e.Locks[at-1].Callback.Sent.Time > l.Callback.Sent.Time {
		at--
	}
	e.Locks = slices.Insert(e.Locks, at, l)
}

// Advance sets the time and passes on the evictions that happened long enough ago.
func (t *Tracker) Advance(now int64) {
	for t.linger != 0 && len(t.pending) > 0 && t.pending[0].At.Time+t.linger <= now {
		t.pass()
	}
}

// Close passes on all evictions: the capture has ended. The locks must have ended
// before.
func (t *Tracker) Close() {
	for len(t.pending) > 0 {
		t.pass()
	}
}

// pass passes on the oldest eviction.
func (t *Tracker) pass() {
	e := t.pending[0]
	t.pending = t.pending[1:]
	if k, ok := t.members.Get(e.Connection); ok && k.last == e {
		k.last = nil
	}
	e.Target, e.Cause = e.Connection.Target, e.cause() // the name may have been found since
	t.done(e)
}
