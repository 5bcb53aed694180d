package capture

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// TestStrangeTimes checks that a frame whose time is far from those of its neighbours gets that of
// the frame before and is named, and that a pause in a capture is none.
func TestStrangeTimes(t *testing.T) {
	const far = 11_600_000
	for name, c := range map[string]struct {
		seconds, want []int64
		line          string // the beginning of the note; empty: no note is expected
	}{
		"later":     {[]int64{1, 2, far, 3, 4}, []int64{1, 2, 2, 3, 4}, "frame 3: its time is 3222h13m18s from"},
		"earlier":   {[]int64{far, far + 1, 5, far + 2}, []int64{far, far + 1, far + 1, far + 2}, "frame 3: "},
		"the first": {[]int64{far, 2, 3}, []int64{2, 2, 3}, "frame 1: "},
		"two":       {[]int64{1, far, 2, 3, far, 4}, []int64{1, 1, 2, 3, 3, 4}, "frame 2: "},
		"a pause":   {[]int64{1, 2, far, far + 1}, []int64{1, 2, far, far + 1}, ""},
		"last":      {[]int64{1, 2, far}, []int64{1, 2, far}, ""},
	} {
		path := writeFile(t, "x", at("x", c.seconds...))
		other := writeFile(t, "y", at("y", 1))
		for _, paths := range [][]string{{path}, {path, other}} {
			var got []int64
			r, err := Open(paths, Options{})
			var f Frame
			for ; err == nil; err = r.Next(&f) {
				if string(f.Data) == "x" {
					got = append(got, f.Time/1e9)
				}
			}
			assert.Slice(t, got, c.want)
			notes := strings.Join(r.StrangeTimes(), "\n")
			if c.line == "" {
				assert.Equal(t, notes, "", name)
			} else {
				assert.That(t, strings.Contains(notes, ": "+c.line), "%s: %q", name, notes)
			}
		}
	}
}

// TestStrangeTimesInPipe checks the same of a pipe, whose first frame does not wait for another one.
func TestStrangeTimesInPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no FIFOs here:", err)
	}
	w := must.Value(os.OpenFile(path, os.O_RDWR, 0))(t) // does not wait for a reader
	r := must.Value(Open([]string{path}, Options{}))(t)
	const far = 11_600_000
	data := at("x", 1, far, 2, far, far+1)
	header, size := len(at("x")), len(at("x", 1))-len(at("x"))
	for i, step := range []struct {
		frames int     // that are written
		read   []int64 // the times that can be read then
	}{{1, []int64{1}}, {2, []int64{1, 2}}, {2, []int64{far, far + 1}}} {
		end := header + step.frames*size
		must.Value(w.Write(data[:end]))(t)
		data, header = data[end:], 0
		for _, want := range step.read {
			var f Frame
			must.NoError(t, r.Next(&f))
			assert.Equal(t, f.Time/1e9, want, "step", i)
		}
	}
	must.Equal(t, len(data), 0, "bytes that were not written")
	notes := strings.Join(r.StrangeTimes(), "\n")
	assert.That(t, strings.Contains(notes, ": frame 2: its time is 3222h13m19s from") && !strings.Contains(notes, "more"), "%q", notes)
	must.NoError(t, errors.Join(r.Close(), w.Close()))
}
