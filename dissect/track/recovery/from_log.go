package recovery

import (
	"cmp"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// Logged takes a line of a log, without a capture, with the connection that it is about;
// nil: it is about a target.
func (t *Tracker) Logged(l *track.LogLine, i *track.Import) {
	t.Advance(l.Time)
	p := l.Point()
	if l.Kind == debuglog.Connected {
		t.loggedStart(l, p)
	}
	if i == nil {
		t.loggedTarget(l, p)
		return
	}
	k := t.connOf(i.Connection, i)
	if l.Kind == debuglog.WasEvicted {
		t.evictedAt[l.Log] = l.Time
	}
	switch l.Kind {
	case debuglog.ImportState:
		t.loggedState(k, p)
	case debuglog.Lost:
		if k.target.server = l.PeerNode(); l.PeerNode() == (lnet.NID{}) {
			k.target.server = i.Server
		}
		if l.Console {
			t.loggedState(k, p)
			k.unknownBy = t.unknown.Log == l.Log && t.unknown.Name == l.Name && l.Time-t.unknown.Time <= atOnce
		}
	case debuglog.Restored, debuglog.WasEvicted:
		switch {
		case !l.Console:
		case i.State == track.StateFull && k.lost && t.wasRestarted(k, l):
			k.client.LostBy = SignNotConnected
			t.accepted(k, grant{server: l.PeerNode(), recovering: true}, p)
			if r := k.target.current; r.Completed.IsZero() { // the console has nothing of what was between
				r.Completed = p
			}
		case i.State == track.StateFull && k.lost: // whether it recovered, the console does not say
			t.accepted(k, grant{server: l.PeerNode(), isCut: true}, p)
		default:
			t.loggedState(k, p)
		}
	case debuglog.ConnectFailed:
		switch c := k.client; {
		case !k.lost || c == nil:
		case l.Status == opcodes.ETIMEDOUT:
			c.silentConnect(k.connecting, k.target)
		default:
			c.refuse(l.PeerNode(), l.Status, p)
		}
	case debuglog.Connected:
		if r := k.target.current; r != nil && r.Completed.IsZero() && !i.HasClientLog() && strings.Contains(l.Text, " recovering/") {
			k.joinRestart(r, i.Kind(), p)
			k.client.Connected, k.client.Outcome = p, ClientRecovering
			r.add(k.client)
		}
	case debuglog.Evicting:
		switch r := k.target.current; {
		case r == nil || l.Reason != debuglog.ByRecovery:
		case i.HasClientLog(): // the client finds out
			k.evictedIn = r
		default:
			k.joinRestart(r, i.Kind(), p)
			k.client.Evicted, k.client.Outcome = p, ClientEvicted
			r.add(k.client)
		}
	}
}

// wasRestarted reports whether a target that did not know a client any more, and to which it was connected again some time later, was
// restarted: else the client had been evicted, which the console says, but for lines that are left out since others are like them.
func (t *Tracker) wasRestarted(k *conn, l *track.LogLine) bool {
	at, evicted := t.evictedAt[l.Log]
	kind := k.imp.Kind()
	return k.unknownBy && l.Time-k.client.Lost.Time >= minLogged && (!evicted || l.Time-at > maxLeftOut) && kind != "lwp" && kind != "mgc"
}

const (
	atOnce     = int64(time.Second)
	minLogged  = int64(5 * time.Second)  // a client that was evicted is connected again sooner
	maxLeftOut = int64(10 * time.Minute) // the default of libcfs_console_max_delay
)

// loggedState takes a change of the state of a connection, by the log of its client.
func (t *Tracker) loggedState(k *conn, p track.Point) {
	i, accepted := k.imp, grant{server: k.imp.Server, instance: k.imp.Granted.Instance}
	switch i.State {
	case track.StateDiscon:
		if i.Before == track.StateFull {
			t.lose(k, p, SignLog)
		}
	case track.StateConnecting:
		k.connecting = p
		k.initial = i.Before == track.StateNew || i.Before == track.StateIdle || i.Before == track.StateClosed
	case track.StateReplay, track.StateReplayLocks:
		if accepted.recovering = true; i.Before == track.StateConnecting {
			t.accepted(k, accepted, p)
		}
	case track.StateEvicted:
		r := k.evictedIn
		if k.evictedIn = nil; r == nil || k.client == nil || r.passed {
			t.accepted(k, accepted, p)
			return
		}
		k.lost = false
		r.add(k.client)
		k.client.connected(k, i, p)
	case track.StateReplayWait:
		if k.client != nil {
			k.client.Ready = p
		}
	case track.StateRecover:
		// Connections of servers that have nothing to replay go on so after a restart, too.
		if accepted.reconnected = k.client == nil || !k.client.isWithout(i.Server); i.Before == track.StateConnecting {
			t.accepted(k, accepted, p)
		}
	case track.StateFull:
		c := k.client
		switch {
		case c == nil || c.Outcome != ClientRecovering:
		case c.Ready.IsZero():
			c.Recovered, c.Outcome = p, ClientReconnected
		default:
			c.Recovered, c.Outcome = p, ClientRecovered
		}
	}
}

// loggedStart takes a connect to a target that its server has unmounted before, or that another server had: the
// target was started again, maybe without a recovery.
func (t *Tracker) loggedStart(l *track.LogLine, p track.Point) {
	g := t.target(l.Target)
	r := g.current
	isStopped := g.stop.IsLog() && (r == nil || r.Back.Time < g.stop.Time)
	if !isStopped && !t.hasMoved(r, l.Node) {
		return
	}
	r = t.startAgain(g, l.Node, p)
	r.Back, r.byServer = p, strings.Contains(l.UUID, "-lwp-") || l.Target == "MGS" && l.PeerNode() == l.Node
	t.runsOn(r, l.Node)
}

// runsOn sets the server on which a target was started.
func (t *Tracker) runsOn(r *Recovery, server lnet.NID) {
	if r.Server = server; r.ServerBefore.Len > 0 && !t.nodes.same(r.ServerBefore, server) {
		r.Kind = Failover
	}
}

// startAgain ends the last outage of a target that is started on a node, and begins another one.
func (t *Tracker) startAgain(g *target, on lnet.NID, p track.Point) *Recovery {
	last, lastBack := g.current, int64(0)
	r := &Recovery{Target: g.name, Servers: Servers{ServerBefore: g.server}}
	if t.hasMoved(last, on) {
		r.ServerBefore = last.Server
	}
	if last != nil {
		lastBack = last.Back.Time
		t.endRecovery(g, last, p.Time)
	}
	if g.stop.Time > lastBack {
		r.Stop = g.stop
	}
	g.current = r
	return r
}

// hasMoved reports whether a target that was back on one server is started on another.
func (t *Tracker) hasMoved(r *Recovery, to lnet.NID) bool {
	return r != nil && !r.Back.IsZero() && r.Server.Len > 0 && to.Len > 0 && !t.nodes.same(r.Server, to)
}

// loggedTarget takes what the log of a server says about the recovery of a target.
func (t *Tracker) loggedTarget(l *track.LogLine, p track.Point) {
	if l.Kind == debuglog.RequestFailed && (l.Status == opcodes.ENOTCONN || l.Status == opcodes.ENODEV) {
		t.unknown = *l
	}
	if l.Kind != debuglog.Stopped && l.Kind != debuglog.FailingOver && l.Kind != debuglog.RecoveryBegin && l.Kind != debuglog.RecoveryEnd {
		return
	}
	g := t.target(l.Target)
	if l.Kind == debuglog.Stopped || l.Kind == debuglog.FailingOver {
		if g.stop.IsZero() || p.Time-g.stop.Time > int64(time.Minute) || g.server != l.Node { // both are of one stop
			g.stop, g.server = p, l.Node
		}
		return
	}
	r := g.current
	if r == nil || t.hasMoved(r, l.Node) || !r.Completed.IsZero() || !r.Back.IsZero() && r.Back.Time < g.stop.Time {
		r = t.startAgain(g, l.Node, p)
	}
	t.runsOn(r, l.Node)
	r.Counted = Counted{Clients: int(l.Number), Recovered: int(l.Recovered), IsOver: l.Kind == debuglog.RecoveryEnd}
	if l.Kind == debuglog.RecoveryBegin {
		r.Back = cmp.Or(r.Back, p)
		return
	}
	r.Completed = p
	for _, c := range r.Clients {
		if l.Recovered == l.Number && c.Outcome == ClientRecovering && c.Recovered.IsZero() { // all have
			c.Recovered, c.Outcome = p, ClientRecovered
		}
	}
}
