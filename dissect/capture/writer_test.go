package capture

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	want := numbered(40)
	for i, s := range want {
		want[i].time += int64(i) // nanoseconds must survive
		f := Frame{Time: want[i].time, Data: s.data, Len: s.size, Link: LinkEthernet, Source: i % 2, Iface: i % 3}
		if i == 39 {
			f.Link = LinkLinuxSLL2
		}
		must.NoError(t, w.Write(&f, strings.Repeat("é", i*1000)))
	}
	must.NoError(t, w.Flush())
	got := must.Value(readAll(t, Options{}, writeFile(t, "out", b.Bytes())))(t)
	same(t, got, want)
	if got[39].Link != LinkLinuxSLL2 || got[38].Iface == got[37].Iface || got[38].Iface != got[32].Iface {
		t.Errorf("interfaces are mixed up: %+v", got[39])
	}
}

func TestWriterComment(t *testing.T) {
	for length, want := range map[int]int{0: 0, 3: 3, MaxComment: MaxComment, MaxComment + 1: MaxComment, 200000: MaxComment} {
		assert.Equal(t, len(shorten(strings.Repeat("x", length))), want, "a comment", length, "bytes")
	}
	if got := shorten(strings.Repeat("x", MaxComment-1) + "é"); len(got) != MaxComment-1 {
		t.Errorf("cut inside a character: %q", got[MaxComment-4:])
	}
}

// TestSectionComment checks that the comment of a file is read again, also a long one, and that
// frames are read behind it.
func TestSectionComment(t *testing.T) {
	for _, lines := range []int{0, 1, 3, 30_000} {
		want := strings.Repeat("0x1234 lustre-OST0001_UUID\n", lines)
		var b bytes.Buffer
		w := NewWriter(&b)
		w.SetComment([]byte(want))
		frames := numbered(3)
		for _, s := range frames {
			must.NoError(t, w.Write(&Frame{Time: s.time, Data: s.data, Len: s.size, Link: LinkEthernet}, "of a frame"))
		}
		must.NoError(t, w.Flush())
		path := writeFile(t, "out", b.Bytes())
		same(t, must.Value(readAll(t, Options{}, path))(t), frames)
		r := must.Value(Open([]string{path}, Options{}))(t)
		var f Frame
		must.NoError(t, r.Next(&f))
		format, ok := r.Format()
		assert.That(t, ok && format.Comment == want, "%d lines: a comment of %d bytes, want %d", lines, len(format.Comment), len(want))
		must.NoError(t, r.Close())
	}
}

func TestWriterEmpty(t *testing.T) {
	var b bytes.Buffer
	must.NoError(t, NewWriter(&b).Flush())
	if got, err := readAll(t, Options{}, writeFile(t, "out", b.Bytes())); err != nil || len(got) != 0 {
		t.Errorf("%d frames, %v", len(got), err)
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriterFullDisk(t *testing.T) {
	w := NewWriter(&fullDisk{1 << 20})
	f := Frame{Data: make([]byte, 1000), Len: 1000, Link: LinkEthernet}
	var err error
	for range 5000 {
		if err = w.Write(&f, ""); err != nil {
			break
		}
	}
	if !errors.Is(err, errFull) || !errors.Is(w.Flush(), errFull) || !errors.Is(w.Write(&f, ""), errFull) {
		t.Errorf("write: %v, flush: %v", err, w.Flush())
	}
}

// TestPcapWriter checks that what is written can be read again, in both units of time.
func TestPcapWriter(t *testing.T) {
	for _, format := range []Format{
		{Nanoseconds: true, Snaplen: 256, Links: []LinkType{LinkRaw}},
		{Snaplen: 1 << 18, Links: []LinkType{LinkLinuxSLL2}},
	} {
		var b bytes.Buffer
		w := NewPcapWriter(&b, format)
		frames := []Frame{
			{Time: 1e18 + 123456789, Len: 9, Data: []byte("truncat")},
			{Time: 4e18, Len: 4, Data: []byte("four")},
		}
		for i := range frames {
			must.NoError(t, w.Write(&frames[i]))
		}
		must.NoError(t, w.Flush())
		path := filepath.Join(t.TempDir(), "file.pcap")
		must.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
		r := must.Value(Open([]string{path}, Options{}))(t)
		defer r.Close()
		if _, known := r.Format(); known {
			t.Error("the format is known before the first frame")
		}
		var f Frame
		for i := range frames {
			want := &frames[i]
			must.NoError(t, r.Next(&f))
			at := want.Time
			if !format.Nanoseconds {
				at -= at % 1000
			}
			if f.Time != at || f.Len != want.Len || !bytes.Equal(f.Data, want.Data) || f.Link != format.Links[0] {
				t.Errorf("%+v, want %+v", f, want)
			}
		}
		got, known := r.Format()
		if !known || got.PCAPNG || got.Nanoseconds != format.Nanoseconds || got.Snaplen != format.Snaplen || got.Links[0] != format.Links[0] {
			t.Errorf("%+v, want %+v", got, format)
		}
	}
}

// TestPcapWriterError checks that the first error stays.
func TestPcapWriterError(t *testing.T) {
	r, p := io.Pipe()
	r.Close()
	w := NewPcapWriter(p, Format{})
	f := Frame{Data: make([]byte, writerSize)}
	if err := w.Write(&f); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if err := errors.Join(w.Write(&Frame{}), w.Flush()); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// TestRecent checks which frames are kept, and what is written of them.
func TestRecent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.pcapng")
	file := must.Value(os.Create(path))(t)
	r := NewRecent(NewWriter(file))
	const all = maxRecentFrames + 10
	for n := int64(1); n <= all; n++ { // odd numbers are left out
		must.NoError(t, r.Add(&Frame{Number: 2 * n, Time: n, Len: 1, Data: []byte{byte(n)}, Link: LinkEthernet}))
	}
	for _, mark := range []struct {
		number int64
		kept   bool
	}{{2, false}, {2 * 10, false}, {2 * 11, true}, {2*11 + 1, false}, {2 * 500, true}, {2 * all, true}, {2 * all, true}, {2*all + 2, false}} {
		assert.Equal(t, r.Mark(mark.number, []byte("why")), mark.kept, "frame", mark.number, "is kept")
	}
	must.NoError(t, r.Flush())
	must.NoError(t, file.Close())
	assert.That(t, !r.Mark(2*all, nil), "a frame is kept after Flush")
	in, err := Open([]string{path}, Options{})
	must.NoError(t, err)
	defer in.Close()
	var f Frame
	for _, want := range []int64{11, 500, all} {
		if err := in.Next(&f); err != nil || f.Time != want || !bytes.Equal(f.Data, []byte{byte(want)}) {
			t.Errorf("frame of time %d, want %d: %v", f.Time, want, err)
		}
	}
	assert.Equal(t, in.Next(&f), io.EOF, "a further frame, of time", f.Time)
	data := must.ReadFile(t, path)
	if n, joined := bytes.Count(data, []byte("why")), bytes.Count(data, []byte("why; why")); n != 4 || joined != 1 {
		t.Errorf("%d comments, %d of them joined", n, joined)
	}
}

// TestRecentBytes checks that frames of all sizes stay within the limit, and
// that the memory they occupied is reused or freed.
func TestRecentBytes(t *testing.T) {
	r := NewRecent(NewWriter(io.Discard))
	f := Frame{}
	for _, phase := range []struct{ size, frames int }{{40, 20_000}, {64 << 10, 1500}, {1448, 20_000}, {300 << 10, 300}, {1 << 20, 100}} {
		f.Data = make([]byte, phase.size)
		for range phase.frames {
			f.Number++
			must.NoError(t, r.Add(&f))
		}
		capacity := 0
		for i := range r.ring {
			capacity += cap(r.ring[i].data) + cap(r.ring[i].comment)
		}
		if capacity != r.capacity || capacity > 2*maxRecentBytes || r.bytes > maxRecentBytes {
			t.Fatalf("%d bytes in %d, counted as %d", r.bytes, capacity, r.capacity)
		}
	}
	assert.Equal(t, r.n, maxRecentBytes>>20, "frames are kept")
}

// TestRecentComments checks that the comments of a frame with thousands of
// messages are bounded, count as kept, and cost no more from one to the next.
func TestRecentComments(t *testing.T) {
	const messages = 43_000
	r := NewRecent(NewWriter(io.Discard))
	must.NoError(t, r.Add(&Frame{Number: 1, Data: []byte("x")}))
	allocated := testing.AllocsPerRun(1, func() {
		for range messages {
			r.Mark(1, []byte("noop"))
		}
	})
	k := &r.ring[0]
	assert.That(t, len(k.comment) >= MaxComment && len(k.comment) <= MaxComment+len("; noop"), "a comment of %d bytes", len(k.comment))
	if r.bytes != 1+len(k.comment) || r.capacity != cap(k.data)+cap(k.comment) {
		t.Errorf("%d bytes in %d are counted", r.bytes, r.capacity)
	}
	assert.That(t, allocated <= 100, "%v allocations for %d messages", allocated, messages)
}

// TestRecentSteadyState checks that frames are kept without allocations once
// there was a full round.
func TestRecentSteadyState(t *testing.T) {
	r := NewRecent(NewWriter(io.Discard))
	f := Frame{Data: make([]byte, 1448)}
	add := func() {
		f.Number++
		must.NoError(t, r.Add(&f))
		must.That(t, f.Number%10 != 0 || r.Mark(f.Number, nil), "the latest frame is not kept")
	}
	for range 2 * maxRecentBytes / len(f.Data) {
		add()
	}
	assert.Equal(t, testing.AllocsPerRun(10_000, add), 0, "allocations for a frame")
}

// failAfter fails once so many bytes were written.
type failAfter int

var errDiskFull = errors.New("disk full")

func (left *failAfter) Write(b []byte) (int, error) {
	if *left -= failAfter(len(b)); *left < 0 {
		return 0, errDiskFull
	}
	return len(b), nil
}

// TestRecentError checks that the error of the writer is returned from Add and
// Flush.
func TestRecentError(t *testing.T) {
	left := failAfter(1 << 20)
	r := NewRecent(NewWriter(&left))
	var err error
	f := Frame{Data: []byte(strings.Repeat("x", 1<<16))}
	for err == nil && f.Number < 10_000 {
		f.Number++
		if err = r.Add(&f); err == nil {
			r.Mark(f.Number, nil)
		}
	}
	assert.That(t, err == errDiskFull && r.Flush() == errDiskFull, "frame %d: %v", f.Number, err)
}
