package rules

import (
	"testing"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// TestLogLines: what rules find in the lines and RPCs of logs.
func TestLogLines(t *testing.T) {
	s := newScene(t)
	for _, l := range []debuglog.Event{
		{Kind: debuglog.ThreadStuck, Line: 7, Number: 338, Service: 40e9},
		{Kind: debuglog.ThreadStuck, Line: 8, Number: 339, Service: 41e9},
		{Kind: debuglog.ThreadOver, Line: 9, Number: 338, Service: 73e9},
	} {
		s.pass(1)
		l.Time = s.now
		s.e.Line(&track.LogLine{Event: l, File: "oss.dk", Node: oss})
	}
	unsent := debuglog.RPC{HasClient: true, NotOnWire: debuglog.RequestUnseen,
		Client: debuglog.Call{XID: 1, Opcode: opcodes.OST_CONNECT, Peer: oss, File: "client.dk", FirstLine: 3, Sent: s.now}}
	s.e.Unseen(track.FromLog(&unsent, node3, oss))
	s.expect("warning slow.thread: The kernel of 192.0.2.2@tcp reported 2 service threads that worked for one request for long, the longest 73.0 s. "+
		"1 thread was still inactive when the log ended.",
		"warning node.not_on_wire: 192.0.2.3@tcp sent 1 OST_CONNECT request to 192.0.2.2@tcp, by its log, that never came onto the wire.")
}
