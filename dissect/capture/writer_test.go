package capture

import (
	"bytes"
	"errors"
	"strings"
	"testing"

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
	got, err := readAll(t, Options{}, writeFile(t, "out", b.Bytes()))
	must.NoError(t, err)
	same(t, got, want)
	if got[39].Link != LinkLinuxSLL2 || got[38].Iface == got[37].Iface || got[38].Iface != got[32].Iface {
		t.Errorf("interfaces are mixed up: %+v", got[39])
	}
}

func TestWriterComment(t *testing.T) {
	for length, want := range map[int]int{0: 0, 3: 3, MaxComment: MaxComment, MaxComment + 1: MaxComment, 200000: MaxComment} {
		if got := len(shorten(strings.Repeat("x", length))); got != want {
			t.Errorf("a comment of %d bytes has %d, want %d", length, got, want)
		}
	}
	if got := shorten(strings.Repeat("x", MaxComment-1) + "é"); len(got) != MaxComment-1 {
		t.Errorf("cut inside a character: %q", got[MaxComment-4:])
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
