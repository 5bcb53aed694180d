package dissect

import (
	"encoding/binary"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
)

// TestBuffersEndAtHoles: each buffer ends at its first hole. It takes long if every hole
// is checked for each buffer.
func TestBuffersEndAtHoles(t *testing.T) {
	const bufs, each = 200, 4096
	data := make([]byte, round8(msgFixed+4*bufs)+bufs*each)
	le := binary.LittleEndian
	le.PutUint32(data, bufs)
	le.PutUint32(data[offMagic:], msgMagic)
	for i := range bufs {
		le.PutUint32(data[msgFixed+4*i:], each)
	}
	m := &Message{Message: lnet.Message{Data: data, Size: len(data)}}
	for off := round8(msgFixed + 4*bufs); off+2 <= len(data); off += 2 {
		m.Holes = append(m.Holes, lnet.Hole{Off: off + 1, Len: 1, Why: lnet.Snaplen})
	}
	var p rpcMsg
	p.openIn(m)
	for i, b := range p.Bufs {
		if len(b) != 1 {
			t.Fatalf("buffer %d has %d bytes", i, len(b))
		}
	}
}
