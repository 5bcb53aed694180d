package recovery

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// withoutName makes a target of a connection whose name is not known. Each has its own.
func (t *Tracker) withoutName(k *conn) *target {
	k.target = &target{conns: []*conn{k}}
	k.target.lastReply, k.target.server = k.last, k.server
	if _, old, evicted := fifo.Put(t.unnamed, k, k.target); evicted {
		t.endTarget(old)
		old.conns[0].target = nil
	}
	return k.target
}

// name gives a target its name.
func (t *Tracker) name(k *conn, name string) {
	old := k.target
	fifo.Delete(t.unnamed, k)
	t.join(k, name)
	g := k.target
	for _, r := range []*Recovery{old.current, old.breaks} {
		if r != nil {
			r.Target = name
		}
	}
	switch {
	case g.current == nil:
		g.current = old.current
	case old.current != nil:
		t.endRecovery(old, old.current, k.last.Time)
	}
	if g.breaks == nil {
		g.breaks = old.breaks
	} else {
		t.endBreaks(old, k.last.Time)
	}
}

// isNoted reports whether what single messages show of a target may be part of a record that has more: of one
// of a restarted target with a name, or of any.
func (t *Tracker) isNoted(r *Recovery, named bool) bool {
	at := r.TookPart.Time
	return slices.ContainsFunc(t.noted, func(n noted) bool {
		return n.server == r.Server && n.from-findOut <= at && at <= n.until+findOut && (n.named || !named)
	})
}

// noted is when a target was lost.
type noted struct {
	server      lnet.NID
	from, until int64
	named       bool // it was restarted, and has a name
}

func (t *Tracker) note(r *Recovery) {
	if len(t.noted) >= maxNoted {
		return
	}
	from, until := r.span()
	for _, server := range []lnet.NID{r.Server, r.ServerBefore} {
		t.noted = append(t.noted, noted{server, from, max(until, r.ended), r.Target != "" && r.Kind.isRestart()})
	}
}

// withoutRequest takes a reply whose request was not captured. That to a connect shows that a target is in
// recovery, and ENOTCONN that it does not know a client.
func (t *Tracker) withoutRequest(r *track.RPC, m *dissect.Message, p track.Point) {
	kind := Restart
	switch {
	case !r.HasOpcode, opcodes.IsCallback(r.Opcode), opcodes.IsDisconnect(r.Opcode), r.Opcode == opcodes.MGS_CONNECT:
		return
	case opcodes.IsConnect(r.Opcode):
		if r.Status != 0 || !r.Has(opcodes.PbOpFlags) || m.RPC.OpFlags&opcodes.ConnectRecovering == 0 {
			return
		}
	case r.Status == opcodes.ENOTCONN && r.Type == dissect.TypeError:
		kind = Lost
	default:
		return
	}
	at := slices.IndexFunc(t.alone, func(o *Recovery) bool {
		return o.Kind == kind && o.Server == r.Server && p.Time-o.ended <= findOut
	})
	if at < 0 {
		if len(t.alone) >= maxNoted {
			return
		}
		at = len(t.alone)
		t.alone = append(t.alone, &Recovery{Kind: kind, Servers: Servers{Server: r.Server}, Moments: Moments{TookPart: p}})
	}
	rec := t.alone[at]
	if rec.ended = p.Time; rec.TookPart != p {
		rec.Unnamed = 1 // the replies may be about several targets
	}
	if !slices.ContainsFunc(rec.Clients, func(c *Client) bool { return c.Connection.Client == r.Client }) {
		c := &Client{Connection: &track.Connection{Client: r.Client, Server: r.Server}, Outcome: ClientUnknown, IsCut: kind == Lost}
		if kind == Lost {
			c.Lost, c.LostBy = p, SignNotConnected
		}
		rec.add(c)
	}
}

// joinUnnamed joins what happened at the same time to targets of a server without names: they may
// be one.
func joinUnnamed(list []*Recovery) (joined []*Recovery) {
	for _, r := range list {
		at := -1
		if r.Target == "" {
			at = slices.IndexFunc(joined, r.mayBeSame)
		}
		if at < 0 {
			joined = append(joined, r)
			continue
		}
		joined[at].joinOther(r)
	}
	return joined
}

// mayBeSame reports whether two records without names may be of one target.
func (r *Recovery) mayBeSame(o *Recovery) bool {
	from, until := r.span()
	begin, end := o.span()
	apart := int64(0)
	if r.Kind == Lost {
		apart = findOut
	}
	before := o.ServerBefore == r.ServerBefore || o.ServerBefore.Len == 0 || r.ServerBefore.Len == 0
	return o.Target == "" && o.Kind == r.Kind && o.Server == r.Server && before && begin <= until+apart && from <= end+apart
}

// findOut is how long clients may take to find out, one after the other, that a target does not know them.
const findOut = int64(30 * time.Second)

// span returns when the first client was lost, and when the last one was back.
func (r *Recovery) span() (from, until int64) {
	if !r.TookPart.IsZero() {
		return r.TookPart.Time - findOut, r.TookPart.Time + findOut
	}
	from = math.MaxInt64
	for _, c := range r.Clients {
		from, until = min(from, c.begin()), max(until, c.Connected.Time)
		if c.Connected.IsZero() {
			until = math.MaxInt64
		}
	}
	return from, until
}

// joinOther adds the clients of another record.
func (r *Recovery) joinOther(o *Recovery) {
	r.Unnamed++
	r.Dropped += o.Dropped
	for _, c := range o.Clients {
		r.add(c)
	}
	if o.LastReply.Time < r.LastReply.Time {
		r.LastReply = o.LastReply
	}
	r.ServerBefore = cmp.Or(r.ServerBefore, o.ServerBefore)
	if r.Back.IsZero() || !o.Back.IsZero() && o.Back.Time < r.Back.Time {
		r.Back = o.Back
	}
	switch {
	case !r.Back.IsZero():
		r.TookPart = track.Point{}
	case r.TookPart.IsZero() || !o.TookPart.IsZero() && o.TookPart.Time < r.TookPart.Time:
		r.TookPart = o.TookPart
	}
}
