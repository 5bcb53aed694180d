package monitor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/track"
)

// TestLockLink checks that no file is created behind a link that somebody else has put into
// the directory.
func TestLockLink(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	if err := os.Symlink(other, filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	if _, err := NewRecorder(RecorderOptions{Dir: dir, Sensor: "a", Log: t.Logf}); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(other); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

// TestSensorNames checks that any name of a host can be part of the name of a file.
func TestSensorNames(t *testing.T) {
	for _, sensor := range []string{"../a", "a*b", "ä\n", ""} {
		dir := t.TempDir()
		r, err := NewRecorder(RecorderOptions{Dir: dir, Sensor: sensor, Log: t.Logf})
		if err != nil {
			t.Fatal(err)
		}
		r.Add(&track.RPC{}, time.Now())
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "lshark-rpcs-*.parquet"))
		if err != nil || len(files) != 1 || !r.dir.isOwn(filepath.Base(files[0]), filePrefix, fileSuffix) {
			t.Errorf("%q: %q, %v; %+v", sensor, files, err, r.Stats())
		}
	}
}
