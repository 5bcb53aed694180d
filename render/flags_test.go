package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
)

// TestConnectsWithoutReply: each is told once, in the order of the requests.
func TestConnectsWithoutReply(t *testing.T) {
	r := NewFlags(FlagsOptions{Colors: NewColors(false)})
	frame := int64(0)
	connect := func(kind dissect.Kind, xid uint64) {
		frame++
		m := &dissect.Message{Kind: kind, Frame: frame, LNetOff: -1}
		m.RPC = dissect.RPC{XID: xid, HasXID: true, HasOpcode: true, Opcode: opcodes.OST_CONNECT}
		r.Append(nil, m, Moment{})
	}
	for xid := range uint64(20) { // frames 1 to 20
		connect(dissect.Request, xid)
	}
	connect(dissect.Reply, 3)
	connect(dissect.Reply, 4)
	connect(dissect.Request, 3) // again, in frame 23
	var got []string
	for _, line := range bytes.Split(r.Finish(nil), []byte("\n")) {
		if bytes.Contains(line, []byte("no reply")) {
			got = append(got, strings.Fields(string(line))[1])
		}
	}
	if want := "1 2 3 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 23"; strings.Join(got, " ") != want {
		t.Errorf("frames %v have no reply, want %v", got, want)
	}
	if rest := r.Finish(nil); len(rest) != 0 {
		t.Errorf("told again: %s", rest)
	}
}
