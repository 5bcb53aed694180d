package sql

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
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

func key(t *testing.T, c *cache, path, settings string) string {
	t.Helper()
	return c.entry(must.Value(fileState(path))(t), []string{settings})
}

// TestKey checks that a capture is known by its name, size and time.
func TestKey(t *testing.T) {
	c, path := newCache(t), filepath.Join(t.TempDir(), "a")
	write(t, path, "content")
	first := key(t, c, path, "")
	assert.Equal(t, key(t, c, path, ""), first, "the key changed")
	assert.That(t, key(t, c, path, "--port") != first, "other flags have the same key")
	next := *c
	next.release = "2"
	assert.That(t, key(t, &next, path, "") != first, "another release has the same key")
	info := must.Value(os.Stat(path))(t)
	write(t, path, "longer content")
	must.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	assert.That(t, key(t, c, path, "") != first, "another size has the same key")
	write(t, path, "CONTENT")
	at := info.ModTime().Add(time.Millisecond)
	must.NoError(t, os.Chtimes(path, at, at))
	assert.That(t, key(t, c, path, "") != first, "another time has the same key")
}

// TestDamage checks that the cache remembers the damage of a capture.
func TestDamage(t *testing.T) {
	c, dir := newCache(t), t.TempDir()
	path, made := filepath.Join(dir, "a"), filepath.Join(dir, "made")
	write(t, path, "content")
	write(t, made, "rows")
	k := key(t, c, path, "")
	if _, _, ok := c.find(k, rpcsTable, path); ok {
		t.Fatal("found before it was made")
	}
	result := must.Value(c.add(k, rpcsTable, made, path, &capture.DamageError{File: path, Offset: 5, Cause: "cut"}))(t)
	found, damaged, ok := c.find(k, rpcsTable, "other")
	assert.That(t, ok && found == result && damaged != nil && damaged.Error() == "other: byte 5: cut", "%s, %v, %v", found, damaged, ok)
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
		path, made := filepath.Join(dir, name), filepath.Join(dir, "made")
		write(t, path, name)
		write(t, made, "0123456789")
		keys = append(keys, key(t, c, path, ""))
		if _, err := c.add(keys[i], rpcsTable, made, path, nil); err != nil {
			t.Fatal(err)
		}
		at := c.now().Add(-time.Duration([]int{24, 48, 0}[i]) * time.Hour)
		must.NoError(t, os.Chtimes(filepath.Join(keys[i], captureFile), at, at))
	}
	list, err := c.entries()
	must.That(t, err == nil && len(list) == 3 && filepath.Base(list[2].Capture) == "older", "%v, %v", list, err)
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
