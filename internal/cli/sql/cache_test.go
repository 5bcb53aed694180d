package sql

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// newCache returns a cache whose clock is an hour ahead, so that files of the test are old
// enough to be removed.
func newCache(t *testing.T) *cache {
	t.Helper()
	return &cache{folder: t.TempDir(), release: "1", now: func() time.Time { return time.Now().Add(time.Hour) }}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func use(t *testing.T, c *cache, path string, flags ...string) string {
	t.Helper()
	return must.Value(c.use(path, flags))(t)
}

// TestKey checks that a capture is known by its name, size and time.
func TestKey(t *testing.T) {
	c, path := newCache(t), filepath.Join(t.TempDir(), "a")
	write(t, path, "content")
	first := use(t, c, path)
	assert.Equal(t, use(t, c, path), first, "the key changed")
	assert.That(t, use(t, c, path, "--port") != first, "other flags have the same key")
	next := *c
	next.release = "2"
	assert.That(t, use(t, &next, path) != first, "another release has the same key")
	info := must.Value(os.Stat(path))(t)
	write(t, path, "longer content")
	must.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	assert.That(t, use(t, c, path) != first, "another size has the same key")
	write(t, path, "CONTENT")
	at := info.ModTime().Add(time.Millisecond)
	must.NoError(t, os.Chtimes(path, at, at))
	assert.That(t, use(t, c, path) != first, "another time has the same key")
}

// TestForeignCache checks that a cache that others can write is not used.
func TestForeignCache(t *testing.T) {
	c := newCache(t)
	must.NoError(t, os.MkdirAll(filepath.Join(c.folder, parquetFolder), 0o700))
	assert.NoError(t, c.check())
	if runtime.GOOS == "windows" {
		return
	}
	must.NoError(t, os.Chmod(filepath.Join(c.folder, parquetFolder), 0o777))
	assert.That(t, c.check() != nil, "a cache that others can write is used")
}

// TestPrune checks that the entries that were not used for longest go first, that those in use stay,
// and that everything goes with clear.
func TestPrune(t *testing.T) {
	c, dir := newCache(t), t.TempDir()
	var keys []string
	for i, name := range []string{"old", "older", "used"} {
		path := filepath.Join(dir, name)
		write(t, path, name)
		keys = append(keys, use(t, c, path))
		write(t, filepath.Join(keys[i], rpcsTable+".parquet"), "0123456789")
		at := c.now().Add(-time.Duration([]int{24, 48, 0}[i]) * time.Hour)
		must.NoError(t, os.Chtimes(filepath.Join(keys[i], captureFile), at, at))
	}
	list, err := c.entries()
	must.That(t, err == nil && len(list) == 3 && filepath.Base(list[2].capture) == "older", "%v, %v", list, err)
	must.NoError(t, c.prune(list[0].size+list[1].size))
	for i, want := range []bool{true, false, true} {
		if _, err := os.Stat(keys[i]); (err == nil) != want {
			t.Errorf("entry %d: there: %v", i, err == nil)
		}
	}
	must.NoError(t, c.prune(0))
	if list, err = c.entries(); err != nil || len(list) != 1 {
		t.Errorf("%d entries are left, %v", len(list), err)
	}
	must.NoError(t, c.clear())
	if list, err = c.entries(); err != nil || len(list) != 0 {
		t.Errorf("%d entries are left, %v", len(list), err)
	}
}
