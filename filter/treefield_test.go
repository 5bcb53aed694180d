package filter

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
)

// write is an OST_WRITE request with many remote niobufs.
func write(niobufs int) *dissect.Message {
	le := binary.LittleEndian
	lens := []int{184, 208, 24, 16 * niobufs}
	data := make([]byte, 48)
	le.PutUint32(data, uint32(len(lens)))
	le.PutUint32(data[8:], 0x0bd00bd3)
	for i, n := range lens {
		le.PutUint32(data[32+4*i:], uint32(n))
		data = append(data, make([]byte, n)...)
	}
	le.PutUint32(data[48+8:], dissect.TypeRequest)
	le.PutUint32(data[48+16:], opcodes.OST_WRITE)
	m := &dissect.Message{Kind: dissect.Request, Data: data, Size: len(data), LNetOff: -1}
	m.RPC = dissect.RPC{HasOpcode: true, Opcode: opcodes.OST_WRITE, Type: dissect.TypeRequest}
	return m
}

// TestPathsCostLittle: what lies around each element of a long array is known
// without a look at those before it.
func TestPathsCostLittle(t *testing.T) {
	var m Message
	m.Set(write(8000))
	m.Tree()
	spent := func(text string) time.Duration {
		f, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		least := time.Duration(1<<63 - 1)
		for range 3 {
			begun := time.Now()
			if f.Match(&m) {
				t.Errorf("%s is true", text)
			}
			least = min(least, time.Since(begun))
		}
		return least
	}
	plain := spent("rnb_len == 1")
	for _, text := range []string{"buffers.rnb_len == 1", "niobuf_remote.rnb_len == 1", "lustre_msg.rnb_len == 0"} {
		if long := spent(text); long > 100*plain {
			t.Errorf("%s: %v, without a path %v", text, long, plain)
		}
	}
	if f, err := Compile("buffers.niobuf_remote.rnb_len == 0"); err != nil || !f.Match(&m) {
		t.Errorf("nothing is found by a path: %v", err)
	}
}
