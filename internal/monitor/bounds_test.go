package monitor

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

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
	assert.Equal(t, d.stats.Files, 0, "files are complete too early")
	d.tick(rotate.Add(2 * batchAge))
	assert.Equal(t, d.stats.Files, 1, "files are complete at their end")
}

// TestSettingsInFullQueue checks that new settings are passed on as soon as the queue has room.
func TestSettingsInFullQueue(t *testing.T) {
	r := &Recorder{queue: make(chan *batch, 1), filling: &batch{}, dir: &recordDir{}}
	r.Set(Rotation{KeepSize: 1})
	r.Add(&track.RPC{}, time.Now())
	r.Set(Rotation{KeepSize: 2})
	assert.Equal(t, r.Stats().LostInQueue, 1, "RPCs are counted as lost")
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
	r := &Recorder{queue: make(chan *batch, 1), filling: &batch{}, dir: &recordDir{}}
	m.Outputs.Recorder = r
	m.Publish(time.Unix(1e8, 0), false)
	m.done(&track.RPC{})
	m.Publish(time.Unix(1e8+2, 0), false)
	assert.Equal(t, len(r.queue), 1, "the RPC waits until the clock has caught up")
}

// TestRestartEachHour checks that the rules restart each hour, also after frames with a time far
// ahead: else their memory would grow for years.
func TestRestartEachHour(t *testing.T) {
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	m := New(Options{Live: true, Top: 5, Side: func(*track.RPC) string { return "" }}, now)
	m.Frame(&capture.Frame{Time: now.AddDate(10, 0, 0).UnixNano()})
	restarts, at := 0, m.restartedAt
	for range 10 {
		now = now.Add(30 * time.Minute)
		m.Frame(&capture.Frame{Time: now.UnixNano()})
		m.Publish(now, false)
		if m.restartedAt != at {
			restarts, at = restarts+1, m.restartedAt
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
