package capture

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

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
		r, err := Open([]string{path}, Options{})
		must.NoError(t, err)
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
