package recovery

import (
	"cmp"
	"math"
	"slices"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// beside is what logs beside a capture say. They have connections and a Tracker of their own, as what a log says and
// what the capture shows of one connection come in any order: the records of both are joined when they are complete.
type beside struct {
	imports *track.Imports
	tracker *Tracker
	list    []*Recovery // complete, and not joined with one of the capture
}

// LoggedBeside takes a line of a log beside a capture. isElsewhere says that the capture has no message of the
// connection that the line is about.
func (t *Tracker) LoggedBeside(l *track.LogLine, isElsewhere bool) {
	b := t.beside
	if b == nil {
		b = &beside{imports: track.NewImports()}
		b.tracker = New(b.imports, func(r *Recovery) { b.list = append(b.list, r) })
		t.beside = b
	}
	i := b.imports.Logged(l)
	if b.tracker.Logged(l, i); i != nil && isElsewhere {
		b.tracker.connOf(i.Connection, i).isElsewhere = true
	}
}

// LoggedRPC takes an RPC of which logs beside the capture have something.
func (t *Tracker) LoggedRPC(r *track.RPC) {
	if t.beside != nil {
		t.beside.imports.LoggedRPC(r)
	}
}

// join adds to a record of the capture what logs have about the same outage: of several, the last one.
func (b *beside) join(r *Recovery) {
	if r.Target == "" {
		return
	}
	list := b.list
	if g, ok := fifo.Get(b.tracker.targets, r.Target); ok && g.current != nil {
		list = append(slices.Clip(list), g.current)
	}
	var same *Recovery
	for _, o := range list {
		switch {
		case o.Target != r.Target || !r.overlaps(o):
		case !o.Kind.IsOutage():
			o.joined = true
		case r.Server.Len > 0 && o.Server.Len > 0 && r.Server != o.Server: // it was back elsewhere meanwhile
			if r.Stop.IsZero() && o.ServerBefore == r.ServerBefore {
				r.Stop = o.Stop
			}
		case same == nil || o.Begin() > same.Begin():
			same = o
		}
	}
	if same != nil && (r.Kind.IsOutage() || r.Kind == Lost) {
		same.joined = true
		r.joinLogged(same)
	}
}

// overlaps reports whether a record of logs may be of the same outage. Without a last reply, the target may have been
// gone for long when the first client of the capture found out.
func (r *Recovery) overlaps(o *Recovery) bool {
	from := r.LastReply.Time
	if !r.Kind.isRestart() && from == 0 {
		from = r.Begin()
	}
	return from <= o.until() && o.Begin() <= r.until()
}

// until returns the end of what may belong to a record.
func (r *Recovery) until() int64 {
	if r.Back.IsZero() {
		return cmp.Or(r.ended, math.MaxInt64)
	}
	return max(r.Back.Time, r.end())
}

// sameMoment is how many nanoseconds the line of a log and the frame of one event are apart at most.
const sameMoment = int64(10e6)

// isBefore reports whether a log has an event earlier than the capture.
func isBefore(logged, captured track.Point) bool {
	return !logged.IsZero() && (captured.IsZero() || logged.Time < captured.Time-sameMoment)
}

// joinLogged adds what logs have about the same outage: the earliest signs, and the clients, of both count.
func (r *Recovery) joinLogged(o *Recovery) {
	if o.Kind.isRestart() && !r.Kind.isRestart() {
		r.Kind, r.Server = o.Kind, o.Server
	}
	r.Server = cmp.Or(r.Server, o.Server)
	r.ServerBefore = cmp.Or(r.ServerBefore, o.ServerBefore)
	if o.ServerBefore == r.ServerBefore && isBefore(o.Stop, r.Stop) {
		r.Stop = o.Stop
	}
	if isBefore(o.Back, r.Back) {
		r.Back, r.byServer, r.TookPart = o.Back, o.byServer, track.Point{}
	}
	if isBefore(o.Completed, r.Completed) && o.Completed.Time >= r.Back.Time {
		r.Completed = o.Completed
	}
	if o.knownValid {
		r.known, r.knownValid = o.known, true
	}
	r.Counted = o.Counted
	for _, c := range o.Clients {
		at := slices.IndexFunc(r.Clients, c.isSame)
		if at < 0 {
			r.add(c)
			r.OnlyLogged = true
			continue
		}
		r.Clients[at].joinLogged(c)
		r.OnlyLogged = r.OnlyLogged || r.Clients[at].Connected.IsLog()
	}
}

// isSame reports whether a client of a capture is the same as one of logs.
func (c *Client) isSame(o *Client) bool {
	a, b := c.Connection, o.Connection
	if a.ClientUUID != "" && b.ClientUUID != "" {
		return a.ClientUUID == b.ClientUUID
	}
	return a.Client == b.Client && (c.Type == o.Type || c.Type == "" || o.Type == "")
}

func (c *Client) joinLogged(o *Client) {
	if isBefore(o.Lost, c.Lost) {
		c.Lost, c.LostBy = o.Lost, o.LostBy
	}
	refused := func(c *Client) (n int) {
		for _, f := range c.Refusals {
			n += f.Count
		}
		return n
	}
	if refused(o) > refused(c) {
		c.Refusals = o.Refusals
	}
	c.Unanswered = max(c.Unanswered, o.Unanswered)
	switch c.Outcome {
	case ClientMissing, ClientUnknown, ClientRecovering:
		if o.Outcome == ClientMissing || o.Outcome == c.Outcome {
			return
		}
		if c.Outcome, c.IsCut = o.Outcome, false; c.Connected.IsZero() {
			c.Connected = o.Connected
		}
		c.Ready, c.Recovered, c.Evicted = o.Ready, o.Recovered, o.Evicted
	}
}

// rest returns the records of logs that are not of what the capture shows: those of targets that were gone, and of
// connections that were not captured.
func (b *beside) rest() []*Recovery {
	wasCaptured := func(c *Client) bool {
		k, ok := fifo.Get(b.tracker.conns, c.Connection)
		return !ok || !k.isElsewhere
	}
	return slices.DeleteFunc(b.list, func(r *Recovery) bool {
		return r.joined || !r.Kind.IsOutage() && slices.ContainsFunc(r.Clients, wasCaptured)
	})
}
