package evictions

import (
	"testing"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/assert"
)

const second = int64(1e9)

// evicted makes an eviction that is pending.
func (t *Tracker) evicted(o track.Outage, now uint32) *Eviction {
	o.Evicted = track.Point{Frame: 99, Time: 1e18}
	e := &Eviction{Connection: &track.Connection{Target: "lustre-OST0000"}, At: o.Evicted, Outage: &o, Instance: now}
	t.add(e)
	return e
}

// keep ends a lock of the evicted client, which was asked for it some time before.
func (t *Tracker) keep(e *Eviction, before int64) {
	t.Lock(&locks.Lock{Connection: e.Connection, Last: e.At.Time, End: locks.End{How: locks.Evicted, Point: e.At},
		Callbacks: []locks.Callback{{Kind: locks.Blocking, Sent: track.Point{Frame: 1, Time: e.At.Time - before}, Missing: track.Unanswered}}})
}

func TestCauses(t *testing.T) {
	seen := track.Point{Frame: 9, Time: 1e18 - second}
	for name, tt := range map[string]struct {
		outage track.Outage
		now    uint32 // instance
		kept   int64  // nanoseconds before, a lock; 0: none
		want   Cause
	}{
		"pings":                     {track.Outage{Silence: 5 * second, Interval: 5 * second}, 0, 0, Unknown},
		"silence":                   {track.Outage{Silence: 40 * second, Interval: 5 * second}, 0, 0, Silence},
		"less than silent":          {track.Outage{Silence: 20 * second}, 0, 0, Unknown},
		"rare pings":                {track.Outage{Silence: 40 * second, Interval: 20 * second}, 0, 0, Unknown},
		"another instance":          {track.Outage{Silence: 40 * second, Before: 3}, 4, 0, Recovery},
		"target was absent":         {track.Outage{Absent: seen, Silence: 40 * second}, 0, 0, Recovery},
		"in recovery":               {track.Outage{Recovering: seen}, 0, 0, Recovery},
		"an object had changed":     {track.Outage{Recovering: seen, Mismatches: 1}, 0, 0, Version},
		"denied":                    {track.Outage{Status: -13, Absent: seen}, 0, 0, Denied},
		"kept a lock":               {track.Outage{Silence: 40 * second}, 0, 6 * second, LockCallback},
		"asked for a lock just now": {track.Outage{}, 0, 2 * second, Unknown},
		"kept a lock, short pings":  {track.Outage{Interval: second / 2}, 0, 2 * second, LockCallback},
		"silence, short pings":      {track.Outage{Silence: 4 * second, Interval: second / 2}, 0, 0, Silence},
		"2 short pings":             {track.Outage{Silence: second, Interval: second / 2}, 0, 0, Unknown},
	} {
		var list []*Eviction
		tracker := New(track.NewImports(), 0, func(e *Eviction) { list = append(list, e) })
		e := tracker.evicted(tt.outage, tt.now)
		if tt.kept != 0 {
			tracker.keep(e, tt.kept)
		}
		if tracker.Close(); len(list) != 1 || list[0].Cause != tt.want || list[0].Target != "lustre-OST0000" {
			t.Errorf("%s: %+v, want cause %v", name, list, tt.want)
		}
		assert.Equal(t, e.Recent != nil, tt.kept != 0 && tt.want == Unknown, name, "has a callback that was pending too shortly")
	}
}

// The log of the server decides, but of replays that failed it only says that the client has not recovered.
func TestByLog(t *testing.T) {
	for _, tt := range []struct {
		line       debuglog.Reason
		seen, want Cause
	}{
		{debuglog.ByAdmin, Version, Admin},
		{debuglog.NoReason, Silence, Recovery},
		{debuglog.NoReason, Version, Version},
	} {
		assert.Equal(t, byLog(tt.line, tt.seen), tt.want, tt)
	}
}

// A client that was let into a recovery may have recovered where bytes are missing.
func TestLossInRecovery(t *testing.T) {
	imports := track.NewImports()
	imports.Lost(&lnet.Loss{From: 1e18 - second/2, To: 1e18 - second/2})
	var got *Eviction
	tracker := New(imports, 0, func(e *Eviction) { got = e })
	tracker.evicted(track.Outage{Recovering: track.Point{Frame: 9, Time: 1e18 - second}}, 0)
	if tracker.Close(); got.Cause != Unknown || !got.IsLossy {
		t.Errorf("%+v", got)
	}
}

// What may have been sent before the capture began is no loss of the capture: it only began too late.
func TestBeforeTheCapture(t *testing.T) {
	imports := track.NewImports()
	imports.Lost(&lnet.Loss{From: 1e18 - 9*second, To: 1e18 - 9*second, Why: lnet.BeforeFile})
	var got *Eviction
	tracker := New(imports, 0, func(e *Eviction) { got = e })
	tracker.evicted(track.Outage{}, 0)
	if tracker.Close(); got.Cause != Unknown || got.IsLossy {
		t.Errorf("%+v", got)
	}
}

// An eviction is passed on once, when its locks have had time to end.
func TestLinger(t *testing.T) {
	passed := 0
	tracker := New(track.NewImports(), 10*second, func(*Eviction) { passed++ })
	at := tracker.evicted(track.Outage{}, 0).At
	tracker.Advance(at.Time + 9*second)
	assert.Equal(t, passed, 0, "passed on too early")
	tracker.Advance(at.Time + 10*second)
	tracker.Close()
	assert.Equal(t, passed, 1, "passed on times")
}

// What is pending is bounded.
func TestPendingIsBounded(t *testing.T) {
	passed := 0
	tracker := New(track.NewImports(), 0, func(*Eviction) { passed++ })
	const many = 5000
	for range many {
		tracker.evicted(track.Outage{}, 0)
	}
	assert.That(t, passed != 0, "all are held")
	tracker.Close()
	assert.Equal(t, passed, many)
}
