package recovery

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// Client is how a client, which may be another server, lost a target and came back
// to it.
type Client struct {
	Connection *track.Connection
	Type       string // client, mgc, lwp, mdt-mdt or mdt-ost; empty: unknown
	ClientMoments
	Refusals   []Refusal
	Unanswered int // connects without a reply
	Outcome    Outcome
	IsCut      bool // the flags that show whether it was evicted were not captured

	Requests, Locks Replays
	Transnos        Transnos // of the requests
	NotReplayed     Gap
	Early           Early
	Impact          Impact

	recovery        *Recovery   // that it belongs to; nil: not decided yet
	over            int64       // time from which on RPCs do not belong to it, although it did not recover
	firstUnanswered track.Point // request
	firstSilent     track.Point // connect without a reply
	lastSilent      int64       // time of the last one of them
	silent          []lnet.NID  // servers that left a request without a reply
}

// Target returns the target that the client is itself, such as an MDT that is a client
// of an OST; it is empty for clients that are no servers, and while the uuid is unknown.
func (c *Client) Target() string { return ownTarget(c.Connection.ClientUUID) }

// ClientMoments are the messages that show what happened to a client.
type ClientMoments struct {
	LastReply track.Point // the last one that it got before
	Lost      track.Point
	LostBy    Sign
	Connected track.Point // the connect that was accepted
	Ready     track.Point // the ping that says that all is replayed
	Recovered track.Point // the connection can be used again
	Evicted   track.Point
}

// Outcome is how it ended for a client.
type Outcome uint8

// The outcomes.
const (
	ClientMissing     Outcome = iota // it was not seen to come back
	ClientRecovering                 // it came back; that it recovered was not seen
	ClientRecovered                  // it recovered
	ClientEvicted                    // it lost its locks and what was not committed
	ClientReconnected                // it came back and had nothing to recover
	ClientMounted                    // it connected for the first time
	ClientUnknown                    // bytes were not captured that may show that it came back
)

var outcomeNames = [...]string{"missing", "recovering", "recovered", "evicted", "reconnected", "mounted", "unknown"}

// String returns the name in records.
func (o Outcome) String() string { return outcomeNames[o] }

// Refusal is an error with which connects were refused.
type Refusal struct {
	Server      lnet.NID
	Status      int32
	Count       int
	First, Last track.Point
}

const maxRefusals = 16

// refuse takes a connect that was refused.
func (c *Client) refuse(server lnet.NID, status int32, p track.Point) {
	for i := range c.Refusals {
		if f := &c.Refusals[i]; f.Server == server && f.Status == status {
			f.Count++
			f.Last = p
			return
		}
	}
	if len(c.Refusals) < maxRefusals {
		c.Refusals = append(c.Refusals, Refusal{server, status, 1, p, p})
	}
}

// Refused counts the connects that were refused, by status.
func (c *Client) Refused() (counts map[int32]int64) {
	for _, f := range c.Refusals {
		counts = count(counts, f.Status, int64(f.Count))
	}
	return counts
}

// isWithout reports whether a server said that it does not have the target.
func (c *Client) isWithout(server lnet.NID) bool {
	return slices.ContainsFunc(c.Refusals, func(f Refusal) bool { return f.Status == opcodes.ENODEV && f.Server == server })
}

// maxSilent bounds the servers that a client tries.
const maxSilent = 16

// begin returns the time of the first message about it.
func (c *Client) begin() int64 {
	for _, p := range [...]track.Point{c.Lost, c.Connected} {
		if !p.IsZero() {
			return p.Time
		}
	}
	return c.LastReply.Time
}

// Replays counts what was replayed.
type Replays struct {
	Count       int
	First, Last track.Point
	Errors      map[int32]int64 // by status
}

func (r *Replays) add(p track.Point) {
	if r.Count++; r.Count == 1 {
		r.First = p
	}
	r.Last = p
}

func (r *Replays) fail(status int32) { r.Errors = count(r.Errors, status, 1) }

// Add adds what another one counts.
func (r *Replays) Add(o *Replays) {
	if o.Count > 0 && (r.Count == 0 || o.First.Time < r.First.Time) {
		r.First = o.First
	}
	if o.Count > 0 && (r.Count == 0 || o.Last.Time > r.Last.Time) {
		r.Last = o.Last
	}
	r.Count += o.Count
	r.Errors = sumCounts(r.Errors, o.Errors)
}

// Early counts the early replies to what a client replayed: the server asks it to wait.
type Early struct {
	Count    int
	Last     track.Point
	Estimate uint32 // pb_timeout of the last one: in so many seconds the server expects to reply
}

// Transnos is the lowest and the highest of several transaction numbers.
type Transnos struct{ From, To uint64 }

func (t *Transnos) add(n uint64) {
	if t.To == 0 {
		t.From = n
	}
	t.From, t.To = min(t.From, n), max(t.To, n)
}

// Gap is transactions that were not replayed.
type Gap struct {
	Transnos
	Count int
	Seen  track.Point // the end of the replay
}

func (g *Gap) sum(o Gap) {
	switch {
	case o.Count == 0:
		return
	case g.Count == 0:
		*g = o
		return
	}
	g.add(o.From)
	g.add(o.To)
	g.Count += o.Count
}

// Impact is what applications saw: RPCs that waited until the target was back, and
// those that failed because it was gone.
type Impact struct {
	Waited     int             // RPCs
	Longest    int64           // the longest of them took so long, in nanoseconds
	Unanswered int             // RPCs without a reply that were not sent again
	Errors     map[int32]int64 // of RPCs, by status
	Requests   []Request       // the longest and the failed ones, not more than maxRequests
	Lacks      bool            // bytes were not captured: there may be more
}

// Request is an RPC that waited or failed.
type Request struct {
	XID            uint64
	Opcode         uint32
	Job            string
	Sent, Answered track.Point
	Status         int32 // of the reply, when there is one
}

// Time returns how long the RPC took, in nanoseconds.
func (r *Request) Time() (ns int64, ok bool) {
	return r.Answered.Time - r.Sent.Time, !r.Answered.IsZero()
}

// failed reports whether the RPC brought the application an error, or nothing.
func (r *Request) failed() bool { return r.Answered.IsZero() || r.Status < 0 }

const maxRequests = 32

// add adds an RPC to the list. Over the bound, the one that took the shortest time is
// removed, those that failed last.
func (i *Impact) add(q Request) {
	i.Requests = append(i.Requests, q)
	if len(i.Requests) <= maxRequests {
		return
	}
	least := slices.MinFunc(i.Requests, func(a, b Request) int {
		switch x, y := a.failed(), b.failed(); {
		case x == y:
			return cmp.Compare(a.Answered.Time-a.Sent.Time, b.Answered.Time-b.Sent.Time)
		case y:
			return -1
		}
		return 1
	})
	at := slices.Index(i.Requests, least)
	i.Requests = slices.Delete(i.Requests, at, at+1)
}

// count adds to one of several counts.
func count(m map[int32]int64, status int32, n int64) map[int32]int64 {
	if m == nil {
		m = make(map[int32]int64)
	}
	if _, ok := m[status]; ok || len(m) < maxErrors {
		m[status] += n
	}
	return m
}

// maxErrors is more than the errors that Linux has.
const maxErrors = 256

func sumCounts(m, more map[int32]int64) map[int32]int64 {
	for status, n := range more {
		m = count(m, status, n)
	}
	return m
}

// isLockReplay reports whether a request gives a lock back to a restarted server.
func isLockReplay(r *track.RPC) bool { return r.Flags&dissect.FlagReqReplayDone != 0 }
