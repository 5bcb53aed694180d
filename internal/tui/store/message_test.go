package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/codec"
	"github.com/lshark/lshark/internal/codec/codectest"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// TestMessageKeepsAllFields checks that a message is read as it was written, whether its
// fields are set or not, and that any part of its bytes is refused.
func TestMessageKeepsAllFields(t *testing.T) {
	var x messageCodec
	var n uint64
	var full dissect.Message
	codectest.Fill(t, &full, &n, func(_ string, field any, n uint64) bool {
		switch p := field.(type) {
		case **schema.Msg: // not kept
			return true
		case *int: // places in the message among them
			*p = int(n % 100)
			return true
		}
		return false
	})
	ofItself := full
	ofItself.PayloadOff = 1
	ofItself.Req = &dissect.RequestInfo{Data: ofItself.Data[1:]}
	for _, want := range []*dissect.Message{&full, {}, &ofItself} {
		w := codec.Writer(nil)
		x.message(&w, want)
		b := w.Written()
		var got dissect.Message
		r := codec.Reader(b)
		if x.message(&r, &got); r.Failed() || len(r.Rest()) > 0 {
			t.Fatalf("failed: %v, %d bytes are left", r.Failed(), len(r.Rest()))
		}
		empty(&got)
		if !reflect.DeepEqual(&got, want) {
			t.Errorf("read\n%+v\nwant\n%+v", &got, want)
		}
		for i := range b {
			r := codec.Reader(b[:i])
			if x.message(&r, new(dissect.Message)); !r.Failed() {
				t.Fatalf("the first %d of %d bytes are read without an error", i, len(b))
			}
		}
	}
}

// TestLongMessage checks that of a message which is too long for the spool its beginning is
// kept, and the rest is marked as missing.
func TestLongMessage(t *testing.T) {
	s := New(Options{})
	m := &dissect.Message{}
	m.Data = make([]byte, 2*segmentSize)
	m.Size = len(m.Data)
	must.NoError(t, s.AddMessage(m, nil))
	row, err := s.NewReader().Message(0)
	if err != nil || len(row.Message.Data) != maxData || row.Message.Size != m.Size || row.Message.Missing(maxData, 1) != lnet.Skipped {
		t.Errorf("%d bytes of %d: %v", len(row.Message.Data), row.Message.Size, err)
	}
}

// TestTargetIndex checks that a target has its index where its name is unknown.
func TestTargetIndex(t *testing.T) {
	c, ok := NewColumn(RPCs, "target", opcodes.NewIndex())
	if !ok {
		t.Fatal("no column target")
	}
	row := Row{RPC: &track.RPC{}}
	row.RPC.Connection = &track.Connection{TargetIndex: "OST0001"}
	var v records.Value
	if has := c.Value(&row, &v); !has || string(v.Text) != "OST0001" {
		t.Errorf("value %q, %v", v.Text, has)
	}
	if got := c.Append(nil, &row); string(got) != "OST0001" {
		t.Errorf("text %q", got)
	}
}

// record returns a record of n bytes that differs from others.
func record(i, n int) []byte {
	return bytes.Repeat([]byte{byte(i), byte(i >> 8), byte(i >> 16)}, n/3+1)[:n]
}

// TestSpool checks that records are read back, from memory and from the file, and that
// the oldest ones are dropped beyond the bound.
func TestSpool(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, tt := range []struct {
		memory int
		most   int64
	}{{64 << 20, 0}, {0, 0}, {2 * segmentSize, 4 * segmentSize}, {0, 3 * segmentSize}} {
		t.Run(fmt.Sprintf("%d of %d", tt.memory, tt.most), func(t *testing.T) {
			s := spool{memory: tt.memory, most: tt.most}
			var positions []int64
			size := func(i int) int { return i * 7919 % 100_000 }
			for i := range 600 { // 30 MB
				p, err := s.append(record(i, size(i)))
				must.NoError(t, err)
				if len(positions) > 0 && p <= positions[len(positions)-1] {
					t.Fatalf("position %d after %d", p, positions[len(positions)-1])
				}
				positions = append(positions, p)
			}
			kept := 0
			for _, order := range []int{1, -1} {
				r := reader{spool: &s}
				for i := range positions {
					if order < 0 {
						i = len(positions) - 1 - i
					}
					b, err := r.read(positions[i])
					switch {
					case positions[i] < s.oldest():
						if !errors.Is(err, errDropped) {
							t.Fatalf("record %d was dropped, but %v", i, err)
						}
					case err != nil || !bytes.Equal(b, record(i, size(i))):
						t.Fatalf("record %d: %d bytes, %v", i, len(b), err)
					default:
						kept++
					}
				}
			}
			if kept == 0 || tt.most == 0 && kept != 2*len(positions) {
				t.Errorf("%d records are kept", kept)
			}
			if n := int64(len(s.segments)) * segmentSize; tt.most > 0 && n > tt.most {
				t.Errorf("%d bytes are kept, more than %d", n, tt.most)
			}
			if tt.most > 0 && s.slots*segmentSize > tt.most {
				t.Errorf("the file has %d segments", s.slots)
			}
			if names, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(names) > 0 {
				t.Errorf("files are left: %v, %v", names, err)
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSpoolWithoutSpace checks that the error of the file is returned.
func TestSpoolWithoutSpace(t *testing.T) {
	t.Setenv("TMPDIR", "/nonexistent")
	s := spool{}
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		_, err = s.append(record(i, 100_000))
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
