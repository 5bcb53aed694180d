package scan

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/render/pdu"
)

// readBack returns the frames of a capture file.
func readBack(t *testing.T, data []byte) []capture.Frame {
	t.Helper()
	src := filepath.Join(t.TempDir(), "file")
	must.NoError(t, os.WriteFile(src, data, 0o600))
	return wiretest.ReadSample(t, src)
}

// TestStream checks when frames are written to a stream, and which.
func TestStream(t *testing.T) {
	for _, all := range []bool{false, true} {
		var out bytes.Buffer
		s := must.Value(newSaver(&System{IO: &iostreams.IO{}}, &Input{flags: Flags{Interfaces: []string{"lo"}}}, Options{Stream: &out, SaveAll: all}))(t)
		const start = int64(1e18)
		for n := range int64(100) { // ten in a second
			f := capture.Frame{Number: n + 1, Time: start + n*int64(100*time.Millisecond), Len: 1, Data: []byte{byte(n)}, Link: capture.LinkEthernet}
			must.NoError(t, s.add(&f))
			if n%10 == 5 {
				s.mark(n+1, []byte("even"))
			}
		}
		// The last two seconds are kept.
		want := 8 // marked
		if all {
			want = 79
		}
		assert.Equal(t, len(readBack(t, out.Bytes())), want, "frames while more come all", all)
		must.NoError(t, s.idle(start+int64(20*time.Second)))
		if want = 10; all {
			want = 100
		}
		assert.Equal(t, len(readBack(t, out.Bytes())), want, "frames after a silence all", all)
	}
}

// TestPDUs checks that messages are written as packets, each at once where output is to
// be flushed, and without allocations.
func TestPDUs(t *testing.T) {
	messages := sampleMessages(t)
	var out bytes.Buffer
	p := newPDUWriter(capture.NewWriter(&out), true)
	size := 0
	for _, m := range messages {
		must.NoError(t, p.write(m, 0, []byte("comment")))
		must.That(t, out.Len() != size, "a message was not written at once")
		size = out.Len()
	}
	frames := readBack(t, out.Bytes())
	must.Equal(t, len(frames), len(messages), "packets messages")
	for i, f := range frames {
		assert.That(t, f.Link == pdu.LinkType && f.Time == messages[i].Time, "packet %d: link type %d, time %d", i, f.Link, f.Time)
	}
	p = newPDUWriter(capture.NewWriter(discard{}), true)
	comment := []byte("comment")
	each := func() {
		for _, m := range messages {
			must.NoError(t, p.write(m, 0, comment))
		}
	}
	each()
	if n := testing.AllocsPerRun(5, each); n > float64(2*len(messages)) { // the text of the comment, and its time in gopacket
		t.Errorf("%v allocations for %d messages", n, len(messages))
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// sampleMessages returns the messages of a sample.
func sampleMessages(t *testing.T) (list []*dissect.Message) {
	t.Helper()
	in := must.Value((&Flags{Read: []string{sampleFile}, Quiet: true}).Check(nil, false))(t)
	p := New(&System{IO: &iostreams.IO{}}, in, Options{})
	p.Add(Consumer{Message: func(m *dissect.Message) error {
		list = append(list, m.Clone())
		return nil
	}})
	if err := p.Run(); err != nil || len(list) == 0 {
		t.Fatalf("%d messages, %v", len(list), err)
	}
	return list
}

// TestLiveFilter checks that a live capture is filtered by the LNet ports unless
// a filter is given.
func TestLiveFilter(t *testing.T) {
	for _, c := range []struct {
		in   *Input
		want string
	}{{&Input{}, "tcp port 988 or "}, {&Input{ports: []uint16{1988, 1989}}, "tcp port 1988 or tcp port 1989 or "},
		{&Input{flags: Flags{Filter: "udp"}, ports: []uint16{1}}, "udp"}} {
		got := c.in.liveFilter()
		assert.That(t, strings.HasPrefix(got, c.want), "%q", got)
		if c.in.flags.Filter == "" && (!strings.Contains(got, "udp port 4791") || !strings.Contains(got, "ether proto 0x8915")) {
			t.Errorf("%q: without RoCE", got)
		}
	}
}

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
	p := testPass(t, &errs, &Input{flags: Flags{Interfaces: []string{"lo"}}}, Options{SaveTo: filepath.Join(t.TempDir(), "out.pcapng")})
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
		n := len(m.comments[2*last])
		must.That(t, n <= capture.MaxComment+len("; ")+len(comment), "a comment of %d bytes", n)
	}
	last++
	m.Add(2*last, comment)
	assert.That(t, m.bytes <= maxMarkComments && m.comments[2*last] == nil, "%d bytes of comments", m.bytes)
	assert.That(t, m.n == int(last) && m.has(2) && !m.has(3) && m.has(2*last) && !m.has(1e6), "%d frames are marked, want %d", m.n, last)
}
