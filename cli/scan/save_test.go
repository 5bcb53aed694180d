package scan

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/capture"
	"github.com/lshark/lshark/cli/iostreams"
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
)

const sampleFile = "../../pcaps/mount.pcap"

// testPass returns a pass whose saver is ready.
func testPass(t *testing.T, errs io.Writer, in *Input, opt Options) *Pass {
	t.Helper()
	p := New(&System{IO: &iostreams.IO{Err: errs}}, in, opt)
	var err error
	if p.saver, err = newSaver(p.sys, in, opt); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSaverForgets: frames are kept for a while, not for ever, and it is said
// when some were wanted too late.
func TestSaverForgets(t *testing.T) {
	var errs bytes.Buffer
	path := filepath.Join(t.TempDir(), "out.pcapng")
	p := testPass(t, &errs, &Input{iface: "lo"}, Options{SaveTo: path})
	const all = keptFrames + 10
	for n := int64(1); n <= all; n++ {
		f := capture.Frame{Number: 2 * n, Time: n, Len: 1, Data: []byte{byte(n)}, Link: capture.LinkEthernet}
		if err := p.saver.add(&f); err != nil {
			t.Fatal(err)
		}
	}
	p.saver.want([]int64{2}, []byte("gone"))
	p.saver.want([]int64{2 * 11, 2*11 + 1}, []byte("the oldest, and one that was left out"))
	p.saver.want([]int64{2 * all}, []byte("a"))
	p.saver.want([]int64{2 * all, 2*all + 2}, []byte("b"))
	if err := p.finishSave(); err != nil {
		t.Fatal(err)
	}
	if p.saver.missed != 3 || !strings.Contains(errs.String(), "3 frames") {
		t.Errorf("%d frames were missed, want 3: %s", p.saver.missed, errs.String())
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

// TestSavedComments: of a frame with thousands of messages no more is kept than
// the file takes, it counts as kept, and each message costs the same.
func TestSavedComments(t *testing.T) {
	const messages = 43_000
	for _, s := range []*saver{{recent: make([]kept, 16)}, {later: map[int64][]byte{}}} {
		if err := s.add(&capture.Frame{Number: 1, Data: []byte("x")}); err != nil {
			t.Fatal(err)
		}
		m := &dissect.Message{Message: lnet.Message{Kind: lnet.Noop, Frames: []int64{1}, LNetOff: -1}}
		allocated := testing.AllocsPerRun(1, func() {
			for range messages {
				s.message(m)
			}
		})
		comment := s.later[1]
		if s.later == nil {
			comment = s.recent[0].comment
			if s.bytes != 1+len(comment) || s.room != cap(s.recent[0].data)+cap(comment) {
				t.Errorf("%d bytes in %d are counted", s.bytes, s.room)
			}
		}
		if len(comment) < capture.MaxComment || len(comment) > capture.MaxComment+len("; noop") {
			t.Errorf("a comment of %d bytes", len(comment))
		}
		if allocated > 100 {
			t.Errorf("%v allocations for %d messages", allocated, messages)
		}
	}
}

// TestSaverSaysWhatIsGone: a file that is shorter when it is read again lacks
// frames that were wanted.
func TestSaverSaysWhatIsGone(t *testing.T) {
	var errs bytes.Buffer
	p := testPass(t, &errs, &Input{files: []string{sampleFile}}, Options{SaveTo: filepath.Join(t.TempDir(), "out.pcapng"), SaveRPCs: true})
	p.saver.message(&dissect.Message{Message: lnet.Message{Frames: []int64{1, 1000, 1001}, LNetOff: -1}})
	if err := p.finishSave(); err != nil || p.saver.missed != 2 || !strings.Contains(errs.String(), "2 frames") {
		t.Errorf("%d frames are missed, want 2: %v, %s", p.saver.missed, err, &errs)
	}
}

// TestSavedFramesAreBounded keeps frames of all sizes.
func TestSavedFramesAreBounded(t *testing.T) {
	s := &saver{w: capture.NewWriter(io.Discard), recent: make([]kept, 1024)}
	f := capture.Frame{}
	for _, phase := range []struct{ size, frames int }{{40, 20_000}, {64 << 10, 3000}, {1448, 20_000}, {300 << 10, 500}} {
		f.Data = make([]byte, phase.size)
		for range phase.frames {
			f.Number++
			if err := s.add(&f); err != nil {
				t.Fatal(err)
			}
		}
		room := 0
		for i := range s.recent {
			room += cap(s.recent[i].data)
		}
		if room != s.room || room > 2*keptBytes || s.bytes > keptBytes {
			t.Fatalf("%d bytes in %d, counted as %d", s.bytes, room, s.room)
		}
	}
}
