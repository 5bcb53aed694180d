package capture

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// confinedVariable holds the folder of a process that TestConfined starts: what it loses,
// it loses for good.
const confinedVariable = "LSHARK_TEST_CONFINED"

// TestConfined drops all privileges and the right to open other files, and tries.
func TestConfined(t *testing.T) {
	if dir := os.Getenv(confinedVariable); dir != "" {
		confined(t, dir)
		return
	}
	dir := t.TempDir()
	for _, name := range []string{"other", "read", "write"} {
		must.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		must.NoError(t, os.WriteFile(filepath.Join(dir, name, "file"), []byte(name), 0o600))
	}
	must.NoError(t, os.Symlink("write", filepath.Join(dir, "link")))
	cmd := exec.Command(os.Args[0], "-test.run=^TestConfined$", "-test.v")
	cmd.Env = append(os.Environ(), confinedVariable+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("%s", out)
	}
}

func confined(t *testing.T, dir string) {
	in := func(folder, file string) string { return filepath.Join(dir, folder, file) }
	err := errors.Join(DropPrivileges(false), ConfineFiles([]string{in("read", ""), in("absent", "")}, []string{in("link", "")},
		[]string{os.Args[0], "/lib", "/lib64", "/usr/lib", "/etc/ld.so.cache", "/dev/null"}))
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	must.NoError(t, err)
	status, err := os.ReadFile("/proc/self/status")
	assert.That(t, errors.Is(err, fs.ErrPermission), "/proc/self/status: %v: %s", err, status)
	write := func(path string) error { return os.WriteFile(path, []byte("new"), 0o600) }
	open := func(path string) error { _, err := os.ReadFile(path); return err }
	for _, c := range []struct {
		what    string
		err     error
		allowed bool
	}{
		{"run another program", exec.Command("/bin/true").Run(), false},
		{"run a program", exec.Command(os.Args[0], "-test.run=^$").Run(), true},
		{"make a folder", os.Mkdir(in("write", "folder"), 0o700), true},
		{"rename a folder", os.Rename(in("write", "folder"), in("write", "renamed")), true},
		{"remove a folder", os.Remove(in("write", "renamed")), true},
		{"make a folder in another folder", os.Mkdir(in("other", "folder"), 0o700), false},
		{"read a file of another folder", open(in("other", "file")), false},
		{"list another folder", func() error { _, err := os.ReadDir(in("other", "")); return err }(), false},
		{"write a file of another folder", write(in("other", "new")), false},
		{"read", open(in("read", "file")), true},
		{"list", func() error { _, err := os.ReadDir(in("read", "")); return err }(), true},
		{"write a file that is there", write(in("read", "file")), false},
		{"make a file in a folder to be read", write(in("read", "new")), false},
		{"remove from a folder to be read", os.Remove(in("read", "file")), false},
		{"make a file", write(in("write", "new")), true},
		{"replace a file", os.Rename(in("write", "new"), in("write", "file")), true},
		{"read what was written", open(in("write", "file")), true},
		{"remove a file", os.Remove(in("write", "file")), true},
		{"run a program", exec.Command("/bin/true").Run(), false},
	} {
		if c.allowed != (c.err == nil) || c.err != nil && !errors.Is(c.err, fs.ErrPermission) {
			t.Errorf("%s: %v, allowed: %v", c.what, c.err, c.allowed)
		}
	}
}
