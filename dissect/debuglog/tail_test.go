package debuglog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

// TestFollow reads a log that grows, also in parts of lines, and that is renamed, truncated and gone for a while.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "messages")
	write := func(flag int, text string) {
		f := must.Value(os.OpenFile(path, os.O_WRONLY|flag, 0o600))(t)
		must.Value(f.WriteString(text))(t)
		must.NoError(t, f.Close())
	}
	stopped := func(n int) string {
		return fmt.Sprintf("2026-11-24T10:00:%02d+00:00 oss1 kernel: Lustre: server umount fs-OST%04d complete\n", n, n)
	}
	write(os.O_CREATE, "")
	r := must.Value(Follow(path))(t)
	defer r.Close()
	more := func(want string) {
		t.Helper()
		var got []string
		var e Event
		err := r.Next(&e)
		for ; err == nil; err = r.Next(&e) {
			got = append(got, fmt.Sprintf("%s:%d", strings.TrimPrefix(e.Target, "fs-OST000"), e.Line))
		}
		if err != ErrNoMore || strings.Join(got, " ") != want {
			t.Errorf("%q and %v, want %q", got, err, want)
		}
	}
	more("")
	whole := stopped(2)
	write(os.O_APPEND, stopped(1)+whole[:70])
	more("1:1")
	write(os.O_APPEND, whole[70:]+stopped(3))
	more("2:2 3:3")
	more("")

	must.NoError(t, os.Rename(path, path+".1"))
	more("")
	write(os.O_CREATE, "")
	old := must.Value(os.OpenFile(path+".1", os.O_WRONLY|os.O_APPEND, 0))(t) // as long as it was not told to open the new one
	must.Value(old.WriteString(stopped(4)))(t)
	more("4:4")
	must.Value(old.WriteString(strings.TrimSuffix(stopped(5), "\n")))(t)
	must.NoError(t, old.Close())
	write(0, stopped(6))
	more("5:5 6:1")

	write(os.O_APPEND, stopped(7)+stopped(8))
	more("7:2 8:3")
	write(os.O_TRUNC, stopped(9))
	more("9:1")
	write(os.O_APPEND, strings.Repeat("x", 3*maxLine)+"\n")
	more("")
	write(os.O_APPEND, stopped(1))
	more("1:3")
	if s := r.Stats(); s.Skipped != 1 {
		t.Errorf("%+v", s)
	}
	write(os.O_APPEND, stopped(2)) // what a copy has, before the file is truncated and has grown by more than it had
	must.NoError(t, os.WriteFile(path+"-20261124", must.Value(os.ReadFile(path))(t), 0o600))
	must.NoError(t, os.WriteFile(path+"-20261123", make([]byte, 4*maxLine), 0o600))
	write(os.O_TRUNC, strings.Repeat("x", 4*maxLine)+"\n"+stopped(3))
	more("2:4 3:2")
	must.NoError(t, os.Remove(path))
	more("")
}
