package monitor

import (
	"os"
	"path/filepath"
	"testing"
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
