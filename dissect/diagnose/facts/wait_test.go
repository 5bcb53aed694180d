package facts

import (
	"testing"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
)

// TestSentAgainLater checks an RPC that its client gave up before the capture, by its log, and of which the capture has what was sent
// later: a callback has waited since it was sent first, and for a ping nobody waits any more.
func TestSentAgainLater(t *testing.T) {
	const second = int64(1e9)
	for opcode, want := range map[uint32]Span{
		opcodes.LDLM_BL_CALLBACK: {10 * second, 80*second + second/100},
		opcodes.OBD_PING:         {10 * second, 26 * second},
	} {
		f := New()
		f.line(&track.LogLine{Log: 1, File: "mds.dk", Event: debuglog.Event{Kind: debuglog.Note, Line: 7, Time: 26 * second, Service: 16 * second, XID: 3, Opcode: opcode,
			Reason: debuglog.SlowReply}})
		r := track.RPC{HasRequest: true, HasReply: true, Log: &debuglog.RPC{HasClient: true, Client: debuglog.Call{Log: 1}}}
		r.XID, r.Opcode, r.HasOpcode = 3, opcode, true
		r.Seen = []track.Sighting{{Request: track.Point{Frame: 5, Time: 80 * second}, Reply: track.Point{Frame: 6, Time: 80*second + second/100}}}
		f.ended(&r, attempts{})
		assert.Equal(t, len(f.waits), 1, opcode)
		w := f.waits[0]
		assert.Equal(t, w.Span, want, opcode)
		assert.That(t, w.Open == (opcode == opcodes.OBD_PING) && w.Request.Frame < 0, "open %v, proved by %+v", w.Open, w.Request)
	}
}

// TestGivenUp checks that a request which its client gave up, and which its log has as completed, has not waited to the end of the input, and
// may have had a reply, as it was sent again.
func TestGivenUp(t *testing.T) {
	const second = int64(1e9)
	f := New()
	f.line(&track.LogLine{Log: 1, File: "oss.dk", Event: debuglog.Event{Kind: debuglog.Note, Line: 7, Time: 26 * second, Service: 16 * second, XID: 3, Opcode: opcodes.LDLM_BL_CALLBACK,
		Reason: debuglog.SlowReply}})
	r := track.RPC{HasRequest: true, Log: &debuglog.RPC{HasClient: true, Client: debuglog.Call{Log: 1, Completed: 109 * second}}}
	r.XID, r.Opcode, r.HasOpcode = 3, opcodes.LDLM_BL_CALLBACK, true
	f.logged(&r)
	f.now = 200 * second
	list := f.Waits()
	assert.That(t, len(list) == 1 && !list[0].Open && list[0].Span == Span{10 * second, 109 * second}, "waits %+v", list[0])
}

// TestGivenUpTwice checks that a request whose client gave it up several times waited longer than the lines say, but where the log goes on with
// all calls of its node.
func TestGivenUpTwice(t *testing.T) {
	const second = int64(1e9)
	for _, hasCalls := range []bool{false, true} {
		f := New()
		for i, at := range []int64{26 * second, 42 * second} {
			f.line(&track.LogLine{Log: 1, File: "oss.dk", Event: debuglog.Event{Kind: debuglog.Note, Line: int64(7 + i), Time: at, Service: 16 * second, XID: 3,
				Opcode: opcodes.LDLM_BL_CALLBACK, Reason: debuglog.SlowReply}})
		}
		want := Span{10 * second, 42 * second}
		if hasCalls {
			want.To = 90 * second
			f.logged(&track.RPC{HasRequest: true, Seen: []track.Sighting{{}}, Log: &debuglog.RPC{HasClient: true, Client: debuglog.Call{Log: 1, XID: 4, Sent: 90 * second}}})
		}
		f.now = 200 * second
		list := f.Waits()
		assert.Equal(t, len(list), 1)
		assert.That(t, list[0].Span == want && list[0].AtLeast == !hasCalls && len(list[0].Sends) == 2, "with calls %v: waits %+v", hasCalls, *list[0])
	}
}

// TestLateOntoTheWire checks that a request has waited since its client sent it, by its log, and until its client gave it up.
func TestLateOntoTheWire(t *testing.T) {
	const second = int64(1e9)
	for _, tt := range []struct {
		hasReply  bool
		completed int64
		want      Span
	}{{true, 0, Span{10 * second, 21 * second}}, {false, 50 * second, Span{10 * second, 50 * second}}} {
		f := New()
		r := track.RPC{HasRequest: true, HasReply: tt.hasReply, Missing: track.CaptureEnded, Log: &debuglog.RPC{HasClient: true,
			Client: debuglog.Call{Log: 1, Sent: 10 * second, Completed: tt.completed}}}
		r.XID, r.Opcode, r.HasOpcode = 3, opcodes.OST_WRITE, true
		r.Seen = []track.Sighting{{Request: track.Point{Frame: 5, Time: 20 * second}, Reply: track.Point{Frame: 6, Time: 21 * second}}}
		if !tt.hasReply {
			r.Seen[0].Reply = track.Point{}
		}
		f.ended(&r, attempts{})
		f.now = 200 * second
		list := f.Waits()
		assert.That(t, len(list) == 1 && list[0].Span == tt.want, "waits %+v", list[0])
	}
}

// TestCallbacksOfOthers checks that a server has not asked for locks of an OST where it asked for those of an MDT, and that a log has callbacks
// in the order of their ends.
func TestCallbacksOfOthers(t *testing.T) {
	const second = int64(1e9)
	server := messages.NID(2)
	f := New()
	for _, c := range []struct {
		target     string
		sent, over int64
	}{{"lustre-MDT0000", 10, 11}, {"lustre-OST0001", 31, 32}, {"lustre-OST0000", 20, 90}} {
		r := track.RPC{Log: &debuglog.RPC{HasClient: true, Client: debuglog.Call{Sent: c.sent * second, UUID: c.target + "_UUID"}}}
		r.Opcode, r.Client = opcodes.LDLM_BL_CALLBACK, server
		r.Seen = []track.Sighting{{Request: track.Point{Frame: -1, Time: c.sent * second}}}
		f.logged(&r)
	}
	for _, tt := range []struct {
		opcode uint32
		at     int64
		asked  bool
	}{{opcodes.OST_WRITE, 10, false}, {opcodes.MDS_REINT, 10, true}, {opcodes.OST_WRITE, 20, true}, {opcodes.MDS_REINT, 20, false}, {opcodes.LDLM_ENQUEUE, 20, true}} {
		w := &Wait{Server: server, Operation: Operation{Opcode: tt.opcode}}
		assert.Equal(t, f.AskedForLocks(w, Span{tt.at * second, (tt.at + 1) * second}), tt.asked, w.Operation, tt.at)
	}
}

// TestLockOfRequest checks which wait for a reply has all of that for its lock: not one whose lock was granted long after the reply.
func TestLockOfRequest(t *testing.T) {
	const second = int64(1e9)
	lock := &Wait{Span: Span{10 * second, 30 * second}, Lock: true}
	for _, tt := range []struct {
		w    Wait
		want bool
	}{
		{Wait{Span: Span{10 * second, 30 * second}}, true},
		{Wait{Span: Span{10 * second, 27 * second}}, false},
		{Wait{Span: Span{11 * second, 30 * second}}, false},
		{Wait{Span: Span{10 * second, 30 * second}, Lock: true}, false},
		{Wait{Span: Span{10 * second, 30 * second}, Client: messages.NID(3)}, false},
	} {
		assert.Equal(t, tt.w.HasLockOf(lock), tt.want, tt.w.Span, tt.w.Lock)
	}
}

// TestBlockedBy checks that a client may wait for a lock of its own, and that those count which kept the request waiting for most of the time.
func TestBlockedBy(t *testing.T) {
	client, other := messages.NID(3), messages.NID(4)
	f := New()
	f.addWait(&Wait{Span: Span{1e9, 9e9}, Client: client, Server: messages.NID(2), Lock: true, Blocked: []locks.Blocker{
		{Client: client, From: 1e9, Until: 8990e6}, {Client: other, From: 8990e6}}})
	list := f.Waits()[0].Blocked
	assert.That(t, len(list) == 1 && list[0].Client == client, "%+v", list)
}
