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
	for i, text := range []string{"Request sent has timed out for slow reply: [sent 1/real 1]", "TIMEOUT-NORESEND:", "Request sent has failed due to network error: [sent 1/real 1]"} {
		xid := uint64(max(1, i)) // the first two are about one request
		s.e.Line(&track.LogLine{File: "client.dk", Node: node3,
			Event: debuglog.Event{Kind: debuglog.Note, Line: int64(9 + i), Time: s.now, XID: xid, Opcode: opcodes.OST_READ, Peer: oss, Target: "lustre-OST0000", Text: text}})
	}
	again := debuglog.RPC{HasClient: true, Client: debuglog.Call{XID: 1, Opcode: opcodes.OST_READ, Peer: oss, Sent: s.now, Failed: s.now, Resent: 1}}
	s.e.Unseen(track.FromLog(&again, node3, oss))
	write := debuglog.RPC{HasServer: true, Server: debuglog.Call{XID: 7, Opcode: opcodes.OST_WRITE, Peer: node3, Served: true, Arrived: s.now, Handling: s.now,
		Handled: s.now, Status: opcodes.EDQUOT, ReplyStatus: opcodes.EDQUOT, File: "oss.dk", FirstLine: 4, LastLine: 5}}
	s.e.Unseen(track.FromLog(&write, node3, oss))
	refused := debuglog.RPC{HasServer: true, Server: debuglog.Call{XID: 8, Opcode: opcodes.MDS_CONNECT, Peer: node3, Served: true, Arrived: s.now, Handling: s.now,
		Handled: s.now, Status: opcodes.EROFS, ReplyStatus: opcodes.EROFS, File: "mds.dk", FirstLine: 4, LastLine: 5}}
	s.e.Unseen(track.FromLog(&refused, node3, oss))
	s.expect("error quota.exceeded: 192.0.2.2@tcp refused 1 write of 192.0.2.3@tcp with EDQUOT: whose quota is used up is not in the capture.",
		"warning slow.thread: The kernel of 192.0.2.2@tcp reported 2 service threads that worked for one request for long, the longest 73.0 s. "+
			"1 thread was still inactive when the log ended.",
		"warning node.not_on_wire: 192.0.2.3@tcp sent 1 OST_CONNECT request to 192.0.2.2@tcp, by its log, that never came onto the wire.",
		"warning node.gave_up: 192.0.2.3@tcp gave up waiting for replies of 192.0.2.2@tcp to 2 requests (OST_READ) to lustre-OST0000: 1 had no reply in time "+
			"and 1 met an error of the network. 1 of them was sent again.",
		"warning connect.read_only: 192.0.2.2@tcp refused 1 connect of 192.0.2.3@tcp with EROFS: the server lets this client mount read-only at most. "+
			"Whether it succeeded later is not in the log of the server, which does not name the target.")
}
