package iostreams_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/must"
)

// TestFile checks that a file is complete or as it was before.
func TestFile(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "out")
		write := func(text string, end func(*iostreams.File) error) {
			t.Helper()
			f := must.Value(iostreams.CreateFile(path, inPlace))(t)
			if _, err := f.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			assert.NoError(t, end(f))
			assert.NoError(t, f.Discard())
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
		write("one", (*iostreams.File).Discard)
		check()
		write("two", (*iostreams.File).Commit)
		check("out: two")
		if !inPlace {
			write("three", (*iostreams.File).Discard)
			check("out: two")
		}
		write("four", (*iostreams.File).Commit)
		check("out: four")
	}
}

// TestFileMode checks that the umask says for whom a new file is, and that one that replaces
// another has its mode, also where a killed process has left a temporary file.
func TestFileMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes here")
	}
	ordinary := must.Value(os.Create(filepath.Join(t.TempDir(), "ordinary")))(t)
	byUmask := must.Value(ordinary.Stat())(t).Mode().Perm()
	must.NoError(t, ordinary.Close())
	for _, before := range []fs.FileMode{0, 0o600, 0o640, 0o664} {
		for _, left := range []fs.FileMode{0, 0o644} {
			path := filepath.Join(t.TempDir(), "out")
			make := func(path string, mode fs.FileMode) {
				if mode == 0 {
					return
				}
				must.NoError(t, errors.Join(os.WriteFile(path, nil, mode), os.Chmod(path, mode)))
			}
			make(path, before)
			make(filepath.Join(filepath.Dir(path), ".out.part"), left)
			f := must.Value(iostreams.CreateFile(path, false))(t)
			must.NoError(t, f.Commit())
			want := before
			if left == 0 {
				left = byUmask
			}
			if before == 0 {
				want = byUmask & left
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("replaces %o, left %o: mode %o, %v", before, left, info.Mode().Perm(), err)
			}
		}
	}
}

// TestFileBusy checks that two processes cannot write a file at the same time, and that it
// can be written again when one has ended.
func TestFileBusy(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("files are not locked here")
	}
	path := filepath.Join(t.TempDir(), "out")
	for _, end := range []func(*iostreams.File) error{(*iostreams.File).Discard, (*iostreams.File).Commit, (*iostreams.File).Commit} {
		f := must.Value(iostreams.CreateFile(path, false))(t)
		if _, err := f.Write([]byte("first")); err != nil {
			t.Fatal(err)
		}
		if _, err := iostreams.CreateFile(path, false); err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("created while it is written: %v", err)
		}
		assert.NoError(t, end(f))
	}
	if text, err := os.ReadFile(path); string(text) != "first" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFileInTheWay checks that a link with the temporary name, which another user may have
// put into a shared folder, is not followed.
func TestFileInTheWay(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("links are followed here")
	}
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	must.NoError(t, os.WriteFile(victim, []byte("precious"), 0o666))
	for _, target := range []string{victim, filepath.Join(dir, "nothing"), "/dev/null"} {
		partial := filepath.Join(dir, ".out.part")
		must.NoError(t, os.Symlink(target, partial))
		if _, err := iostreams.CreateFile(filepath.Join(dir, "out"), false); err == nil || !strings.Contains(err.Error(), ".out.part is in the way") {
			t.Errorf("a link to %s: %v", target, err)
		}
		assert.NoError(t, os.Remove(partial))
	}
	if text, err := os.ReadFile(victim); string(text) != "precious" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if list, err := os.ReadDir(dir); len(list) != 1 || err != nil {
		t.Errorf("%v, %v", list, err)
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
