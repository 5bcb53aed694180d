package recovery

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// Recovery is what happened to a target that clients lost, and how they came back to
// it.
type Recovery struct {
	Target  string // empty: unknown
	Unnamed int    // targets without a name that it may be about, besides one
	Kind    Kind
	Servers
	Moments
	Clients     []*Client // in the order in which they lost the target
	Dropped     int       // clients that were too many to keep
	IsLossy     bool      // bytes were not captured in which there may be an earlier sign that it was gone
	OnlyLogged  bool      // some clients came back by logs beside the capture only, which do not have what they replayed
	MayBeSooner bool      // bytes were not captured in which another client may have been the first to come back
	Lacks       bool      // bytes were not captured while it lasted: there may be more of what is counted
	Events      []*Event  // in the order of time

	Counted Counted // by the log of the server

	known      int // clients that the target had
	knownValid bool
	ended      int64 // when it was superseded
	passed     bool  // to the hook
	joined     bool  // of logs: with a record of the capture
	byServer   bool  // Back is the connect of another server that takes no part in a recovery, or of the server itself
}

// Counted are the numbers of clients in the lines that a server logs about a recovery. They include clients that are in no capture.
type Counted struct {
	Clients, Recovered int  // 0 Clients: unknown
	IsOver             bool // the recovery; else Recovered is not known yet
}

// NoneRecovered reports whether no client had when the recovery was over.
func (c Counted) NoneRecovered() bool { return c.IsOver && c.Clients > 0 && c.Recovered == 0 }

// Servers are where a target ran, and the numbers of its starts.
type Servers struct {
	Server, ServerBefore     lnet.NID // the zero NID: unknown
	Instance, InstanceBefore uint32   // 0: unknown
}

// Moments are the messages that show what happened to a target.
type Moments struct {
	LastReply track.Point // the last one before it was gone
	Stop      track.Point // the target disconnected from others, or its server unmounted it, by its log
	Gone      track.Point // the first sign that it was gone
	GoneBy    Sign
	Starting  track.Point // the target registered with the MGS, or connected to others
	Back      track.Point // the first connect that was accepted again
	TookPart  track.Point // the first replay, where no connect was captured that was accepted
	Completed track.Point // the first client had recovered, which ends the recovery for all
	Announced track.Point // the MGS told a client or server about the restart
}

// Kind is what happened to a target.
type Kind uint8

// The kinds.
const (
	Restart     Kind = iota // it was started again
	Failover                // it was started again on another server
	Stopped                 // its server did not have it any more, and it was not seen again
	Unreachable             // its server did not answer any more, and was not seen again
	Reconnect               // it ran on: only connections were lost
	Eviction                // it ran on, and had evicted a client
	Lost                    // connections were lost; what became of the target is unknown
)

var kindNames = [...]string{"restart", "failover", "stopped", "unreachable", "reconnect", "eviction", "lost"}

// String returns the name in records.
func (k Kind) String() string { return kindNames[k] }

// IsOutage reports whether the target was gone, and not only connections to it.
func (k Kind) IsOutage() bool { return k <= Unreachable }

// isRestart reports whether the target was started again.
func (k Kind) isRestart() bool { return k <= Failover }

// Sign is what shows that a target, or the connection to it, is gone.
type Sign uint8

// The signs.
const (
	NoSign           Sign = iota
	SignNotConnected      // a reply says that the server does not know the client
	SignRefused           // a connect is refused, because the server does not have the target
	SignUnanswered        // a request has no reply
	SignStopping          // the target disconnects from other targets
	SignReconnect         // the client connects again; what made it do so was not seen
	SignLog               // the log of the client says so
)

var signNames = [...]string{"", "not_connected", "refused", "unanswered", "stopping", "reconnect", "log"}

// String returns the name in records, empty for NoSign.
func (s Sign) String() string { return signNames[s] }

// Downtime returns for how long the target was gone, in nanoseconds: from the first
// sign to the first connect that was accepted. It is unknown where the first sign may
// have come after the restart. A server that has unmounted the target, by its log alone, does
// not know whether another one had it meanwhile.
func (r *Recovery) Downtime() (ns int64, ok bool) {
	isLost := func(c *Client) bool { return !c.Lost.IsZero() }
	ok = r.GoneBy == SignUnanswered || r.GoneBy == SignStopping && (!r.Gone.IsLog() || slices.ContainsFunc(r.Clients, isLost)) ||
		slices.ContainsFunc(r.Clients, func(c *Client) bool { return c.isWithout(r.ServerBefore) || c.isWithout(r.Server) })
	return r.Back.Time - r.Gone.Time, ok && r.Kind.isRestart() && !r.Gone.IsZero() && !r.Back.IsZero()
}

// DowntimeLimit returns for how long the target was gone at most, in nanoseconds: from
// its last reply to the first connect that was accepted.
func (r *Recovery) DowntimeLimit() (ns int64, ok bool) {
	return r.Back.Time - r.LastReply.Time, r.Kind.isRestart() && !r.LastReply.IsZero() && !r.Back.IsZero()
}

// Window returns how long the recovery took, in nanoseconds: from the first connect
// that was accepted until the first client had recovered. The console of a client has only its end.
func (r *Recovery) Window() (ns int64, ok bool) {
	return r.Completed.Time - r.Back.Time, !r.Back.IsZero() && !r.Completed.IsZero() && r.Completed != r.Back
}

// Count returns how many clients had an outcome.
func (r *Recovery) Count(o Outcome) (n int) {
	for _, c := range r.Clients {
		if c.Outcome == o {
			n++
		}
	}
	return n
}

// Known returns how many clients the target had that take part in a recovery. ok
// reports whether the capture shows them: it was made at the server. Clients on the
// node of the server itself are never captured and not counted.
func (r *Recovery) Known() (n int, ok bool) {
	if !r.knownValid {
		return 0, false
	}
	return r.known, true
}

// Replayed sums up what clients replayed.
func (r *Recovery) Replayed() (requests, locks Replays) {
	for _, c := range r.Clients {
		requests.Add(&c.Requests)
		locks.Add(&c.Locks)
	}
	return requests, locks
}

// VersionMismatches returns how many replayed requests failed because an object had
// changed without them.
func (r *Recovery) VersionMismatches() int64 {
	requests, _ := r.Replayed()
	return requests.Errors[opcodes.EOVERFLOW]
}

// NotReplayed sums up the transactions that should have been replayed and were not.
func (r *Recovery) NotReplayed() (g Gap) {
	for _, c := range r.Clients {
		g.sum(c.NotReplayed)
	}
	return g
}

// Impact sums up what applications saw.
func (r *Recovery) Impact() (sum Impact) {
	for _, c := range r.Clients {
		sum.Waited += c.Impact.Waited
		sum.Longest = max(sum.Longest, c.Impact.Longest)
		sum.Unanswered += c.Impact.Unanswered
		sum.Errors = sumCounts(sum.Errors, c.Impact.Errors)
		for _, q := range c.Impact.Requests {
			sum.add(q)
		}
	}
	sum.Lacks = r.Lacks
	return sum
}

// Last returns the client of the recovery that connected last. It returns nil if fewer
// than two clients took part.
func (r *Recovery) Last() (last *Client) {
	n := 0
	for _, c := range r.Clients {
		if c.Outcome != ClientRecovered && c.Outcome != ClientRecovering {
			continue
		}
		if n++; last == nil || c.Connected.Time > last.Connected.Time {
			last = c
		}
	}
	if n < 2 {
		return nil
	}
	return last
}

// settle sets what follows from the clients of a complete record.
func (r *Recovery) settle() {
	slices.SortStableFunc(r.Clients, func(a, b *Client) int { return cmp.Compare(a.begin(), b.begin()) })
	r.sign(r.Stop, SignStopping)
	for _, c := range r.Clients {
		if !r.Back.IsZero() && c.Lost.Time > r.Back.Time { // it was cut off from a target that was back
			c.Unanswered = 0
		}
		r.sign(c.firstUnanswered, SignUnanswered)
		r.sign(c.Lost, c.LostBy)
		if c.Outcome == ClientRecovered && (r.Completed.IsZero() || c.Recovered.Time < r.Completed.Time) {
			r.Completed = c.Recovered
		}
	}
	r.backFor()
	r.Events = r.story()
}

// backFor sets when the target was back for those that take part in its recovery, where the connection of another server that
// takes none was the first.
func (r *Recovery) backFor() {
	var first track.Point
	byServer := r.byServer
	for _, c := range r.Clients {
		switch {
		case c.Connected.IsZero():
		case c.Type == "lwp":
			byServer = byServer || c.Connected.Time-r.Back.Time <= sameMoment
		case first.IsZero() || c.Connected.Time < first.Time:
			first = c.Connected
		}
	}
	if byServer && first.Time > r.Back.Time {
		r.Back = first
	}
}

// sign takes a sign that the target was gone. One that came before the target
// replied again, or after it was back, is about the connection only.
func (r *Recovery) sign(p track.Point, by Sign) {
	switch {
	case p.IsZero(), !r.Back.IsZero() && p.Time > r.Back.Time:
	case r.Kind.IsOutage() && p.Time < r.LastReply.Time:
	case r.GoneBy == NoSign || p.Time < r.Gone.Time:
		r.Gone, r.GoneBy = p, by
	}
}

// end returns the time of the last message that shows a client back.
func (r *Recovery) end() (last int64) {
	for _, c := range r.Clients {
		last = max(last, c.Connected.Time, c.Ready.Time, c.Recovered.Time, c.Evicted.Time)
	}
	return last
}

// IsLog reports whether it is known from logs only.
func (r *Recovery) IsLog() bool { return r.Gone.IsLog() || r.Back.IsLog() || r.Completed.IsLog() }

// Begin returns the time of the first message about it, in nanoseconds since the epoch.
func (r *Recovery) Begin() int64 {
	for _, p := range [...]track.Point{r.Gone, r.Back, r.TookPart} {
		if !p.IsZero() {
			return p.Time
		}
	}
	return r.LastReply.Time
}
