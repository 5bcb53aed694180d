package filter

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render/records"
)

// write is an OST_WRITE request with many remote niobufs.
func write(niobufs int) *dissect.Message {
	data := wiretest.Msg(wiretest.Body(wiretest.TypeRequest, opcodes.OST_WRITE), make([]byte, 208), make([]byte, 24), make([]byte, 16*niobufs))
	m := &dissect.Message{Message: lnet.Message{Kind: lnet.Request, Data: data, Size: len(data), LNetOff: -1}}
	m.RPC = dissect.RPC{HasOpcode: true, Opcode: opcodes.OST_WRITE, Type: dissect.TypeRequest}
	return m
}

// TestPathsOfManyElements: what lies around each element of a long array is
// known. With a look at those before it, it takes a long time.
func TestPathsOfManyElements(t *testing.T) {
	var m records.Message
	m.Set(write(32000), 0)
	for _, text := range []string{"rnb_len == 1", "buffers.rnb_len == 1", "niobuf_remote.rnb_len == 1", "lustre_msg.rnb_len == 0"} {
		if f, err := Compile(text); err != nil || f.Match(&m) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if f, err := Compile("buffers.niobuf_remote.rnb_len == 0"); err != nil || !f.Match(&m) {
		t.Errorf("nothing is found by a path: %v", err)
	}
}
