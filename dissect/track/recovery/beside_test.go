package recovery_test

import (
	"testing"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/logs"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/opcodes"
)

// newWireWithLogs is newWire with logs beside the capture, of which line passes one line.
func newWireWithLogs(t *testing.T) (w *wire, line func(l *track.LogLine)) {
	w = &wire{t: t, now: 1e18, xid: 1 << 50}
	x := logs.New(nil)
	x.Elsewhere = true
	w.rpcs = follow.New(follow.Options{Logs: x}, follow.Hooks{Recovery: func(r *recovery.Recovery) { w.done = append(w.done, r) }})
	return w, func(l *track.LogLine) {
		w.frame++
		w.now += ms
		l.Line, l.Time = w.frame, w.now
		w.rpcs.Line(l)
	}
}

// TestLogsBeside: a target is started again under a client of the capture and one of which only logs have something. The
// earliest signs, and the clients, of both count, but not the connection of a server that takes no part in the recovery.
func TestLogsBeside(t *testing.T) {
	w, line := newWireWithLogs(t)
	const target = "lustre-MDT0000"
	logged := func(e debuglog.Event) {
		e.Target = target
		line(&track.LogLine{Event: e, File: "mds.dk", Node: server})
	}
	state := func(before, to string) {
		line(&track.LogLine{Event: debuglog.Event{Kind: debuglog.ImportState, Target: target, Import: 7, PID: 1, Before: before, State: to}, File: "other.dk", Log: 1, Node: node(5)})
	}
	connected := func(uuid string, n byte) {
		logged(debuglog.Event{Kind: debuglog.Connected, UUID: uuid, Peer: node(n), Text: "connection recovering/t0"})
	}
	a := w.mount(3, target).start(1)
	w.now += second
	logged(debuglog.Event{Kind: debuglog.FailingOver})
	gone := w.now
	logged(debuglog.Event{Kind: debuglog.Stopped})
	w.now += second
	state("FULL", "DISCONN")
	state("DISCONN", "CONNECTING")
	state("CONNECTING", "DISCONN")
	line(&track.LogLine{Event: debuglog.Event{Kind: debuglog.ConnectFailed, Target: target, PID: 1, Status: opcodes.ENODEV, Peer: server}, File: "other.dk", Log: 1, Node: node(5)})
	lost := func(before, to string) {
		line(&track.LogLine{Event: debuglog.Event{Kind: debuglog.ImportState, Target: target, Import: 7, PID: 1, Before: before, State: to}, File: "cut.dk", Log: 2, Node: node(6)})
	}
	unanswered := func() {
		lost("DISCONN", "CONNECTING")
		w.now += second
		lost("CONNECTING", "DISCONN")
		line(&track.LogLine{Event: debuglog.Event{Kind: debuglog.ConnectFailed, Target: target, PID: 1, Status: opcodes.ETIMEDOUT, Peer: server}, File: "cut.dk", Log: 2, Node: node(6)})
	}
	lost("FULL", "DISCONN")
	unanswered()
	connected("lustre-MDT0000-lwp-MDT0000_UUID", 1)
	w.now += second
	connected("c5", 5)
	back := w.now
	state("DISCONN", "CONNECTING")
	state("CONNECTING", "REPLAY")
	state("REPLAY", "REPLAY_WAIT")
	w.now += 5 * second
	unanswered() // the target was back by then: it is about the client
	a.notConnected()
	endA := a.recover(2, 0, 0)
	logged(debuglog.Event{Kind: debuglog.RecoveryEnd, Number: 2, Recovered: 2})
	completed := w.now
	w.now += second
	endA()
	state("REPLAY_WAIT", "FULL")
	r := w.one()
	if r.Kind != recovery.Restart || r.Gone.Time != gone || r.GoneBy != recovery.SignStopping || r.Completed.Time != completed {
		t.Errorf("got %v, gone %d by %v, completed %d; want %d, %d", r.Kind, r.Gone.Time, r.GoneBy, r.Completed.Time, gone, completed)
	}
	assert.That(t, r.Back.Time-back >= 0 && r.Back.Time-back < 10*ms, "back %d after the first client that takes part", r.Back.Time-back)
	recovered, refused, silent := 0, 0, 0
	for _, c := range r.Clients {
		silent += c.Unanswered
		if refused += len(c.Refusals); c.Outcome == recovery.ClientRecovered && c.Type != "lwp" {
			recovered++
		}
	}
	n, ok := r.Known()
	assert.That(t, n == 2 && ok && recovered == 2, "%d of %d clients, %v", recovered, n, ok)
	assert.That(t, refused == 1 && silent == 1, "%d refusals, %d connects without a reply", refused, silent)
	assert.That(t, r.OnlyLogged, "a client that came back by its log only may have replayed more")
}

// TestLogsOfAnotherStart: a record of logs joins that of the capture only where the target was back on the same server.
func TestLogsOfAnotherStart(t *testing.T) {
	w, line := newWireWithLogs(t)
	const target = "lustre-MDT0000"
	a := w.mount(3, target).start(1)
	w.now += second
	line(&track.LogLine{Event: debuglog.Event{Kind: debuglog.FailingOver, Target: target}, File: "mds.dk", Node: server})
	gone := w.now
	w.now += second
	a.notConnected()
	a.server = partner
	a.recover(2, 0, 0)()
	w.now += 30 * second
	line(&track.LogLine{Event: debuglog.Event{Kind: debuglog.Connected, Target: target, UUID: "c5", Peer: node(5), Text: "connection recovering/t0"}, File: "mds.dk", Node: server})
	w.end()
	r := w.done[0]
	if r.Kind != recovery.Failover || r.Gone.Time != gone || len(r.Clients) != 1 || r.Back.IsLog() {
		t.Errorf("%v, gone %d (want %d), %d clients", r.Kind, r.Gone.Time, gone, len(r.Clients))
	}
}
