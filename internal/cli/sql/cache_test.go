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
// enough for their hashes to be kept.
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
	return must.Value(c.key(path, settings))(t)
}

// TestKey checks that a capture is known by its content, whatever its name and times are.
func TestKey(t *testing.T) {
	c, dir := newCache(t), t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, a, "content")
	write(t, b, "content")
	first := key(t, c, a, "")
	assert.Equal(t, key(t, c, a, ""), first, "the key changed")
	assert.Equal(t, key(t, c, b, ""), first, "a copy has another key")
	assert.That(t, key(t, c, a, "--port") != first, "other flags have the same key")
	next := *c
	next.release = "2"
	assert.That(t, key(t, &next, a, "") != first, "another release has the same key")
	info := must.Value(os.Stat(a))(t)
	write(t, a, "CONTENT")
	must.NoError(t, os.Chtimes(a, info.ModTime(), info.ModTime()))
	assert.That(t, key(t, c, a, "") != first, "other content of the same size and time has the same key")
}

// TestFreshFile checks that the hash of a file that was changed just now is not kept: it may change
// again without another time.
func TestFreshFile(t *testing.T) {
	c := newCache(t)
	c.now = time.Now
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "content")
	key(t, c, path, "")
	kept, _ := os.ReadDir(filepath.Join(c.folder, contentsFolder))
	assert.That(t, len(kept) == 0, "%d hashes are kept", len(kept))
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

// TestForeignContent checks that a file is not used that is not what was made, and a cache
// that others can write not at all.
func TestForeignContent(t *testing.T) {
	c, dir := newCache(t), t.TempDir()
	path, made := filepath.Join(dir, "a"), filepath.Join(dir, "made")
	write(t, path, "content")
	write(t, made, "rows")
	k := key(t, c, path, "")
	result := must.Value(c.add(k, rpcsTable, made, path, nil))(t)
	_, _, ok := c.find(k, rpcsTable, path)
	assert.That(t, ok, "not found")
	write(t, result, "ROWS")
	if _, _, ok := c.find(k, rpcsTable, path); ok {
		t.Error("found with other content")
	}
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
		must.NoError(t, os.Chtimes(filepath.Join(c.folder, parquetFolder, keys[i], captureFile), at, at))
	}
	list, err := c.entries()
	must.That(t, err == nil && len(list) == 3 && filepath.Base(list[2].Capture) == "older", "%v, %v", list, err)
	must.NoError(t, c.prune(list[0].Size+list[1].Size))
	for i, want := range []bool{true, false, true} {
		if _, err := os.Stat(filepath.Join(c.folder, parquetFolder, keys[i])); (err == nil) != want {
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
