package recovery

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/track"
)

// Bits of pb_op_flags in connects.
var (
	opReconnect  = uint32(opcodes.MsgConnectFlags.Bit("RECONNECT"))
	opRecovering = uint32(opcodes.MsgConnectFlags.Bit("RECOVERING"))
	opInitial    = uint32(opcodes.MsgConnectFlags.Bit("INITIAL"))
)

// lose takes the first sign that a connection is lost.
func (t *Tracker) lose(k *member, p track.Point, by Sign) {
	if k.lost {
		return
	}
	k.lost = true
	k.before, k.client = k.client, &Client{Connection: k.connection, Type: k.kind, ClientMoments: ClientMoments{LastReply: k.last, Lost: p, LostBy: by}}
}

// recovers reports whether a client takes part in a recovery that is not over.
func (k *member) recovers() bool {
	return k.client != nil && k.client.Outcome == ClientRecovering && k.client.Recovered.Frame == 0
}

// connect takes a connect request.
func (t *Tracker) connect(k *member, r *track.RPC, m *dissect.Message, p track.Point) {
	k.initial = m.RPC.OpFlags&opInitial != 0 || r.Handle == 0
	if k.instance == 0 {
		k.instance = t.changed.Asked.Instance // what the server granted it the last time
	}
	switch {
	case k.initial && r.ConnCnt == 1: // mounted again
		k.lost, k.before, k.client, k.instance = false, k.client, nil, 0
	case k.initial, k.lost, k.recovers():
	default:
		t.lose(k, p, SignReconnect)
	}
}

// connectReply takes the reply to a connect.
func (t *Tracker) connectReply(k *member, r *track.RPC, m *dissect.Message, p track.Point) {
	i := t.changed
	switch {
	case r.ConnCnt < i.ConnCnt || !r.HasRequest: // given up
	case r.Status != 0:
		t.refused(k, r, p)
	case r.Has(opcodes.PbOpFlags):
		t.accepted(k, r, m, p)
	}
}

// refused takes a connect that was refused.
func (t *Tracker) refused(k *member, r *track.RPC, p track.Point) {
	if k.initial && !k.lost && r.Status == enodev && k.first.Frame != 0 && k.target != nil && k.target.server == r.Server {
		t.lose(k, p, SignRefused) // an idle client finds out
	}
	switch c := k.client; {
	case !k.lost || c == nil:
	case t.changed.Evictions > k.evictions:
		c.Evicted, c.Outcome = p, ClientEvicted
		c.refuse(r.Server, r.Status, p)
	default:
		c.refuse(r.Server, r.Status, p)
	}
}

// accepted takes a connect that was accepted: by what it grants, the target was
// started again or not.
func (t *Tracker) accepted(k *member, r *track.RPC, m *dissect.Message, p track.Point) {
	g, i := k.target, t.changed
	var instance uint32
	if m.Msg != nil {
		instance = uint32(opcodes.OcdInstance.Uint(m.Msg.Buf(1), m.RPC.Big))
	}
	before := k.instance
	if before == 0 && k.initial && g != nil && g.lastReply.Frame != 0 {
		before = g.instance
	}
	if instance != 0 {
		k.instance = instance
	}
	if g == nil {
		return
	}
	recovering, reconnected := m.RPC.OpFlags&opRecovering != 0, m.RPC.OpFlags&opReconnect != 0
	same := before != 0 && before == instance
	changed := before != 0 && instance != 0 && before != instance
	restarted := recovering || changed && (k.first.Frame != 0 || k.lost || k.initial && g.lastReply.Frame != 0) ||
		k.lost && k.client.isWithout(r.Server) && !reconnected && !same
	wasLost := k.lost
	switch {
	case restarted:
		rec := t.restart(g, k, servers{r.Server, instance, before}, p)
		if !k.lost && !k.recovers() {
			k.before, k.client = k.client, &Client{Connection: k.connection, Type: i.Kind(), ClientMoments: ClientMoments{LastReply: k.last}}
		}
		rec.add(k.client)
	case wasLost && k.client.recovery == nil:
		t.reconnected(g, k, p)
	}
	if instance != 0 {
		g.instance = instance
	}
	k.kind = i.Kind()
	if i.State == track.StateDiscon || !restarted && !wasLost && !k.recovers() {
		return
	}
	k.lost = false
	k.client.connected(k, i, p)
}

// connected takes what the accepted connect means for the client.
func (c *Client) connected(k *member, i *track.Import, p track.Point) {
	c.Type = i.Kind()
	if c.Connected.Frame == 0 {
		c.Connected = p
	}
	switch {
	case i.Evictions > k.evictions:
		c.Evicted, c.Recovered, c.Outcome = p, p, ClientEvicted
	case i.State == track.StateFull && k.initial:
		c.Recovered, c.Outcome = p, ClientMounted
	case i.State == track.StateFull:
		c.Recovered, c.Outcome = p, ClientReconnected
	default:
		c.Outcome = ClientRecovering
	}
}

// servers is what a connect that was accepted shows of a restarted target.
type servers struct {
	server           lnet.NID
	instance, before uint32
}

// restart returns the restart of a target that a client finds.
func (t *Tracker) restart(g *target, k *member, s servers, p track.Point) *Recovery {
	if r := g.current; r != nil {
		same := r.Instance == s.instance
		if r.Instance == 0 || s.instance == 0 {
			same = k.last.Time < r.Back.Time || k.recovers()
		}
		if same {
			if r.InstanceBefore == 0 && s.before != s.instance {
				r.InstanceBefore = s.before
			}
			return r
		}
		t.endRecovery(g, r, p.Time)
	}
	r := &Recovery{Target: g.name}
	r.Server, r.Instance = s.server, s.instance
	if s.before != s.instance {
		r.InstanceBefore = s.before
	}
	r.LastReply, r.Back = g.lastReply, p
	if r.ServerBefore = g.server; g.server != (lnet.NID{}) && g.server != s.server {
		r.Kind = Failover
	}
	g.current = r
	return r
}

// reconnected takes a client that came back to a target that ran on.
func (t *Tracker) reconnected(g *target, k *member, p track.Point) {
	kind := Reconnect
	if t.changed.Evictions > k.evictions {
		kind = Eviction
	}
	r := g.breaks
	if r == nil || r.Kind != kind || k.client.Lost.Time > r.lastConnected() {
		t.endBreaks(g, p.Time)
		r = &Recovery{Target: g.name, Kind: kind}
		r.Server, r.ServerBefore = g.server, g.server
		r.Instance, r.InstanceBefore = k.instance, k.instance
		r.LastReply, r.Back = k.client.LastReply, p
		g.breaks = r
	}
	r.add(k.client)
}

func (r *Recovery) lastConnected() (last int64) {
	for _, c := range r.Clients {
		last = max(last, c.Connected.Time)
	}
	return last
}

// add adds a client.
func (r *Recovery) add(c *Client) {
	switch {
	case c.recovery == r:
	case len(r.Clients) == maxClients:
		r.Dropped++
	default:
		c.recovery = r
		r.Clients = append(r.Clients, c)
	}
}

func (t *Tracker) endBreaks(g *target, now int64) {
	if g.breaks != nil {
		g.breaks.ended = now
		t.ended = append(t.ended, g.breaks)
		g.breaks = nil
	}
}

// endRecovery ends an outage, because the target was lost again or the capture ended:
// clients that lost the target in it and did not come back belong to it, and those
// that were silent since.
func (t *Tracker) endRecovery(g *target, r *Recovery, now int64) {
	atServer := t.views.isAt(r.Server) || t.views.isAt(r.ServerBefore)
	known := atServer && !t.hasUnnamed(r)
	for _, k := range g.members {
		c := k.client
		switch {
		case k.lost && c.recovery == nil && c.Lost.Time < r.Back.Time:
			r.add(c)
		case atServer && k.isSilent(r) && (c == nil || c.recovery != r):
			r.add(&Client{Connection: k.connection, Type: k.kind, ClientMoments: ClientMoments{LastReply: k.last}})
		}
	}
	for _, c := range r.Clients {
		if c.Type != "lwp" && c.Type != "mgc" && c.Outcome != ClientMounted {
			r.known++
		}
	}
	r.knownValid = known && r.Dropped == 0 && r.Kind.isRestart()
	r.ended = now
	t.ended = append(t.ended, r)
	g.current = nil
}

// isSilent reports whether a client was connected when a target was lost and no
// message of it came since.
func (k *member) isSilent(r *Recovery) bool {
	switch k.state {
	case track.StateClosed, track.StateIdle, track.StateDisconnecting, track.StateNew:
		return false
	}
	return k.last.Frame != 0 && k.last.Time <= r.LastReply.Time
}

// mgsPortal is where requests to the MGS go.
const mgsPortal = 26

// hasUnnamed reports whether there were connections to the server that may have been
// to the target: their targets are unknown, and no replies came since.
func (t *Tracker) hasUnnamed(r *Recovery) (found bool) {
	t.members.All(func(c *track.Connection, k *member) bool {
		found = k.target == nil && k.portal != mgsPortal && (c.Server == r.Server || c.Server == r.ServerBefore) && k.isSilent(r)
		return !found
	})
	return found
}

// endTarget ends all that is known of a target.
func (t *Tracker) endTarget(g *target) {
	if g.current != nil {
		t.endRecovery(g, g.current, 0)
	}
	t.endBreaks(g, 0)
	var r *Recovery
	for _, k := range g.members {
		if c := k.client; k.lost && c.recovery == nil {
			if r == nil {
				r = &Recovery{Target: g.name, Kind: Lost}
				r.ServerBefore, r.InstanceBefore = g.server, k.instance
			}
			r.add(c)
		}
	}
	if r == nil {
		return
	}
	for _, c := range r.Clients {
		switch {
		case c.isWithout(r.ServerBefore):
			r.Kind = Stopped
		case c.Unanswered > 0 && r.Kind != Stopped:
			r.Kind = Unreachable
		}
		if c.LastReply.Time > r.LastReply.Time {
			r.LastReply = c.LastReply
		}
	}
	t.ended = append(t.ended, r)
}

// pass passes a record on.
func (t *Tracker) pass(r *Recovery) {
	r.passed = true
	for _, c := range r.Clients {
		c.settleFailures()
		if t.isLossy(c) {
			c.NotReplayed = Gap{}
		}
	}
	r.settle()
	t.done(r)
}

// isLossy reports whether bytes were not captured while a client replayed requests.
func (t *Tracker) isLossy(c *Client) bool {
	return slices.ContainsFunc(t.losses, func(s track.Span) bool {
		return s.From <= c.Ready.Time && s.To >= c.Connected.Time
	})
}

// noteGap takes the transactions that were not replayed, which the connection has
// noted at a message.
func (c *Client) noteGap(i *track.Import, p track.Point) {
	for k := len(i.Events) - 1; k >= 0 && i.Events[k].Time == p.Time; k-- {
		if e := &i.Events[k]; e.Kind == track.EventNotReplayed && e.Point == p {
			c.NotReplayed.sum(Gap{Transnos{e.From, e.To}, e.Count, p})
		}
	}
}
