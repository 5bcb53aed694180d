package capture

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

// TestRecent checks which frames are kept, and what is written of them.
func TestRecent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.pcapng")
	file, err := os.Create(path)
	must.NoError(t, err)
	r := NewRecent(NewWriter(file))
	const all = maxRecentFrames + 10
	for n := int64(1); n <= all; n++ { // odd numbers are left out
		must.NoError(t, r.Add(&Frame{Number: 2 * n, Time: n, Len: 1, Data: []byte{byte(n)}, Link: LinkEthernet}))
	}
	for _, mark := range []struct {
		number int64
		kept   bool
	}{{2, false}, {2 * 10, false}, {2 * 11, true}, {2*11 + 1, false}, {2 * 500, true}, {2 * all, true}, {2 * all, true}, {2*all + 2, false}} {
		if got := r.Mark(mark.number, []byte("why")); got != mark.kept {
			t.Errorf("frame %d is kept: %v", mark.number, got)
		}
	}
	must.NoError(t, r.Flush())
	must.NoError(t, file.Close())
	if r.Mark(2*all, nil) {
		t.Error("a frame is kept after Flush")
	}
	in, err := Open([]string{path}, Options{})
	must.NoError(t, err)
	defer in.Close()
	var f Frame
	for _, want := range []int64{11, 500, all} {
		if err := in.Next(&f); err != nil || f.Time != want || !bytes.Equal(f.Data, []byte{byte(want)}) {
			t.Errorf("frame of time %d, want %d: %v", f.Time, want, err)
		}
	}
	if err := in.Next(&f); err != io.EOF {
		t.Errorf("a further frame, of time %d: %v", f.Time, err)
	}
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
	for _, phase := range []struct{ size, frames int }{{40, 20_000}, {64 << 10, 3000}, {1448, 20_000}, {300 << 10, 500}, {1 << 20, 200}} {
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
	if want := maxRecentBytes >> 20; r.n != want {
		t.Errorf("%d frames are kept, want %d", r.n, want)
	}
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
	if len(k.comment) < MaxComment || len(k.comment) > MaxComment+len("; noop") {
		t.Errorf("a comment of %d bytes", len(k.comment))
	}
	if r.bytes != 1+len(k.comment) || r.capacity != cap(k.data)+cap(k.comment) {
		t.Errorf("%d bytes in %d are counted", r.bytes, r.capacity)
	}
	if allocated > 100 {
		t.Errorf("%v allocations for %d messages", allocated, messages)
	}
}

// TestRecentSteadyState checks that frames are kept without allocations once
// there was a full round.
func TestRecentSteadyState(t *testing.T) {
	r := NewRecent(NewWriter(io.Discard))
	f := Frame{Data: make([]byte, 1448)}
	add := func() {
		f.Number++
		must.NoError(t, r.Add(&f))
		if f.Number%10 == 0 && !r.Mark(f.Number, nil) {
			t.Fatal("the latest frame is not kept")
		}
	}
	for range 2 * maxRecentBytes / len(f.Data) {
		add()
	}
	if n := testing.AllocsPerRun(10_000, add); n != 0 {
		t.Errorf("%v allocations for a frame", n)
	}
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
	if err != errDiskFull || r.Flush() != errDiskFull {
		t.Errorf("frame %d: %v", f.Number, err)
	}
}
