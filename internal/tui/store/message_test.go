package store

import (
	"reflect"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/codec"
	"github.com/lshark/lshark/internal/codec/codectest"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/opcodes/schema"
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
