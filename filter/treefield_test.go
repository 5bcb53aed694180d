package filter

import (
	"encoding/binary"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
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
	m := &dissect.Message{Message: lnet.Message{Kind: lnet.Request, Data: data, Size: len(data), LNetOff: -1}}
	m.RPC = dissect.RPC{HasOpcode: true, Opcode: opcodes.OST_WRITE, Type: dissect.TypeRequest}
	return m
}

// TestPathsOfManyElements: what lies around each element of a long array is
// known. With a look at those before it, it takes a long time.
func TestPathsOfManyElements(t *testing.T) {
	var m Message
	m.Set(write(32000))
	for _, text := range []string{"rnb_len == 1", "buffers.rnb_len == 1", "niobuf_remote.rnb_len == 1", "lustre_msg.rnb_len == 0"} {
		if f, err := Compile(text); err != nil || f.Match(&m) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if f, err := Compile("buffers.niobuf_remote.rnb_len == 0"); err != nil || !f.Match(&m) {
		t.Errorf("nothing is found by a path: %v", err)
	}
}
