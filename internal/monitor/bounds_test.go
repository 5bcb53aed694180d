package monitor

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/must"
)

// TestRestartAfterStepBack checks that rules restart each hour also after frames whose times
// were years ahead.
func TestRestartAfterStepBack(t *testing.T) {
	m := New(Options{Live: true, Top: 5, Side: func(*track.RPC) string { return "" }}, time.Now())
	m.Frame(&capture.Frame{Time: time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()})
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for range 3 {
		now = now.Add(time.Hour)
		m.Frame(&capture.Frame{Time: now.UnixNano()})
		m.Publish(now, CaptureStats{})
		assert.Equal(t, time.Unix(0, m.rules.restartAt).Sub(now), time.Duration(restartInterval), now, "the rules restart")
	}
	at := m.rules.restartAt
	m.Frame(&capture.Frame{Time: now.Add(-time.Second).UnixNano()}) // frames of several interfaces are not in order
	m.Publish(now, CaptureStats{})
	assert.Equal(t, m.rules.restartAt, at, "the rules restart when times go back by a second")
}

// newTestDir opens a directory for records without a goroutine.
func newTestDir(t *testing.T, o RecorderOptions) *recordDir {
	t.Helper()
	o.Dir, o.Log = t.TempDir(), t.Logf
	d, err := openRecordDir(o)
	must.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, d.dir.Close())
	})
	return d
}

// TestRotationTime checks that a file is completed at a multiple of the time, and by the monotonic
// clock: a clock that is set back must not keep it open.
func TestRotationTime(t *testing.T) {
	now := time.Now()
	d := newTestDir(t, RecorderOptions{Sensor: "a", Live: true, Rotation: Rotation{Time: time.Hour}})
	d.add(&track.RPC{}, now)
	rotate := d.open.rotate
	assert.That(t, rotate.Equal(now.Truncate(time.Hour).Add(time.Hour)), "a file of %v ends at %v", now, rotate)
	assert.That(t, rotate != rotate.Round(0), "the end of the file is not a time of the monotonic clock")
	d.tick(rotate)
	assert.Equal(t, d.counts.files.Load(), 0, "files are complete too early")
	d.tick(rotate.Add(2 * batchAge))
	assert.Equal(t, d.counts.files.Load(), 1, "files are complete at their end")
}

// TestSettingsInFullQueue checks that new settings are passed on as soon as the queue has room.
func TestSettingsInFullQueue(t *testing.T) {
	r := &Recorder{queue: make(chan *batch, 1), filling: &batch{}}
	r.Set(Rotation{KeepSize: 1})
	r.Add(&track.RPC{}, time.Now())
	r.Set(Rotation{KeepSize: 2})
	assert.Equal(t, r.lostInQueue.Load(), 1, "RPCs are counted as lost")
	<-r.queue
	r.Flush(time.Now())
	select {
	case b := <-r.queue:
		assert.That(t, b.rotate != nil && b.rotate.KeepSize == 2 && len(b.ends) == 0, "%+v", b)
	default:
		t.Error("the last settings are not passed on")
	}
}

// TestUnreadableRecord checks that RPCs that cannot be read back are counted.
func TestUnreadableRecord(t *testing.T) {
	r := must.Value(NewRecorder(RecorderOptions{Dir: t.TempDir(), Sensor: "a", Log: t.Logf}))(t)
	r.Add(&track.RPC{}, time.Now())
	r.filling.bytes = r.filling.bytes[:1]
	r.filling.ends[0] = 1
	r.Add(&track.RPC{}, time.Now())
	must.NoError(t, r.Close())
	s := r.Stats()
	assert.That(t, s.LostOnDisk == 1 && s.Written == 1, "%+v", s)
}

// TestSensorInFileNames checks names of hosts that cannot be in names of files.
func TestSensorInFileNames(t *testing.T) {
	for sensor, name := range map[string]string{
		"../a/b*\n": ".._a_b__",
		"a*b":       "a_b",
		"ä\n":       "__",
		"":          "",
	} {
		d := newTestDir(t, RecorderOptions{Sensor: sensor})
		d.add(&track.RPC{}, time.Date(2026, 11, 22, 0, 0, 30, 0, time.UTC))
		d.complete()
		files, err := filepath.Glob(filepath.Join(d.opt.Dir, "lshark-rpcs-*"))
		if want := "lshark-rpcs-" + name + "-20261122T000030Z.parquet"; err != nil || len(files) != 1 || filepath.Base(files[0]) != want {
			t.Errorf("%q: %q, %v, want %s", sensor, files, err, want)
		}
	}
}

// TestTimeGoesBack checks that RPCs are written in time after the clock was set back.
func TestTimeGoesBack(t *testing.T) {
	m := New(Options{Live: true, Top: 5, Side: func(*track.RPC) string { return "" }}, time.Unix(1e9, 0))
	r := &Recorder{queue: make(chan *batch, 1), filling: &batch{}}
	m.SetOutputs(Outputs{Recorder: r})
	m.Publish(time.Unix(1e8, 0), CaptureStats{})
	m.done(&track.RPC{})
	m.Publish(time.Unix(1e8+2, 0), CaptureStats{})
	assert.Equal(t, len(r.queue), 1, "the RPC waits until the clock has caught up")
}

// TestStartTimeIsConstant checks that a clock that is adjusted does not look like a
// restart.
func TestStartTimeIsConstant(t *testing.T) {
	now := time.Unix(1795334400, 0)
	m := New(Options{Live: true, Top: 1}, now)
	started := now
	m.OnCollect(func() Health {
		started = started.Add(3 * time.Microsecond)
		return Health{Process: Process{Started: started}}
	})
	first := unixSeconds(now.Add(3 * time.Microsecond))
	var s metrics.Snapshot
	for range 3 {
		m.Registry().Snapshot(&s)
		for _, f := range s.Families {
			if f.Name == "process_start_time_seconds" && (len(f.Points) != 1 || f.Points[0].Value != first) {
				t.Errorf("%s is %+v, want %v", f.Name, f.Points, first)
			}
		}
	}
}

// TestClockSetBackRules checks that the rules restart after frames with a time far ahead:
// else their memory would grow for years.
func TestClockSetBackRules(t *testing.T) {
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	m := New(Options{Live: true, Top: 5, Side: func(*track.RPC) string { return "" }}, now)
	m.Frame(&capture.Frame{Time: now.AddDate(10, 0, 0).UnixNano()})
	restarts, at := 0, m.rules.restartAt
	for range 10 {
		now = now.Add(30 * time.Minute)
		m.Frame(&capture.Frame{Time: now.UnixNano()})
		m.Publish(now, CaptureStats{})
		if m.rules.restartAt != at {
			restarts, at = restarts+1, m.rules.restartAt
		}
	}
	assert.Equal(t, restarts, 5, "restarts in 5 hours")
}

// TestSettingsWhenBusy checks that settings are applied for which the queue was too full.
func TestSettingsWhenBusy(t *testing.T) {
	busy := make(chan struct{})
	free := func(string) (int64, error) { <-busy; return 1 << 40, nil }
	r := must.Value(NewRecorder(RecorderOptions{Dir: t.TempDir(), Sensor: "a", Log: t.Logf, Free: free}))(t)
	r.Add(&track.RPC{}, time.Now())
	for i := range maxBatches + 5 {
		r.Set(Rotation{KeepSize: int64(i + 1)})
	}
	must.That(t, r.filling.rotate != nil, "the queue is not full")
	close(busy)
	for r.filling.rotate != nil {
		r.Flush(time.Now())
	}
	must.NoError(t, r.Close())
	assert.Equal(t, r.dir.opt.KeepSize, maxBatches+5, "the settings are number")
}
