package cli

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/capture"
)

// TestSaverForgets: frames are kept for a while, not for ever, and it is said
// when some were wanted too late.
func TestSaverForgets(t *testing.T) {
	var errs bytes.Buffer
	path := filepath.Join(t.TempDir(), "out.pcapng")
	in := &input{sys: &IO{Err: &errs}, save: path, iface: "lo"}
	var err error
	if in.saver, err = newSaver(in); err != nil {
		t.Fatal(err)
	}
	const all = keptFrames + 10
	for n := int64(1); n <= all; n++ {
		f := capture.Frame{Number: 2 * n, Time: n, Len: 1, Data: []byte{byte(n)}, Link: capture.LinkEthernet}
		if err := in.saver.add(&f); err != nil {
			t.Fatal(err)
		}
	}
	in.saver.want([]int64{2}, "gone")
	in.saver.want([]int64{2 * 11, 2*11 + 1}, "the oldest, and one that was left out")
	in.saver.want([]int64{2 * all}, "a")
	in.saver.want([]int64{2 * all, 2*all + 2}, "b")
	if err := in.saved(); err != nil {
		t.Fatal(err)
	}
	if in.saver.missed != 3 || !strings.Contains(errs.String(), "3 frames") {
		t.Errorf("%d frames were missed, want 3: %s", in.saver.missed, errs.String())
	}
	r, err := capture.Open([]string{path}, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var times []int64
	for {
		var f capture.Frame
		if err := r.Next(&f); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		times = append(times, f.Time)
	}
	if len(times) != 2 || times[0] != 11 || times[1] != all {
		t.Errorf("frames of the times %v were written, want 11 and %d", times, all)
	}
}

// TestSaverBounds: what waits is bounded in bytes too.
func TestSaverBounds(t *testing.T) {
	s := &saver{recent: make([]kept, 4), w: capture.NewWriter(io.Discard)}
	data := make([]byte, 1<<20)
	for n := int64(1); n <= 200; n++ {
		if err := s.add(&capture.Frame{Number: n, Data: data, Len: len(data)}); err != nil {
			t.Fatal(err)
		}
		if s.bytes > keptBytes {
			t.Fatalf("%d bytes wait", s.bytes)
		}
	}
	if s.n != keptBytes/len(data) {
		t.Errorf("%d frames wait, want %d", s.n, keptBytes/len(data))
	}
}
