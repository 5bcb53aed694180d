package iostreams_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/must"
)

// TestFile checks that a file is complete or as it was before.
func TestFile(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "out")
		write := func(text string, complete bool) {
			t.Helper()
			f := must.Value(iostreams.CreateFile(path, inPlace))(t)
			if _, err := f.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			assert.NoError(t, f.End(complete))
		}
		check := func(want ...string) {
			t.Helper()
			list := must.Value(os.ReadDir(filepath.Dir(path)))(t)
			var got []string
			for _, e := range list {
				text := must.ReadFile(t, filepath.Join(filepath.Dir(path), e.Name()))
				got = append(got, e.Name()+": "+string(text))
			}
			assert.That(t, len(got) == len(want) && (len(want) <= 0 || got[0] == want[0]), "in place %v: %q, want %q", inPlace, got, want)
		}
		write("one", false)
		check()
		write("two", true)
		check("out: two")
		if !inPlace {
			write("three", false)
			check("out: two")
		}
		write("four", true)
		check("out: four")
	}
}

// TestFileMode checks that the umask says for whom a new file is, and that one that replaces
// another has its mode.
func TestFileMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes here")
	}
	ordinary := must.Value(os.Create(filepath.Join(t.TempDir(), "ordinary")))(t)
	byUmask := must.Value(ordinary.Stat())(t).Mode().Perm()
	must.NoError(t, ordinary.Close())
	for _, before := range []fs.FileMode{0, 0o600, 0o640, 0o664} {
		path := filepath.Join(t.TempDir(), "out")
		want := byUmask
		if before != 0 {
			want = before
			must.NoError(t, errors.Join(os.WriteFile(path, nil, before), os.Chmod(path, before)))
		}
		f := must.Value(iostreams.CreateFile(path, false))(t)
		must.NoError(t, f.End(true))
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("replaces %o: mode %o, %v", before, info.Mode().Perm(), err)
		}
	}
}

// TestFileTwice checks that two processes can write a file at the same time: each result is
// complete, and the last one stays.
func TestFileTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	for _, text := range []string{"one", "two"} {
		f := must.Value(iostreams.CreateFile(path, false))(t)
		other := must.Value(iostreams.CreateFile(path, false))(t)
		for _, x := range []*iostreams.File{other, f} {
			must.Value(x.Write([]byte(text)))(t)
			assert.NoError(t, x.End(true))
		}
		assert.Equal(t, string(must.ReadFile(t, path)), text, "content")
	}
}

// TestFileEmpty checks that a file that is written in place loses its old content also when
// there is nothing new.
func TestFileEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	must.NoError(t, os.WriteFile(path, []byte("old"), 0o666))
	w := must.Value(iostreams.NewFileWriter(path, true))(t)
	must.NoError(t, w.Write(nil))
	must.NoError(t, w.Close())
	if text, err := os.ReadFile(path); len(text) > 0 || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFileLink checks that the file behind a link is replaced, not the link.
func TestFileLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	must.NoError(t, os.WriteFile(target, nil, 0o666))
	must.NoError(t, os.Symlink(target, link))
	w := must.Value(iostreams.NewFileWriter(link, false))(t)
	must.NoError(t, w.Write([]byte("begin")))
	must.NoError(t, w.Close())
	if text, err := os.ReadFile(target); string(text) != "begin" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
