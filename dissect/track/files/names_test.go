package files

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// fid makes the FID with a number.
func fid(n uint32) track.FID { return track.FID{Seq: 0x200000401, OID: n} }

// tree is a Files that learns names.
type tree struct {
	*Files
	t *testing.T
}

func newTree(t *testing.T) tree { return tree{New(), t} }

func (w tree) add(dir track.FID, name string, file track.FID) { w.learn(dir, []byte(name), file) }

func (w tree) mv(dir track.FID, name string, newDir track.FID, newName string) {
	w.Files.rename(dir, []byte(name), newDir, []byte(newName))
}

// path checks the path of a file.
func (w tree) path(file track.FID, want string) {
	w.t.Helper()
	f := w.File(file)
	if f == nil {
		w.t.Fatalf("%v is unknown, want %s", file, want)
	}
	if got := f.Path(); got != want {
		w.t.Errorf("path of %v is %q, want %q", file, got, want)
	}
}

func TestPaths(t *testing.T) {
	w := newTree(t)
	root := w.root
	w.add(fid(1), "name", fid(2))
	w.path(fid(2), "…/name")
	w.path(fid(1), "")
	w.add(root, "dir", fid(1))
	w.path(fid(2), "/dir/name")
	w.path(fid(1), "/dir")
	assert.Equal(t, w.File(fid(2)).Dir(), "/dir", "directory")
	assert.Equal(t, w.File(fid(1)).Dir(), "/", "directory")
	w.add(fid(1), ".", fid(1))
	w.add(fid(1), "..", root)
	w.add(fid(1), "", fid(3))
	w.path(root, "/")
	assert.That(t, w.File(fid(3)) == nil, "a file without a name")
	w.add(root, "0x200000401:0x2:0x0", fid(2))
	w.add(byFID, "0x200000401:0x9:0x0", fid(9))
	w.path(fid(2), "/dir/name")
	assert.That(t, w.File(fid(9)) == nil, "a name in .lustre/fid is part of a path")
}

func TestHardLinks(t *testing.T) {
	w := newTree(t)
	w.add(w.root, "a", fid(1))
	w.add(w.root, "b", fid(1))
	w.path(fid(1), "/a")
	assert.Slice(t, w.File(fid(1)).Links(), []string{"/b"}, "links")
	w.forget(w.root, []byte("a"))
	w.path(fid(1), "/b")
	w.now = 5
	w.forget(w.root, []byte("b"))
	w.path(fid(1), "/b") // its last path
	assert.That(t, !w.File(fid(1)).hasName(), "a removed file has a name")
	for i := range 9 {
		w.add(w.root, fmt.Sprint("l", i), fid(2))
	}
	assert.Equal(t, len(w.File(fid(2)).names), maxNames, "names are kept")
	if w.entry(w.root, []byte("l8")) == nil || w.entry(w.root, []byte("l5")) != nil {
		t.Error("a forgotten name is found, or a new one is not")
	}
}

func TestRenames(t *testing.T) {
	w := newTree(t)
	w.add(w.root, "d", fid(1))
	w.add(fid(1), "f", fid(2))
	w.mv(w.root, "d", w.root, "e")
	w.path(fid(2), "/e/f")
	w.add(w.root, "target", fid(3))
	w.mv(fid(1), "f", w.root, "target")
	w.path(fid(2), "/target")
	w.path(fid(3), "/target") // its last name
	if f := w.File(fid(2)); f.Former() != "/e/f" || len(f.names) != 1 || w.File(fid(3)).hasName() {
		t.Errorf("former %s, names %v", f.Former(), f.names)
	}
	w.mv(w.root, "target", w.root, "target")
	w.path(fid(2), "/target")
	// What was renamed is unknown, so is what the new name stands for.
	w.mv(w.root, "unknown", w.root, "target")
	assert.That(t, w.entry(w.root, []byte("target")) == nil, "the name stands for the file before")
	// Another client has seen the new name before the reply to the rename.
	w.add(w.root, "old", fid(6))
	w.add(w.root, "new", fid(6))
	w.mv(w.root, "old", w.root, "new")
	w.forget(w.root, []byte("new"))
	w.path(fid(6), "/new")
	// Of two names the renamed one keeps its place.
	w.add(w.root, "x", fid(5))
	w.add(w.root, "y", fid(5))
	w.mv(w.root, "x", w.root, "z")
	w.path(fid(5), "/z")
	assert.Slice(t, w.File(fid(5)).Links(), []string{"/y"}, "links")
}

func TestStripes(t *testing.T) {
	w := newTree(t)
	w.add(w.root, "dir", fid(1))
	w.add(fid(1), "[0x200000401:0xa:0x0]:0", fid(0xa))
	w.addStripe(fid(1), fid(0xb))
	w.add(fid(0xa), "one", fid(2))
	w.add(fid(0xb), "two", fid(3))
	w.path(fid(2), "/dir/one")
	w.path(fid(3), "/dir/two")
	w.path(fid(0xa), "/dir")
	// The name moves to another stripe; it is the same name.
	w.add(fid(0xb), "one", fid(2))
	f := w.File(fid(2))
	assert.That(t, len(f.names) == 1, "names %v", f.names)
	// The directory becomes a stripe of another one that takes its name.
	w.add(w.root, "dir", fid(4))
	w.addStripe(fid(4), fid(1))
	w.path(fid(2), "/dir/one")
	// A name that looks like that of a stripe, but is not of that object.
	w.add(fid(4), "[0x200000401:0xa:0x0]:0", fid(7))
	w.path(fid(7), "/dir/[0x200000401:0xa:0x0]:0")
}

// TestLoops: directories that contain each other have no path that is whole, and
// no path takes long.
func TestLoops(t *testing.T) {
	w := newTree(t)
	w.add(fid(1), "a", fid(2))
	w.add(fid(2), "b", fid(1))
	for _, f := range []track.FID{fid(1), fid(2)} {
		path := w.File(f).Path()
		assert.That(t, strings.HasPrefix(path, unknownDir), "path %.40s", path)
	}
	w.addStripe(fid(5), fid(6))
	w.addStripe(fid(6), fid(5))
	w.addStripe(fid(5), fid(5))
	w.path(fid(6), "")
	for i := uint32(10); i < 60; i++ {
		for name := range 4 {
			w.add(fid(i), fmt.Sprint(name), fid(i+1))
		}
	}
	assert.Equal(t, strings.Count(w.File(fid(60)).Path(), "/"), 50, "path")
}

// TestNamesAreBounded: files that only have names are forgotten, directories last.
func TestNamesAreBounded(t *testing.T) {
	w := newTree(t)
	w.limits.named = 100
	w.add(w.root, "dir", fid(1))
	for i := uint32(2); i < 5000; i++ {
		w.add(fid(1), fmt.Sprint(i), fid(i))
		w.now++
	}
	assert.That(t, len(w.files) <= 101 && len(w.entries) <= 101, "%d files, %d names", len(w.files), len(w.entries))
	w.path(fid(4999), "/dir/4999")
	assert.Equal(t, w.File(fid(1)).children, int32(len(w.files)-2), "names in the directory files")
}

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		name string
		at   []uint64 // starts of ranges of 4096 bytes, in pages
		want Pattern
	}{
		{"none", nil, Unknown},
		{"one at the beginning", []uint64{0}, Sequential},
		{"one elsewhere", []uint64{7}, Unknown},
		{"one after the other", []uint64{7, 8, 9, 10}, Sequential},
		{"overtaken", []uint64{0, 2, 1, 3, 5, 4, 6}, Sequential},
		{"two at once", []uint64{0, 1000, 1, 1001, 2, 1002, 3, 1003}, Sequential},
		{"strided", []uint64{0, 4, 8, 12, 16, 20}, Strided},
		{"backwards, strided", []uint64{100, 96, 92, 88, 84}, Strided},
		{"random", []uint64{0, 77, 13, 1000, 3, 512, 42}, Random},
	} {
		var a Accesses
		var s stream
		for _, page := range tt.at {
			s.add(&a, accessRange{page * 4096, page*4096 + 4096})
		}
		got := a.Pattern()
		assert.That(t, got == tt.want && a.Unaligned == 0, "%s: %v, %+v", tt.name, got, a)
	}
}

func TestTypicalSize(t *testing.T) {
	var x Transfer
	_, ok := x.TypicalSize()
	assert.That(t, !ok, "a size of nothing")
	for i := range int64(1000) {
		x.addSize(1<<20, 1)
		x.addSize(4096+i, 1) // many rare ones
	}
	if n, ok := x.TypicalSize(); n != 1<<20 || !ok {
		t.Errorf("size %d", n)
	}
}

// TestMerge: what was done with an object before its file was known counts for the
// file.
func TestMerge(t *testing.T) {
	w := newTree(t)
	o := w.objectOn(track.FID{Seq: 0x2c0000401, OID: 5}, nil)
	own := w.activity(w.owner(o))
	own.RPCs, own.First, own.Last = 3, 10, 20
	own.Read.RPCs, own.Read.Bytes = 3, 300
	own.Count[Read] = 3
	own.addErrors(-5, 1)
	u := own.user(&UserKey{Client: lnet.NID{Len: 4}, HasJob: true}, []byte("cp.0"))
	u.RPCs, u.ReadBytes = 3, 300
	list := w.List()
	must.That(t, len(list) == 1 && list[0].Kind() == "object", "files %v", list)
	f := w.file(fid(1))
	w.activity(f).RPCs = 1
	w.setFile(o, fid(1))
	w.setFile(o, fid(1))
	if list := w.List(); len(list) != 1 || list[0] != f || w.Dropped != 0 {
		t.Fatalf("files %v", list)
	}
	if f.RPCs != 4 || f.Read.Bytes != 300 || f.Count[Read] != 3 || f.First != 10 || f.Last != 20 || len(f.Errors) != 1 || f.Users[0].Job != "cp.0" || f.Users[0].ReadBytes != 300 {
		t.Errorf("activity %+v", f.Activity)
	}
}
