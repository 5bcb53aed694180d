// Package recovery follows targets that clients lost: when each was gone and back,
// how its clients recovered, and what applications saw of it.
//
// A Tracker receives RPCs from a track.Pairing: pass its methods Sent, Answered and
// Done as hooks in track.Options, and each message with its RPC to Message. It passes a
// Recovery to the hook that New gets when the target was lost again, or at the end of
// the capture.
//
// tracker.go takes the messages, loss.go decides what became of a target, announce.go
// reads what servers send when they stop and start, recovery.go and client.go have what
// is known of a target, unnamed.go follows targets whose names are not known, and story.go puts
// all into the order of time.
//
// Nothing is guessed. A target was started again when a server in recovery does not
// know the connection of a client, when it grants another instance than before, or
// when it said that it does not have the target and has it later. The state is
// bounded: each bound is a constant beside the type that it limits.
package recovery

import (
	"cmp"
	"slices"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Tracker follows targets.
type Tracker struct {
	done    func(*Recovery)
	imports *track.Imports
	conns   *fifo.Map[*track.Connection, *conn]
	targets *fifo.Map[string, *target]
	unnamed *fifo.Map[*conn, *target] // that the only connection to each has lost
	ended   []*Recovery               // until their RPCs have ended
	alone   []*Recovery               // that single replies show
	noted   []noted                   // what has been passed on
	views   track.Viewpoints
	nodes   nodes
	heard   *fifo.Map[lnet.NID, *int64] // time of the last reply of a server
	beside  *beside                     // nil: there are no logs beside the capture

	unknown   track.LogLine // of a client: the last server that did not know it
	evictedAt map[int]int64 // when the last client of a log found out that it was evicted, by the number of the log
}

// conn is a connection of a client to a target.
type conn struct {
	imp      *track.Import
	target   *target // nil: its name is unknown
	instance uint32  // of the target that it is connected to, 0: unknown
	first    track.Point
	last     track.Point // reply of the target
	portal   uint32
	handle   uint64 // of the last reply
	server   lnet.NID
	again    track.Point // the first connect during a recovery
	initial  bool        // the last connect began a new connection
	lost     bool        // and not made again
	client   *Client     // of the last loss
	before   *Client     // of the loss before that

	connecting  track.Point // by the log of the client, when it sent the last connect
	unknownBy   bool        // it was lost since the server did not know the client, by the log of the client
	isElsewhere bool        // by logs beside a capture, which has no message of it
	evictedIn   *Recovery   // by the log of the server; nil: it was not, or has found out
}

// target is a target and what its messages show of it.
type target struct {
	name        string      // empty: unknown
	life                    // since its last start, as far as that is known
	past        life        // before
	stop        track.Point // it sent a disconnect to another target
	start       start       // it registered with the MGS, or connected to another target
	startBefore start       // the same, from another node
	announced   announcement
	conns       []*conn
	current     *Recovery // the last outage; nil: none
	breaks      *Recovery // the last loss of connections only
}

// life is a target between two starts.
type life struct {
	instance  uint32      // 0: unknown
	begin     track.Point // the first connect that showed the instance
	lastReply track.Point
	server    lnet.NID // that sent it
}

// The bounds of what is followed. Over one of them, the oldest is forgotten.
const (
	maxConns   = 1 << 16
	maxTargets = 1 << 14
	maxClients = 1 << 12 // of one Recovery
	maxServers = 1 << 14
	maxNoted   = 1 << 10
)

// linger is for how long a Recovery is held after the target was lost again, until its
// RPCs have ended: those that failed are held after the client has connected again.
const linger = int64(time.Minute)

// New makes a Tracker. imports must get all RPCs before the Tracker does. done gets each
// Recovery once.
func New(imports *track.Imports, done func(*Recovery)) *Tracker {
	return &Tracker{done: done, imports: imports,
		conns: fifo.NewMap[*track.Connection, *conn](maxConns), targets: fifo.NewMap[string, *target](maxTargets),
		unnamed: fifo.NewMap[*conn, *target](maxTargets),
		heard:   fifo.NewMap[lnet.NID, *int64](maxServers), evictedAt: map[int]int64{}}
}

// Advance sets the time and passes on what has ended.
func (t *Tracker) Advance(now int64) {
	for len(t.ended) > 0 && t.ended[0].ended+linger <= now {
		t.note(t.ended[0])
		t.pass(t.ended[0])
		t.ended = t.ended[1:]
	}
}

// Close passes on what is left: the capture has ended.
func (t *Tracker) Close() {
	if t.beside != nil {
		t.beside.tracker.Close()
	}
	for _, k := range fifo.All(t.conns) {
		if k.lost && k.target == nil && k.imp != nil {
			t.withoutName(k)
		}
	}
	for _, g := range fifo.All(t.targets) {
		t.endTarget(g)
	}
	for _, g := range fifo.All(t.unnamed) {
		t.endTarget(g)
	}
	for _, r := range t.ended {
		t.note(r)
	}
	for _, r := range joinUnnamed(t.ended) {
		t.pass(r)
	}
	for _, r := range t.alone {
		if !t.isNoted(r, false) {
			t.pass(r)
		}
	}
	t.ended, t.alone = nil, nil
	if t.beside != nil {
		for _, r := range t.beside.rest() {
			t.done(r)
		}
	}
}

// Sent takes a request.
func (t *Tracker) Sent(r *track.RPC, m *dissect.Message) {
	t.views.See(m.Source, m.LNet.Src, m.LNet.Dst)
	p := track.PointOf(m)
	if r.Opcode == opcodes.MGS_TARGET_REG && m.Msg != nil {
		if name, ok := opcodes.RegisteredTarget(m.Msg); ok {
			t.starting(string(name), start{p, r.Client})
		}
	}
	i := t.imports.Of(r)
	if i == nil || opcodes.IsCallback(r.Opcode) || i.Changed != p {
		return
	}
	t.Advance(p.Time)
	k, c := t.conn(r), (*Client)(nil)
	if k.client != nil && k.client.Recovered.IsZero() {
		c = k.client
	}
	if c == nil && (r.Replay() || isLockReplay(r)) {
		c = t.replays(k, r)
	}
	switch {
	case opcodes.IsConnect(r.Opcode):
		t.connect(k, r, m, p)
	case opcodes.IsDisconnect(r.Opcode):
		k.lost = false
		if g, ok := fifo.Get(t.targets, ownTarget(i.ClientUUID)); ok && g.stop.Time <= g.lastReply.Time { // it is a target, too, and stops
			g.stop = p
		}
	case c == nil:
	case r.Replay():
		c.Requests.add(p)
		c.Transnos.add(m.RPC.Transno)
	case i.State == track.StateReplayLocks && isLockReplay(r) && r.Opcode == opcodes.LDLM_ENQUEUE:
		c.Locks.add(p)
		c.noteGap(i, p)
	case i.State == track.StateReplayWait && i.Before != i.State:
		c.Ready = p
		c.noteGap(i, p)
	}
}

// Answered takes a reply.
func (t *Tracker) Answered(r *track.RPC, m *dissect.Message) {
	t.views.See(m.Source, m.LNet.Src, m.LNet.Dst)
	i := t.imports.Of(r)
	p := track.PointOf(m)
	if i == nil && !r.HasRequest {
		t.withoutRequest(r, m, p)
	}
	if i == nil || opcodes.IsCallback(r.Opcode) {
		return
	}
	changed := i.Changed == p
	if changed {
		t.Advance(p.Time)
	}
	k := t.conn(r)
	switch {
	case !changed:
	case opcodes.IsConnect(r.Opcode):
		t.connectReply(k, r, m, p)
	case k.lost && i.State == track.StateFull:
		k.lost = false // the reply to the connect was not captured
		k.client.Recovered = p
	case k.lost && i.State == track.StateUnknown: // nor was what shows whether it has recovered
		k.lost = false
		k.client.Outcome, k.client.over = ClientUnknown, p.Time
	case r.Opcode == opcodes.SEC_CTX_INIT: // before a connect
	case i.State == track.StateDiscon && i.Before != track.StateDiscon:
		t.lose(k, p, SignNotConnected)
	case k.client != nil && i.Before == track.StateReplayWait && i.State == track.StateFull:
		k.client.Recovered, k.client.Outcome = p, ClientRecovered
	}
	if c := k.client; c != nil && c.Recovered.IsZero() && r.Status < 0 {
		switch {
		case r.Replay():
			c.Requests.fail(r.Status)
		case isLockReplay(r) && r.Opcode == opcodes.LDLM_ENQUEUE:
			c.Locks.fail(r.Status)
		}
	}
	*fifo.GetOrNew(t.heard, r.Server) = p.Time
	if isAlive(r) {
		t.reply(k, r, p)
	}
}

// isAlive reports whether a reply shows that the server has the target and knows the
// connection.
func isAlive(r *track.RPC) bool {
	if opcodes.IsConnect(r.Opcode) {
		return r.Status == 0 && r.Has(opcodes.PbStatus)
	}
	// A server that lacks the target or the connection answers with an error of ptlrpc, and only an LDLM_CANCEL with a reply.
	return r.HasOpcode && r.Type == dissect.TypeReply && r.Status != opcodes.ENOTCONN
}

// reply takes a reply of a target. Two servers with the same connection are one node.
func (t *Tracker) reply(k *conn, r *track.RPC, p track.Point) {
	k.first = cmp.Or(k.first, p)
	isSame := k.server.Len > 0 && k.handle == r.Handle && k.handle != 0 && !opcodes.IsConnect(r.Opcode)
	if isSame && len(t.nodes) < maxPairs && !t.nodes.same(k.server, r.Server) {
		t.nodes = append(t.nodes, [2]lnet.NID{k.server, r.Server})
	}
	k.last, k.server, k.handle = p, r.Server, r.Handle
	if g := k.target; g != nil {
		g.lastReply, g.server = p, r.Server
	}
}

// Done takes an RPC that has ended.
func (t *Tracker) Done(r *track.RPC) {
	if r.Log != nil {
		t.LoggedRPC(r)
	}
	if t.imports.Of(r) == nil || !r.HasRequest || !r.HasOpcode || opcodes.IsCallback(r.Opcode) {
		return
	}
	k := t.conn(r)
	for _, c := range [...]*Client{k.before, k.client} {
		if c != nil && (c.recovery == nil || !c.recovery.passed) && c.take(r, k.target) {
			return
		}
	}
}

// take takes an RPC that has ended; it reports whether the RPC ended because the
// target was lost or waited until it was back.
func (c *Client) take(r *track.RPC, of *target) bool {
	sent, replied := r.Requested(), r.Replied()
	switch {
	case !c.Recovered.IsZero() && sent.Time >= c.Recovered.Time, c.over != 0 && sent.Time >= c.over:
		return false
	case !r.HasReply && r.Opcode == opcodes.OBD_PING && r.Flags&dissect.FlagLockReplayDone != 0:
		return true // it waits for the other clients until the recovery is over
	case !r.HasReply && r.Unanswered():
		if opcodes.IsConnect(r.Opcode) {
			c.silentConnect(sent, of)
		}
		if len(c.silent) < maxSilent && !slices.Contains(c.silent, r.Server) {
			c.silent = append(c.silent, r.Server)
		}
		c.unanswered(sent)
	case !r.HasReply:
		return false
	case r.Sends > 1 && len(r.OtherErrors) == 0 && !c.Lost.IsZero() && sent.Time < c.Lost.Time &&
		!c.Connected.IsZero() && replied.Time > c.Connected.Time:
		c.unanswered(sent)
	}
	if opcodes.IsConnect(r.Opcode) || opcodes.IsDisconnect(r.Opcode) || r.Opcode == opcodes.OBD_PING || r.Replay() || isLockReplay(r) || r.OneWay {
		return true
	}
	q := Request{XID: r.XID, Opcode: r.Opcode, Job: string(r.Job()), Sent: sent, Answered: replied, Status: r.Status}
	switch {
	case !r.HasReply:
		c.Impact.Unanswered++
	case !c.Lost.IsZero() && replied.Time >= c.Lost.Time && isConnectionError(r.Status) && !r.IsSentAgain():
		c.Impact.Errors = count(c.Impact.Errors, r.Status, 1)
	case !c.Connected.IsZero() && sent.Time < c.Connected.Time && replied.Time >= c.Connected.Time:
		c.Impact.Waited++
		c.Impact.Longest = max(c.Impact.Longest, replied.Time-sent.Time)
	default:
		return false
	}
	c.Impact.add(q)
	return true
}

// silentConnect takes a connect that had no reply. One to a target that others had found back says nothing of its restart.
func (c *Client) silentConnect(sent track.Point, of *target) {
	c.firstSilent = cmp.Or(c.firstSilent, sent)
	c.lastSilent = max(c.lastSilent, sent.Time)
	if of == nil || of.current == nil || sent.Time < of.current.Back.Time || c.Lost.Time > of.current.Back.Time {
		c.Unanswered++
	}
}

// unanswered takes a request that had no reply, or none before it was sent again.
func (c *Client) unanswered(sent track.Point) {
	if sent.Time > c.LastReply.Time && (c.firstUnanswered.IsZero() || sent.Time < c.firstUnanswered.Time) {
		c.firstUnanswered = sent
	}
}

// isConnectionError reports whether a status is an error that a lost connection or
// lost state brings.
func isConnectionError(status int32) bool {
	switch status {
	case opcodes.EIO, opcodes.ENODEV, opcodes.ENOTCONN, opcodes.ESHUTDOWN, opcodes.ESTALE:
		return true
	}
	return false
}

func (t *Tracker) conn(r *track.RPC) *conn {
	k := t.connOf(r.Connection, t.imports.Of(r))
	k.portal = cmp.Or(k.portal, r.Portal)
	return k
}

func (t *Tracker) connOf(c *track.Connection, i *track.Import) *conn {
	k, ok := fifo.Get(t.conns, c)
	if !ok {
		k = &conn{}
		if _, old, evicted := fifo.Put(t.conns, c, k); evicted && old.target != nil {
			old.target.conns = slices.DeleteFunc(old.target.conns, func(o *conn) bool { return o == old })
		}
	}
	k.imp = i
	switch {
	case c.Target == "":
	case k.target == nil:
		t.join(k, c.Target)
	case k.target.name == "":
		t.name(k, c.Target)
	}
	return k
}

func (t *Tracker) target(name string) *target {
	g, ok := fifo.Get(t.targets, name)
	if !ok {
		g = &target{name: name}
		if _, old, evicted := fifo.Put(t.targets, name, g); evicted {
			t.endTarget(old)
			for _, k := range old.conns {
				k.target = nil
			}
		}
	}
	return g
}

func (t *Tracker) join(k *conn, name string) {
	g := t.target(name)
	k.target = g
	g.conns = append(g.conns, k)
	if k.last.Time > g.lastReply.Time {
		g.lastReply, g.server = k.last, k.server
	}
}

// nodes are pairs of addresses that belong to the same node.
type nodes [][2]lnet.NID

const maxPairs = 1 << 10

// same reports whether two addresses are known to belong to the same node.
func (n nodes) same(a, b lnet.NID) bool {
	return a == b || slices.Contains(n, [2]lnet.NID{a, b}) || slices.Contains(n, [2]lnet.NID{b, a})
}
