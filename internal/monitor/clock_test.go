package monitor

import (
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/must"
)

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
	if restarts != 5 {
		t.Errorf("%d restarts in 5 hours", restarts)
	}
}

// TestClockSetBackFiles checks that files are completed when the clock is set back.
func TestClockSetBackFiles(t *testing.T) {
	now := time.Now() // with a reading of the monotonic clock, as in a live capture
	d, err := openRecordDir(RecorderOptions{Dir: t.TempDir(), Sensor: "a", Log: t.Logf, Live: true, Rotation: Rotation{Time: time.Minute}})
	must.NoError(t, err)
	d.add(&track.RPC{}, now.Add(24*time.Hour))
	for i := range 10 {
		d.add(&track.RPC{}, now.Add(time.Duration(i)*time.Second))
	}
	if n := d.counts.files.Load(); n < 1 || n > 2 {
		t.Errorf("%d files", n)
	}
	d.add(&track.RPC{}, now.Add(24*time.Hour))
	d.tick(now.Round(0))
	if d.open != nil {
		t.Error("a file stays open that begins a day later")
	}
	d.close()
	if n := d.counts.written.Load(); n != 12 || d.counts.lost.Load() != 0 {
		t.Errorf("%d records are written", n)
	}
	if err := d.unlock(); err != nil {
		t.Error(err)
	}
}

// TestSettingsWhenBusy checks that settings are applied for which the queue was too full.
func TestSettingsWhenBusy(t *testing.T) {
	busy := make(chan struct{})
	free := func(string) (int64, error) { <-busy; return 1 << 40, nil }
	r, err := NewRecorder(RecorderOptions{Dir: t.TempDir(), Sensor: "a", Log: t.Logf, Free: free})
	must.NoError(t, err)
	r.Add(&track.RPC{}, time.Now())
	for i := range maxBatches + 5 {
		r.Set(Rotation{KeepSize: int64(i + 1)})
	}
	if r.filling.rotate == nil {
		t.Fatal("the queue is not full")
	}
	close(busy)
	for r.filling.rotate != nil {
		r.Flush(time.Now())
	}
	must.NoError(t, r.Close())
	if got := r.dir.opt.KeepSize; got != maxBatches+5 {
		t.Errorf("the settings are number %d", got)
	}
}
