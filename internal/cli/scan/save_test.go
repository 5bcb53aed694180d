package scan

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/must"
)

const sampleFile = "../../../pcaps/mount.pcap"

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

// TestMissedFrames checks that frames which were marked too late are counted.
func TestMissedFrames(t *testing.T) {
	var errs bytes.Buffer
	p := testPass(t, &errs, &Input{iface: "lo"}, Options{SaveTo: filepath.Join(t.TempDir(), "out.pcapng")})
	for n := int64(11); n <= 20; n++ {
		must.NoError(t, p.saver.add(&capture.Frame{Number: n, Len: 1, Data: []byte{1}, Link: capture.LinkEthernet}))
	}
	p.saver.message(&dissect.Message{Message: lnet.Message{Frames: []int64{9, 10, 11, 20, 21}, LNetOff: -1}}, 0)
	if err := p.finishSave(); err != nil || p.saver.missed != 3 || !strings.Contains(errs.String(), "3 frames") {
		t.Errorf("%d frames are missed, want 3: %v, %s", p.saver.missed, err, &errs)
	}
}

// TestShorterFile checks that frames are counted as missing when the file is
// shorter at the second reading.
func TestShorterFile(t *testing.T) {
	var errs bytes.Buffer
	p := testPass(t, &errs, &Input{files: []string{sampleFile}}, Options{SaveTo: filepath.Join(t.TempDir(), "out.pcapng"), SaveRPCs: true})
	p.saver.message(&dissect.Message{Message: lnet.Message{Frames: []int64{1, 1000, 1001}, LNetOff: -1}}, 0)
	if err := p.finishSave(); err != nil || p.saver.missed != 2 || !strings.Contains(errs.String(), "2 frames") {
		t.Errorf("%d frames are missed, want 2: %v, %s", p.saver.missed, err, &errs)
	}
}

// TestMarks checks that comments of marks are bounded, for one frame and in
// all, and that frames are marked nevertheless.
func TestMarks(t *testing.T) {
	var m Marks
	comment := bytes.Repeat([]byte("x"), 10_000)
	const each = 20 // comments for a frame
	last := int64(0)
	for m.bytes < maxMarkComments-len(comment) {
		last++
		for range each {
			m.Add(2*last, comment)
		}
		if n := len(m.comments[2*last]); n > capture.MaxComment+len("; ")+len(comment) {
			t.Fatalf("a comment of %d bytes", n)
		}
	}
	last++
	m.Add(2*last, comment)
	if m.bytes > maxMarkComments || m.comments[2*last] != nil {
		t.Errorf("%d bytes of comments", m.bytes)
	}
	if m.n != int(last) || !m.has(2) || m.has(3) || !m.has(2*last) || m.has(1e6) {
		t.Errorf("%d frames are marked, want %d", m.n, last)
	}
}
