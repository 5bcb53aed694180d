package recovery

import (
	"cmp"
	"math"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// lose takes the first sign that a connection is lost.
func (t *Tracker) lose(k *conn, p track.Point, by Sign) {
	if k.lost {
		return
	}
	k.lost = true
	k.shift(p, &Client{Connection: k.imp.Connection, Type: k.imp.Kind(), ClientMoments: ClientMoments{LastReply: k.last, Lost: p, LostBy: by}})
}

// shift makes a client the last one, from a message on.
func (k *conn) shift(p track.Point, c *Client) {
	if k.client != nil && k.client.over == 0 {
		k.client.over = p.Time
	}
	k.before, k.client = k.client, c
}

// recovers reports whether a client takes part in a recovery that is not over.
func (k *conn) recovers() bool {
	return k.client != nil && k.client.Outcome == ClientRecovering && k.client.Recovered.IsZero() && !k.client.IsCut
}

func (t *Tracker) connect(k *conn, r *track.RPC, m *dissect.Message, p track.Point) {
	k.initial = m.RPC.OpFlags&opcodes.ConnectInitial != 0 || r.Handle == 0
	if n := k.imp.Asked.Instance; n != 0 { // what the server granted it the last time
		if k.lost && k.instance != 0 && k.instance != n {
			t.returned(k, n)
		}
		k.instance = n
	}
	switch {
	case k.initial && r.ConnCnt == 1: // mounted again
		t.starting(ownTarget(k.imp.ClientUUID), start{p, r.Client})
		k.lost, k.instance = false, 0
		k.shift(p, nil)
	case k.recovers():
		k.again = cmp.Or(k.again, p)
	case k.initial, k.lost:
	default:
		t.lose(k, p, SignReconnect)
	}
}

// returned takes a client that has been connected to another start of the target since
// it lost its connection, which was not captured.
func (t *Tracker) returned(k *conn, instance uint32) {
	k.lost = false
	if k.client.Outcome == ClientMissing {
		k.client.Outcome = ClientUnknown
	}
	switch g := k.target; {
	case g == nil, k.client.recovery != nil:
	case g.current != nil && g.current.Instance == instance:
		g.current.add(k.client)
	default: // nobody was seen to come back
		for _, r := range t.ended {
			if g.name != "" && r.Target == g.name && r.Back.IsZero() && r.Instance == instance && r.InstanceBefore == k.instance {
				r.add(k.client)
				if k.client.LastReply.Time > r.LastReply.Time {
					r.LastReply = k.client.LastReply
				}
				return
			}
		}
		r := &Recovery{Target: g.name, Moments: Moments{LastReply: k.client.LastReply}}
		r.Instance, r.InstanceBefore, r.ServerBefore = instance, k.instance, cmp.Or(k.server, k.imp.Server)
		r.add(k.client)
		r.ended = k.imp.Last.Time
		t.ended = append(t.ended, r)
		if g.instance != instance { // what follows is about this one
			g.start, g.startBefore = t.startedUnseen(g, r, k.imp.Server), start{}
			g.past, g.life = g.life, life{instance: instance, server: r.Server}
		}
	}
}

func (t *Tracker) connectReply(k *conn, r *track.RPC, m *dissect.Message, p track.Point) {
	i := k.imp
	switch {
	case r.ConnCnt < i.ConnCnt || !r.HasRequest: // given up
	case !r.Has(opcodes.PbStatus):
	case r.Status != 0:
		t.refused(k, r, p)
	case !r.Has(opcodes.PbOpFlags):
		if m.RPC.Handle != 0 && r.Handle != 0 {
			t.accepted(k, grant{server: r.Server, reconnected: m.RPC.Handle == r.Handle, isCut: true}, p)
		}
	default:
		a := grant{server: r.Server, recovering: m.RPC.OpFlags&opcodes.ConnectRecovering != 0,
			reconnected: m.RPC.OpFlags&opcodes.ConnectReconnect != 0}
		if m.Msg != nil {
			a.instance = uint32(opcodes.ObdConnectData.Field("ocd_instance").Uint(m.Msg.Buf(1), m.RPC.Big))
		}
		t.accepted(k, a, p)
	}
}

func (t *Tracker) refused(k *conn, r *track.RPC, p track.Point) {
	if k.initial && !k.lost && r.Status == opcodes.ENODEV && !k.first.IsZero() && k.target != nil && k.target.server == r.Server {
		t.lose(k, p, SignRefused) // an idle client finds out
	}
	switch c := k.client; {
	case !k.lost || c == nil:
	case k.imp.EventAt(p, track.EventEvicted) != nil:
		c.Evicted, c.Outcome = p, ClientEvicted
		c.refuse(r.Server, r.Status, p)
	default:
		c.refuse(r.Server, r.Status, p)
	}
}

// grant is what a server says that accepts a connect.
type grant struct {
	server                  lnet.NID
	instance                uint32 // 0: unknown
	recovering, reconnected bool
	isCut                   bool // its flags were not captured: the handles show reconnected only
}

// accepted takes a connect that was accepted: by what it grants, the target was
// started again or not.
func (t *Tracker) accepted(k *conn, a grant, p track.Point) {
	g, i, instance := k.target, k.imp, a.instance
	before := k.instance
	if before == 0 && k.initial && g != nil && !g.lastReply.IsZero() {
		before = g.instance
	}
	if instance != 0 {
		k.instance = instance
	}
	if g == nil {
		g = t.withoutName(k)
	}
	same := before != 0 && before == instance
	changed := before != 0 && instance != 0 && before != instance
	restarted := a.recovering || changed && (!k.first.IsZero() || k.lost || k.initial && !g.lastReply.IsZero()) ||
		k.lost && (k.client.isWithout(a.server) || a.isCut && k.client.isWithout(k.server)) && !a.reconnected && !same
	wasLost := k.lost
	if instance != 0 && instance != g.instance {
		g.learn(instance, restarted, p)
	}
	switch {
	case restarted:
		rec := t.restart(g, k, a, before, p)
		k.joinRestart(rec, i.Kind(), p)
		rec.add(k.client)
	case wasLost && k.client.recovery == nil && g.current.dropped(k.client) && i.EventAt(p, track.EventEvicted) != nil:
		g.current.add(k.client)
	case wasLost && k.client.recovery == nil:
		kind := Lost
		switch {
		case (a.reconnected || same) && i.EventAt(p, track.EventEvicted) == nil:
			kind = Reconnect
		case same:
			kind = Eviction
		}
		t.reconnected(g, k, kind, a.server, p)
		// An eviction may be the end of a recovery: the server evicts clients whose replay failed because objects had changed without them.
		if c := k.before; kind == Eviction && c != nil && c.recovery != nil && c.recovery == k.target.current &&
			c.Requests.Errors[opcodes.EOVERFLOW] > 0 && c.Outcome == ClientRecovered {
			c.Evicted, c.Outcome = p, ClientEvicted
		}
	}
	if i.State == track.StateDiscon || !restarted && !wasLost && !k.recovers() {
		return
	}
	k.lost, k.again = false, track.Point{}
	k.client.connected(k, i, p)
	if k.client.IsCut = a.isCut && !a.reconnected; k.client.IsCut {
		k.client.over = p.Time
	}
}

// replays takes a client that replays, although no connect that was accepted was captured: the target
// was restarted before.
func (t *Tracker) replays(k *conn, r *track.RPC) *Client {
	g := k.target
	if g != nil && slices.ContainsFunc(g.conns, func(o *conn) bool { return o != k && o.client != nil && o.imp.Client == k.imp.Client }) {
		return nil // it lost the target by another handle
	}
	c := &Client{Connection: k.imp.Connection, Type: k.imp.Kind(), ClientMoments: ClientMoments{LastReply: k.last}, Outcome: ClientRecovering}
	k.shift(r.Requested(), c)
	k.lost = false
	if g == nil {
		g = t.withoutName(k)
	}
	if g.current == nil {
		g.current = &Recovery{Target: g.name, Servers: Servers{Server: r.Server}, Moments: Moments{LastReply: k.last, TookPart: r.Requested()}}
	}
	g.current.add(c)
	return c
}

// learn takes the instance that a target grants. Where none was known before, the
// target may have had it all the time.
func (g *target) learn(instance uint32, restarted bool, p track.Point) {
	g.past = g.life
	g.life = life{instance: instance, begin: p}
	if g.past.instance == 0 && !restarted {
		g.lastReply, g.server = g.past.lastReply, g.past.server
		if g.lastReply.IsZero() { // it may have begun before the capture
			g.life.begin = track.Point{}
		}
	}
}

// joinRestart makes the client of a restart, unless the loss of its connection is
// part of that already.
func (k *conn) joinRestart(rec *Recovery, kind string, p track.Point) {
	c := k.client
	switch {
	case k.lost, c != nil && c.recovery == rec:
		return
	case k.recovers() && c.recovery == nil:
		return
	}
	k.shift(p, &Client{Connection: k.imp.Connection, Type: kind, ClientMoments: ClientMoments{LastReply: k.last}})
	if !k.again.IsZero() {
		k.client.Lost, k.client.LostBy = k.again, SignReconnect
	}
}

// connected takes what the accepted connect means for the client.
func (c *Client) connected(k *conn, i *track.Import, p track.Point) {
	c.Type = i.Kind()
	c.Connected = cmp.Or(c.Connected, p)
	switch {
	case i.EventAt(p, track.EventEvicted) != nil:
		c.Evicted, c.Recovered, c.Outcome = p, p, ClientEvicted
	case i.State == track.StateFull && k.initial:
		c.Recovered, c.Outcome = p, ClientMounted
	case i.State == track.StateFull:
		c.Recovered, c.Outcome = p, ClientReconnected
	default:
		c.Outcome = ClientRecovering
	}
}

// restart returns the restart of a target that a client finds; before is the instance to which it was connected before.
func (t *Tracker) restart(g *target, k *conn, s grant, before uint32, p track.Point) *Recovery {
	if r := g.current; r != nil {
		same := r.Instance == s.instance
		if r.Instance == 0 || s.instance == 0 {
			same = k.last.Time < r.Back.Time && !k.lostAgain(r) || k.recovers() || r.Back.IsZero()
		}
		if same {
			if r.InstanceBefore == 0 && before != s.instance {
				r.InstanceBefore = before
			}
			if r.Server == (lnet.NID{}) { // a log has not named it
				r.Server = s.server
			}
			if r.ServerBefore.Len == 0 && k.lost { // by the log of another server, which began it
				r.ServerBefore = cmp.Or(g.server, g.past.server)
				t.runsOn(r, r.Server)
			}
			if r.Back.IsZero() { // another client's replay has shown it
				r.Back, r.Instance, r.TookPart = p, s.instance, track.Point{}
			}
			return r
		}
		t.endRecovery(g, r, p.Time)
	}
	past := &g.past // the restart has begun another life
	r := &Recovery{Target: g.name}
	switch r.Back = g.begin; {
	case s.instance == 0 || s.instance != g.instance:
		past, r.Back = &g.life, p
	case g.begin.IsZero() && s.recovering:
		r.Back = p
	}
	r.Server, r.Instance = s.server, s.instance
	if before != s.instance {
		r.InstanceBefore = before
	}
	if past.instance == 0 || r.InstanceBefore == 0 || past.instance == r.InstanceBefore { // else it was elsewhere since
		r.LastReply, r.ServerBefore = past.lastReply, past.server
	}
	if r.ServerBefore != (lnet.NID{}) && !t.nodes.same(r.ServerBefore, s.server) {
		r.Kind = Failover
	}
	if g.stop.Time > r.LastReply.Time && g.stop.Time < r.Back.Time {
		r.Stop = g.stop
	}
	if g.start.Time > max(r.LastReply.Time, r.Stop.Time) && g.start.Time <= r.Back.Time {
		r.Starting = g.start.Point
	}
	g.current = r
	return r
}

// lostAgain reports whether a client has lost a target, by its log, after the recovery of the
// target was over.
func (k *conn) lostAgain(r *Recovery) bool {
	over := r.Completed
	for _, c := range r.Clients {
		if !c.Recovered.IsZero() && (over.IsZero() || c.Recovered.Time < over.Time) {
			over = c.Recovered
		}
	}
	return k.client != nil && k.client.Lost.IsLog() && !over.IsZero() && k.client.Lost.Time > over.Time
}

// reconnected takes a client that came back, to a target that was not seen to be
// started again.
func (t *Tracker) reconnected(g *target, k *conn, kind Kind, server lnet.NID, p track.Point) {
	r := g.breaks
	if r == nil || r.Kind != kind || !slices.ContainsFunc(r.Clients, func(c *Client) bool { return c.Connected.Time >= k.client.Lost.Time }) {
		t.endBreaks(g, p.Time)
		r = &Recovery{Target: g.name, Kind: kind}
		r.Server, r.ServerBefore = server, g.server
		r.Instance, r.InstanceBefore = k.instance, k.instance
		r.LastReply, r.Back = k.client.LastReply, p
		g.breaks = r
	}
	r.add(k.client)
}

// dropped reports whether a target without a recovery was restarted, by the log of its server, since a client lost it: the MGS knows
// nobody then.
func (r *Recovery) dropped(c *Client) bool {
	return r != nil && r.Kind.isRestart() && r.Stop.IsLog() && r.Completed.IsZero() && !r.Back.IsZero() && c.Lost.Time >= r.Stop.Time &&
		!slices.ContainsFunc(r.Clients, func(o *Client) bool { return o.Connection == c.Connection })
}

func (r *Recovery) add(c *Client) {
	switch {
	case c.recovery == r:
	case c.Connection.Client == c.Connection.Server && c.Connection.Client.Len > 0: // a server is a client of itself, which no capture shows
		c.recovery = r
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
	atServer := t.views.IsAt(r.Server) || t.views.IsAt(r.ServerBefore)
	if r.Kind == Failover { // clients that stay away show at the first server, and those that come at the second
		atServer = t.views.IsAt(r.Server) && t.views.IsAt(r.ServerBefore)
	}
	known := atServer && !r.Back.IsZero() && !t.hasUnnamed(r)
	since := track.Span{From: r.LastReply.Time, To: math.MaxInt64}
	for _, k := range g.conns {
		c := k.client
		switch {
		case k.lost && c.recovery == nil && c.Lost.Time < r.Back.Time:
			r.add(c)
		case known && k.isSilent(r) && (c == nil || c.recovery != r) && !t.imports.IsLossy(k.imp.Connection, since):
			r.add(&Client{Connection: k.imp.Connection, Type: k.imp.Kind(), ClientMoments: ClientMoments{LastReply: k.last}})
		}
	}
	for _, c := range r.Clients {
		if c.Type != "lwp" && c.Type != "mgc" && c.Outcome != ClientMounted {
			r.known++
		}
	}
	if g.announced.instance == r.Instance && r.Instance != 0 {
		r.Announced = g.announced.Point
	}
	r.knownValid = known && r.Dropped == 0 && r.Kind.isRestart()
	if r.Counted.Clients > 0 {
		r.known, r.knownValid = r.Counted.Clients, true
	}
	r.ended = now
	t.ended = append(t.ended, r)
	g.current = nil
}

// isSilent reports whether a client was connected when a target was lost and no
// message of it came since.
func (k *conn) isSilent(r *Recovery) bool {
	return !k.isClosed() && !k.last.IsZero() && k.last.Time <= r.LastReply.Time
}

// isClosed reports whether the client has disconnected.
func (k *conn) isClosed() bool {
	switch k.imp.State {
	case track.StateClosed, track.StateIdle, track.StateDisconnecting, track.StateNew:
		return true
	}
	return false
}

// mgsPortal is where requests to the MGS go.
var mgsPortal = uint32(opcodes.Portal.Number("MGS_REQUEST_PORTAL"))

// hasUnnamed reports whether there are connections to the server that may be to the
// target: their targets are unknown, and they were not in use both before the target
// was gone and after it was back.
func (t *Tracker) hasUnnamed(r *Recovery) bool {
	for c, k := range fifo.All(t.conns) {
		if k.target == nil && k.portal != mgsPortal && (c.Server == r.Server || c.Server == r.ServerBefore) &&
			!k.isClosed() && (k.first.IsZero() || k.first.Time > r.LastReply.Time || k.last.Time < r.Back.Time) {
			return true
		}
	}
	return false
}

// endTarget ends all that is known of a target.
func (t *Tracker) endTarget(g *target) {
	if g.current != nil {
		t.endRecovery(g, g.current, 0)
	}
	t.endBreaks(g, 0)
	var r *Recovery
	for _, k := range g.conns {
		if c := k.client; k.lost && c.recovery == nil {
			if r == nil {
				r = &Recovery{Target: g.name, Kind: Lost}
				r.ServerBefore, r.InstanceBefore = g.server, k.instance
			}
			r.add(c)
		}
	}
	if r == nil {
		t.announcedRestart(g)
		return
	}
	heard, _ := fifo.Get(t.heard, r.ServerBefore) // the last reply about any target
	for _, c := range r.Clients {
		isSilent := slices.ContainsFunc(c.silent, func(n lnet.NID) bool { return t.nodes.same(n, r.ServerBefore) }) && (heard == nil || *heard < c.lastSilent)
		switch {
		case c.isWithout(r.ServerBefore):
			r.Kind = Stopped
		case !c.firstSilent.IsZero() && !c.firstSilent.IsLog() && r.Kind != Stopped && isSilent:
			r.Kind = Unreachable
		}
		if c.LastReply.Time > r.LastReply.Time {
			r.LastReply = c.LastReply
		}
	}
	t.ended = append(t.ended, r)
}

// announcedRestart makes a record of a restart that only the MGS told about: no
// client has noticed it.
func (t *Tracker) announcedRestart(g *target) {
	if g.instance == 0 || g.announced.instance <= g.instance {
		return
	}
	r := &Recovery{Target: g.name}
	r.Instance, r.InstanceBefore = g.announced.instance, g.instance
	r.ServerBefore, r.LastReply, r.Announced = g.server, g.lastReply, g.announced.Point
	t.ended = append(t.ended, r)
}

func (t *Tracker) pass(r *Recovery) {
	r.passed = true
	if r.Target == "" && !r.TookPart.IsZero() && t.isNoted(r, true) {
		return
	}
	for _, c := range r.Clients {
		if t.imports.IsLossy(c.Connection, track.Span{From: c.Connected.Time, To: c.Ready.Time}) {
			c.NotReplayed = Gap{}
		}
		if c.Outcome == ClientMissing && t.imports.IsLossy(c.Connection, track.Span{From: c.begin(), To: math.MaxInt64}) {
			c.Outcome = ClientUnknown
		}
	}
	if t.beside != nil {
		t.beside.join(r)
	}
	r.settle()
	isLossy := func(from, to int64) bool {
		return slices.ContainsFunc(r.Clients, func(c *Client) bool {
			return t.imports.IsLossy(c.Connection, track.Span{From: from, To: to})
		})
	}
	end := r.end()
	if r.Count(ClientUnknown) > 0 {
		end = math.MaxInt64
	}
	r.IsLossy, r.Lacks = isLossy(r.LastReply.Time, r.Gone.Time), isLossy(r.LastReply.Time, end)
	r.MayBeSooner = !r.Back.IsZero() && isLossy(r.Begin(), r.Back.Time)
	t.done(r)
}

// noteGap takes the transactions that were not replayed, which the connection has
// noted at a message.
func (c *Client) noteGap(i *track.Import, p track.Point) {
	if e := i.EventAt(p, track.EventNotReplayed); e != nil {
		c.NotReplayed.sum(Gap{Transnos{e.From, e.To}, e.Count, p})
	}
}
