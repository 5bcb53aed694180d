package recovery

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

// Event is a step of a Recovery, or a run of the same. What the fields behind Client
// mean depends on the kind.
type Event struct {
	track.Point             // of the first
	Until       track.Point // the last; the zero Point: there is only one
	Kind        EventKind
	Client      *Client // nil: it is about the target
	Sign        Sign
	Server      lnet.NID // that refused or accepted a connect
	Count       int
	Status      int32
	Errors      map[int32]int64 // of what was replayed, by status
	Transnos    Transnos
	Estimate    uint32 // seconds
	Request     *Request
}

// EventKind is the kind of a step.
type EventKind uint8

// The kinds of steps, in the order in which one message shows them.
const (
	EventLastReply   EventKind = iota // the last reply before the target was gone
	EventGone                         // the first sign that it was gone
	EventLost                         // a client lost the connection
	EventRefused                      // connects were refused
	EventUnanswered                   // connects without a reply
	EventStarting                     // the target was being started
	EventBack                         // the target accepted a connect
	EventConnected                    // a client connected
	EventReplay                       // a client replayed requests
	EventNotReplayed                  // transactions that should have been replayed were not
	EventLockReplay                   // a client replayed locks
	EventEarly                        // a client got early replies to what it replayed
	EventReady                        // a client has replayed all
	EventEvicted                      // a client was evicted
	EventRecovered                    // a client has recovered
	EventFailed                       // a request failed
	EventWaited                       // a request has waited until the target was back
	EventMissing                      // a client was not seen again
	EventAnnounced                    // the MGS told about the restart
)

var eventNames = [...]string{"last_reply", "gone", "lost", "refused", "unanswered", "starting", "back", "connected", "replay",
	"not_replayed",
	"lock_replay", "early", "ready", "evicted", "recovered", "failed", "waited", "missing", "announced"}

// String returns the name in records.
func (k EventKind) String() string { return eventNames[k] }

// EventNames returns the names of all kinds of steps, in their order.
func EventNames() []string { return eventNames[:] }

// story returns the steps in the order of time.
func (r *Recovery) story() (list []*Event) {
	add := func(e Event) {
		if e.IsZero() {
			return
		}
		if e.Until == e.Point {
			e.Until = track.Point{}
		}
		list = append(list, &e)
	}
	add(Event{Point: r.LastReply, Kind: EventLastReply, Server: r.ServerBefore})
	add(Event{Point: r.Starting, Kind: EventStarting})
	add(Event{Point: r.Announced, Kind: EventAnnounced})
	if r.GoneBy == SignUnanswered || r.GoneBy == SignStopping {
		add(Event{Point: r.Gone, Kind: EventGone, Sign: r.GoneBy})
	}
	if r.Kind.IsOutage() {
		add(Event{Point: r.Back, Kind: EventBack, Server: r.Server})
	}
	for _, c := range r.Clients {
		c.story(add)
	}
	slices.SortStableFunc(list, func(a, b *Event) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

func (c *Client) story(add func(Event)) {
	add(Event{Point: c.Lost, Kind: EventLost, Client: c, Sign: c.LostBy})
	for _, f := range c.Refusals {
		add(Event{Point: f.First, Until: f.Last, Kind: EventRefused, Client: c, Server: f.Server, Status: f.Status, Count: f.Count})
	}
	if c.Unanswered > 0 {
		add(Event{Point: c.firstSilent, Kind: EventUnanswered, Client: c, Count: c.Unanswered})
	}
	add(Event{Point: c.Connected, Kind: EventConnected, Client: c})
	add(Event{Point: c.Requests.First, Until: c.Requests.Last, Kind: EventReplay, Client: c, Count: c.Requests.Count,
		Errors:   c.Requests.Errors,
		Transnos: c.Transnos})
	add(Event{Point: c.NotReplayed.Seen, Kind: EventNotReplayed, Client: c, Count: c.NotReplayed.Count, Transnos: c.NotReplayed.Transnos})
	add(Event{Point: c.Locks.First, Until: c.Locks.Last, Kind: EventLockReplay, Client: c, Count: c.Locks.Count, Errors: c.Locks.Errors})
	add(Event{Point: c.Early.Last, Kind: EventEarly, Client: c, Count: c.Early.Count, Estimate: c.Early.Estimate})
	add(Event{Point: c.Ready, Kind: EventReady, Client: c})
	add(Event{Point: c.Evicted, Kind: EventEvicted, Client: c})
	if c.Outcome == ClientRecovered {
		add(Event{Point: c.Recovered, Kind: EventRecovered, Client: c})
	}
	if c.Outcome == ClientMissing && c.Lost.IsZero() {
		add(Event{Point: c.LastReply, Kind: EventMissing, Client: c})
	}
	for i := range c.Impact.Requests {
		q := &c.Impact.Requests[i]
		switch {
		case q.Answered.IsZero():
			add(Event{Point: q.Sent, Kind: EventFailed, Client: c, Request: q})
		case isConnectionError(q.Status):
			add(Event{Point: q.Answered, Kind: EventFailed, Client: c, Request: q})
		default:
			add(Event{Point: q.Answered, Kind: EventWaited, Client: c, Request: q})
		}
	}
}
