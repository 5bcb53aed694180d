package evictions_test

import (
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/opcodes"
)

const second = int64(1e9)

// life is a connection as track.Imports follows it.
type life struct {
	*track.Import
	t     *evictions.Tracker
	frame int64
	now   int64
}

// follow returns a connection, and a func that ends the capture and returns the
// evictions.
func follow(linger int64) (*life, func() []*evictions.Eviction) {
	var list []*evictions.Eviction
	t := evictions.New(linger, func(e *evictions.Eviction) { list = append(list, e) })
	l := &life{Import: &track.Import{Connection: &track.Connection{Target: "lustre-OST0000"}}, t: t, now: 1e18}
	return l, func() []*evictions.Eviction {
		t.Close()
		return list
	}
}

// point returns the next message, which comes after some time.
func (l *life) point(after int64) track.Point {
	l.frame++
	l.now += after
	return track.Point{Frame: l.frame, Time: l.now}
}

// event adds an event and a state to the connection.
func (l *life) event(after int64, kind track.EventKind, state track.ImportState, status int32) track.Point {
	p := l.point(after)
	l.Events, l.State = append(l.Events, track.Event{Point: p, Until: p, Kind: kind, Status: status}), state
	l.t.ImportChanged(l.Import, p)
	return p
}

// pings serves pings that are five seconds apart.
func (l *life) pings(n int) {
	for range n {
		l.LastServed = l.point(5 * second)
		l.PingLog = append(l.PingLog, l.LastServed)
	}
}

// evict lets the client find out after some time that it was evicted.
func (l *life) evict(after int64) track.Point {
	l.event(after, track.EventNotConnected, track.StateDiscon, -107)
	l.event(second/1000, track.EventConnect, track.StateConnecting, 0)
	return l.event(second/1000, track.EventEvicted, track.StateFull, 0)
}

func TestCauses(t *testing.T) {
	for name, tt := range map[string]struct {
		play func(*life)
		want evictions.Cause
	}{
		"pings":            {func(l *life) { l.evict(5 * second) }, evictions.Unknown},
		"silence":          {func(l *life) { l.evict(40 * second) }, evictions.Silence},
		"less than silent": {func(l *life) { l.evict(20 * second) }, evictions.Unknown},
		"connects without a reply": {func(l *life) {
			for range 3 {
				l.event(10*second, track.EventConnect, track.StateConnecting, 0)
			}
			l.event(second/1000, track.EventEvicted, track.StateFull, 0)
		}, evictions.Silence},
		"connects refused": {func(l *life) {
			for range 3 {
				l.event(10*second, track.EventConnect, track.StateConnecting, 0)
				l.event(second/1000, track.EventRefused, track.StateDiscon, -11)
			}
			l.event(second/1000, track.EventEvicted, track.StateFull, 0)
		}, evictions.Unknown},
		"hole in it": {func(l *life) {
			l.t.Lost(&lnet.Loss{From: l.now + second, To: l.now + 2*second})
			l.evict(40 * second)
		}, evictions.Unknown},
		"hole before": {func(l *life) {
			l.t.Lost(&lnet.Loss{From: l.now - 2*second, To: l.now - second})
			l.evict(40 * second)
		}, evictions.Silence},
		"another instance": {func(l *life) {
			l.Asked.Instance, l.Granted.Instance = 3, 4
			l.evict(40 * second)
		}, evictions.Recovery},
		"target was absent": {func(l *life) {
			l.event(second, track.EventNotConnected, track.StateDiscon, -107)
			l.event(second, track.EventConnect, track.StateConnecting, 0)
			l.event(second, track.EventRefused, track.StateDiscon, -19)
			l.evict(5 * second)
		}, evictions.Recovery},
		"denied":                    {func(l *life) { l.deny() }, evictions.Denied},
		"kept a lock":               {func(l *life) { l.keep(6 * second) }, evictions.LockCallback},
		"asked for a lock just now": {func(l *life) { l.keep(2 * second) }, evictions.Unknown},
	} {
		l, end := follow(0)
		l.pings(6)
		tt.play(l)
		if list := end(); len(list) != 1 || list[0].Cause != tt.want || list[0].Target != "lustre-OST0000" {
			t.Errorf("%s: %+v, want cause %d", name, list, tt.want)
		}
	}
}

// deny lets the server refuse two connects.
func (l *life) deny() {
	for range 2 {
		p := l.point(5 * second)
		l.State = track.StateEvicted
		l.Events = append(l.Events, track.Event{Point: p, Kind: track.EventRefused, Status: -13}, track.Event{Point: p, Kind: track.EventEvicted})
		l.t.ImportChanged(l.Import, p)
	}
}

// keep lets the client find out that it was evicted some time after a callback.
func (l *life) keep(after int64) {
	sent := l.point(0)
	at := l.evict(after)
	l.t.Lock(&locks.Lock{Connection: l.Connection, Desc: opcodes.LockDesc{}, Last: at.Time, End: locks.End{How: locks.Evicted, Point: at},
		Callbacks: []locks.Callback{{Kind: locks.Blocking, Sent: sent, Missing: track.Unanswered}}})
}

// An eviction is passed on once, when its locks have had time to end.
func TestLinger(t *testing.T) {
	passed := 0
	tracker := evictions.New(10*second, func(*evictions.Eviction) { passed++ })
	l := &life{Import: &track.Import{Connection: &track.Connection{}}, t: tracker, now: 1e18}
	at := l.evict(second)
	tracker.Advance(at.Time + 9*second)
	if passed != 0 {
		t.Error("passed on too early")
	}
	tracker.Advance(at.Time + 10*second)
	tracker.Close()
	if passed != 1 {
		t.Errorf("passed on %d times", passed)
	}
}

// What is pending is bounded.
func TestPendingIsBounded(t *testing.T) {
	passed := 0
	tracker := evictions.New(0, func(*evictions.Eviction) { passed++ })
	const many = 5000
	for range many {
		l := &life{Import: &track.Import{Connection: &track.Connection{}}, t: tracker, now: 1e18}
		l.evict(second)
	}
	if passed == 0 {
		t.Error("all are held")
	}
	tracker.Close()
	if passed != many {
		t.Errorf("%d of %d", passed, many)
	}
}
