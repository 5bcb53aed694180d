package scan

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
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
		s, err := newSaver(&System{IO: &iostreams.IO{}}, &Input{iface: "lo"}, Options{Stream: &out, SaveAll: all})
		must.NoError(t, err)
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
		if got := len(readBack(t, out.Bytes())); got != want {
			t.Errorf("%d frames while more come, want %d (all: %v)", got, want, all)
		}
		must.NoError(t, s.idle(start+int64(20*time.Second)))
		if want = 10; all {
			want = 100
		}
		if got := len(readBack(t, out.Bytes())); got != want {
			t.Errorf("%d frames after a silence, want %d (all: %v)", got, want, all)
		}
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
		if out.Len() == size {
			t.Fatal("a message was not written at once")
		}
		size = out.Len()
	}
	frames := readBack(t, out.Bytes())
	if len(frames) != len(messages) {
		t.Fatalf("%d packets of %d messages", len(frames), len(messages))
	}
	for i, f := range frames {
		if f.Link != pdu.LinkType || f.Time != messages[i].Time {
			t.Errorf("packet %d: link type %d, time %d", i, f.Link, f.Time)
		}
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
	in, err := (&Flags{Read: []string{sampleFile}, Quiet: true}).Check(nil, false)
	must.NoError(t, err)
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
