package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

// sample is a frame as the tests write it.
type sample struct {
	time int64
	data []byte
	size int
}

// numbered makes frames of growing length whose bytes tell them apart.
func numbered(n int) []sample {
	var list []sample
	for i := range n {
		data := bytes.Repeat([]byte{byte(i + 1)}, 3+5*i)
		list = append(list, sample{int64(1700000000+i)*1e9 + 123456000, data, len(data) + i%2*1000})
	}
	return list
}

// pcapFile writes frames as pcap.
func pcapFile(order binary.AppendByteOrder, nanos bool, link uint32, frames []sample) []byte {
	magic, unit := uint32(pcapMicros), int64(1000)
	if nanos {
		magic, unit = pcapNanos, 1
	}
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(b, 2)
	b = order.AppendUint16(b, 4)
	for _, v := range []uint32{0, 0, 8, link} { // a snaplen too small: it must not matter
		b = order.AppendUint32(b, v)
	}
	for _, f := range frames {
		for _, v := range []int64{f.time / 1e9, f.time % 1e9 / unit, int64(len(f.data)), int64(f.size)} {
			b = order.AppendUint32(b, uint32(v))
		}
		b = append(b, f.data...)
	}
	return b
}

// blocks builds a pcapng file.
type blocks struct {
	order binary.AppendByteOrder
	b     []byte
}

func (n *blocks) block(kind uint32, parts ...any) *blocks {
	var body []byte
	for _, part := range parts {
		switch v := part.(type) {
		case uint16:
			body = n.order.AppendUint16(body, v)
		case uint32:
			body = n.order.AppendUint32(body, v)
		case uint64:
			body = n.order.AppendUint64(body, v)
		case string:
			body = append(body, v...)
		case []byte:
			body = append(body, v...)
		}
	}
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	n.b = n.order.AppendUint32(n.b, kind)
	n.b = n.order.AppendUint32(n.b, uint32(len(body)+12))
	n.b = append(n.b, body...)
	n.b = n.order.AppendUint32(n.b, uint32(len(body)+12))
	return n
}

func (n *blocks) section() *blocks {
	return n.block(blockSection, uint32(byteOrderMagic), uint16(1), uint16(0), ^uint64(0))
}

func (n *blocks) enhanced(iface uint32, ticks uint64, f sample, options ...any) *blocks {
	data := f.data
	for len(data)%4 != 0 {
		data = append(data[:len(data):len(data)], 0)
	}
	return n.block(blockEnhanced, append([]any{iface, uint32(ticks >> 32), uint32(ticks),
		uint32(len(f.data)), uint32(f.size), data}, options...)...)
}

// pcapngFile has two interfaces of different resolution, a comment and blocks
// that are of no interest.
func pcapngFile(order binary.AppendByteOrder, frames []sample) []byte {
	n := (&blocks{order: order}).section()
	n.block(blockInterface, uint16(LinkEthernet), uint16(0), uint32(0))
	n.block(blockInterface, uint16(LinkEthernet), uint16(0), uint32(0),
		uint16(optionTsResol), uint16(1), "\x09\x00\x00\x00", uint16(optionEnd), uint16(0))
	for i, f := range frames {
		n.block(0x0bad, "not known")
		if i%2 == 0 {
			n.enhanced(0, uint64(f.time/1000), f, uint16(optionComment), uint16(2), "hi\x00\x00", uint32(0))
		} else {
			n.enhanced(1, uint64(f.time), f)
		}
	}
	return n.b
}

func writeFile(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	writeTo(t, path, data)
	return path
}

// readAll reads to the end. The result's frames own their data.
func readAll(t testing.TB, opt Options, paths ...string) ([]Frame, error) {
	t.Helper()
	list, _, err := readNotes(t, opt, paths...)
	return list, err
}

// readNotes is readAll with the notes of the Reader.
func readNotes(t testing.TB, opt Options, paths ...string) ([]Frame, []string, error) {
	t.Helper()
	r, err := Open(paths, opt)
	must.NoError(t, err)
	defer r.Close()
	var list []Frame
	for {
		var f Frame
		if err := r.Next(&f); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return list, r.Notes(), err
		}
		f.Data = bytes.Clone(f.Data)
		list = append(list, f)
		must.Equal(t, f.Number, int64(len(list)), "frame has the number")
	}
}

// same fails unless the frames read are those written.
func same(t testing.TB, got []Frame, want []sample) {
	t.Helper()
	must.Equal(t, len(got), len(want), "frames")
	for i, f := range got {
		if f.Time != want[i].time || !bytes.Equal(f.Data, want[i].data) || f.Len != want[i].size {
			t.Fatalf("frame %d: time %d, %d of %d bytes; want %d, %d of %d", i+1,
				f.Time, len(f.Data), f.Len, want[i].time, len(want[i].data), want[i].size)
		}
	}
}

// damaged is the damage in err, which must be there.
func damaged(t testing.TB, err error) *DamageError {
	t.Helper()
	var d *DamageError
	must.That(t, errors.As(err, &d), "error %v, want a DamageError", err)
	return d
}

func writeTo(t testing.TB, path string, data []byte) {
	t.Helper()
	must.NoError(t, os.WriteFile(path, data, 0o600))
}
