package monitor

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/track"
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
		if d := time.Unix(0, m.rules.restartAt).Sub(now); d != time.Duration(restartInterval) {
			t.Errorf("at %v the rules restart in %v", now, d)
		}
	}
	at := m.rules.restartAt
	m.Frame(&capture.Frame{Time: now.Add(-time.Second).UnixNano()}) // frames of several interfaces are not in order
	m.Publish(now, CaptureStats{})
	if m.rules.restartAt != at {
		t.Error("the rules restart when times go back by a second")
	}
}

// newTestDir opens a directory for records without a goroutine.
func newTestDir(t *testing.T, o RecorderOptions) *recordDir {
	t.Helper()
	o.Dir, o.Log = t.TempDir(), t.Logf
	d, err := openRecordDir(o)
	must.NoError(t, err)
	t.Cleanup(func() {
		if err := d.unlock(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestRotationAfterStepBack checks that a file that is open is completed when the clock is
// set back, by a record and by the time.
func TestRotationAfterStepBack(t *testing.T) {
	now := time.Now() // with a monotonic reading
	d := newTestDir(t, RecorderOptions{Sensor: "a", Live: true, Rotation: Rotation{Time: 1000 * time.Hour}})
	d.add(&track.RPC{}, now)
	d.add(&track.RPC{}, now.Add(-time.Second))
	d.tick(now)
	if n := d.counts.files.Load(); n != 0 {
		t.Errorf("%d files are complete too early", n)
	}
	if begun := d.open.begun; begun != begun.Round(0) {
		t.Error("a monotonic clock does not show that the clock was set back")
	}
	now = now.Add(-24 * time.Hour)
	d.add(&track.RPC{}, now)
	if n := d.counts.files.Load(); n != 1 {
		t.Errorf("%d files are complete after a record of the day before", n)
	}
	d.tick(now.Add(-24 * time.Hour))
	if n := d.counts.files.Load(); n != 2 {
		t.Errorf("%d files are complete at the time of the day before", n)
	}
}

// TestSettingsInFullQueue checks that new settings are passed on as soon as the queue has room.
func TestSettingsInFullQueue(t *testing.T) {
	r := &Recorder{queue: make(chan *batch, 1), filling: &batch{}}
	r.Set(Rotation{KeepSize: 1})
	r.Add(&track.RPC{}, time.Now())
	r.Set(Rotation{KeepSize: 2})
	if n := r.lostInQueue.Load(); n != 1 {
		t.Errorf("%d RPCs are counted as lost", n)
	}
	<-r.queue
	r.Flush(time.Now())
	select {
	case b := <-r.queue:
		if b.rotate == nil || b.rotate.KeepSize != 2 || len(b.ends) != 0 {
			t.Errorf("%+v", b)
		}
	default:
		t.Error("the last settings are not passed on")
	}
}

// TestUnreadableRecord checks that RPCs that cannot be read back are counted.
func TestUnreadableRecord(t *testing.T) {
	r, err := NewRecorder(RecorderOptions{Dir: t.TempDir(), Sensor: "a", Log: t.Logf})
	must.NoError(t, err)
	r.Add(&track.RPC{}, time.Now())
	r.filling.bytes = r.filling.bytes[:1]
	r.filling.ends[0] = 1
	r.Add(&track.RPC{}, time.Now())
	must.NoError(t, r.Close())
	if s := r.Stats(); s.LostOnDisk != 1 || s.Written != 1 {
		t.Errorf("%+v", s)
	}
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
		if want := "lshark-rpcs-" + name + "-20261122T000030Z.parquet"; err != nil || len(files) != 1 || filepath.Base(files[0]) != want || !d.isOwn(want, filePrefix, fileSuffix) {
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
	if len(r.queue) != 1 {
		t.Error("the RPC waits until the clock has caught up")
	}
}
