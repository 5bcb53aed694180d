package outdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

// TestLockLink checks that no file is created behind a link that somebody else has put into
// the directory.
func TestLockLink(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	must.NoError(t, os.Symlink(other, filepath.Join(dir, LockName)))
	d := Dir{Path: dir, Prefix: "lshark-rpcs-", Suffix: ".parquet", Log: t.Logf}
	if err := d.Open("a"); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(other); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}
