package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
)

const (
	ost0   = "lustre-OST0000"
	handle = 0x100
)

// A client that is cut off for long is evicted: its pings stop.
func TestEvictedSilence(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	for range 6 {
		s.pass(5)
		s.ping(node3, oss, handle)
	}
	s.pass(40)
	s.ping(node3, oss, handle, status(opcodes.ENOTCONN))
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, []change{withHandle(handle + 1), granted(7)})
	s.work(node3, oss, handle+1)
	s.expect("error evicted.silence: lustre-OST0000 evicted 192.0.2.3@tcp after it had heard nothing from it for long: the client got no reply for 40.0 s before it found out, though it pings about every 5.00 s.")
}

// The client pings: nothing in the capture explains the eviction.
func TestEvictedUnknown(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.rpc(node3, oss, opcodes.OST_WRITE, []change{withHandle(handle)}, []change{withHandle(handle), status(opcodes.ENOTCONN)})
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, []change{withHandle(handle + 1), granted(7)})
	s.work(node3, oss, handle+1)
	s.expect("error evicted.unknown: lustre-OST0000 evicted 192.0.2.3@tcp. It refused 1 request to write data: applications got an error for them. The capture does not show why: no callback was ignored, and no restart was seen since the client had its last reply, 5.00 s before. It may have been evicted by hand, or for a callback or a recovery from before the capture.")
}

// The log of the server says why, of logs without a capture.
func TestEvictedByLog(t *testing.T) {
	for reason, want := range map[debuglog.Reason]string{
		debuglog.ByAdmin:        "evicted.admin: lustre-OST0000 evicted 192.0.2.3@tcp because an administrator asked for it, by the log of the server.",
		debuglog.ByLockCallback: "evicted.lock_callback: lustre-OST0000 evicted 192.0.2.3@tcp because it did not give back a lock in time, by the log of the server.",
		debuglog.BySilence:      "evicted.silence: lustre-OST0000 evicted 192.0.2.3@tcp because nothing was heard from it for long, by the log of the server.",
		debuglog.ByRecovery:     "evicted.recovery: lustre-OST0000 evicted 192.0.2.3@tcp because it had not come back, or not finished, when the recovery of the target ended, by the log of the server.",
	} {
		s := newScene(t)
		line := func(e debuglog.Event) {
			s.pass(1)
			e.Time, e.Target = s.now, ost0
			s.e.Line(&track.LogLine{Event: e, Node: oss})
		}
		line(debuglog.Event{Kind: debuglog.Evicting, Reason: reason, Peer: node3, UUID: "c0ffee", Text: "evicting"})
		line(debuglog.Event{Kind: debuglog.Connected, Peer: node3, UUID: "c0ffee", Text: "connection from c0ffee"})
		s.expect("error " + want)
	}
}

// Two targets evict a client at once: one finding.
func TestEvictedByTwo(t *testing.T) {
	s := newScene(t)
	handles := map[string]uint64{ost0: handle, "lustre-MDT0000": 2 * handle}
	for target, h := range handles {
		s.mounted(node3, oss, target, h)
	}
	s.pass(5)
	for _, h := range handles {
		s.ping(node3, oss, h, status(opcodes.ENOTCONN))
	}
	for target, h := range handles {
		s.connect(node3, oss, target, []change{connCnt(2), withHandle(h), instance(7)}, []change{withHandle(h + 1), granted(7)})
	}
	s.expect("error evicted.unknown: lustre-MDT0000 and lustre-OST0000 evicted 192.0.2.3@tcp. The capture does not show why: no callback was ignored, and no restart was seen since the client had its last reply from each of them, at most 5.0")
}

// A target evicts two clients at once: one finding.
func TestTwoEvicted(t *testing.T) {
	s := newScene(t)
	clients := []lnet.NID{node3, node4}
	for i, c := range clients {
		s.mounted(c, oss, ost0, handle*uint64(i+1))
	}
	s.pass(5)
	for i, c := range clients {
		h := handle * uint64(i+1)
		s.pass(1)
		s.ping(c, oss, h, status(opcodes.ENOTCONN))
		s.connect(c, oss, ost0, []change{connCnt(2), withHandle(h), instance(7)}, []change{withHandle(h + 1), granted(7)})
	}
	s.expect("error evicted.unknown: lustre-OST0000 evicted 192.0.2.3@tcp and 192.0.2.4@tcp. The capture does not show why: no callback was ignored, and no restart was seen since each had its last reply, at most 7.0")
}

// Bytes between both are missing: a callback may have been in them.
func TestEvictedWhereBytesAreMissing(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.e.Lost(&lnet.Loss{Why: lnet.Lost, Bytes: 400, From: s.now, To: s.now + 1e6, Src: messages.Addr(oss), Dst: messages.Addr(node3), NIDs: []lnet.NID{oss, node3}})
	s.pass(5)
	s.ping(node3, oss, handle)
	s.pass(5)
	s.ping(node3, oss, handle, status(opcodes.ENOTCONN))
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, []change{withHandle(handle + 1), granted(7)})
	s.work(node3, oss, handle+1)
	if got := strings.Join(s.end(), "\n"); !strings.HasPrefix(got, "error evicted.unknown: lustre-OST0000 evicted 192.0.2.3@tcp. The capture lacks bytes that were sent between both, in which the cause may be.\n") {
		t.Error(got)
	}
}

// The target grants another instance than before, and is not in recovery.
func TestEvictedRecovery(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(100)
	s.ping(node3, oss, handle, status(opcodes.ENOTCONN))
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, []change{withHandle(handle + 1), granted(8)})
	s.work(node3, oss, handle+1)
	s.expect("warning restart.target: lustre-OST0000 was restarted on 192.0.2.2@tcp (instance 7, then 8)",
		"error evicted.recovery: lustre-OST0000 was restarted (instance 7, then 8). 192.0.2.3@tcp, which had its last reply 100 s before, found no recovery (it was over, or there was none), and was evicted.")
}

// Replays of two clients are refused because another client's changes are missing.
func TestEvictedVersion(t *testing.T) {
	s := newScene(t)
	for i, c := range []lnet.NID{node3, node4} {
		s.mounted(c, oss, ost0, handle*uint64(i+1))
	}
	s.pass(5)
	for i, c := range []lnet.NID{node3, node4} {
		h := handle * uint64(i+1)
		s.ping(c, oss, h, status(opcodes.ENOTCONN))
		s.connect(c, oss, ost0, []change{connCnt(2), withHandle(h), instance(7)}, []change{withHandle(h + 1), granted(8), opFlags(opRecovering)})
		s.rpc(c, oss, opcodes.OST_WRITE, []change{withHandle(h + 1), pbFlags(dissect.FlagReplay)}, []change{withHandle(h + 1), status(opcodes.EOVERFLOW), pbFlags(dissect.FlagReplay)})
		s.connect(c, oss, ost0, []change{connCnt(3), withHandle(h + 1), instance(8)}, []change{withHandle(h + 2), granted(8)})
		s.work(c, oss, h+2)
	}
	s.expect("warning restart.target: lustre-OST0000",
		"error evicted.version: lustre-OST0000 evicted 192.0.2.3@tcp and 192.0.2.4@tcp in recovery: 2 replayed requests did not fit the versions of the objects on disk (EOVERFLOW), because changes on which they depend were lost.",
		"error recovery.replay: In the recovery of lustre-OST0000 on 192.0.2.2@tcp replays of requests failed: 2 EOVERFLOW.")
}

// A client that is let into the recovery, and evicted in it, did not miss it.
func TestEvictedInRecovery(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.ping(node3, oss, handle, status(opcodes.ENOTCONN))
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, []change{withHandle(handle + 1), granted(8), opFlags(opRecovering)})
	s.pass(20)
	s.connect(node3, oss, ost0, []change{connCnt(3), withHandle(handle + 1), instance(8)}, []change{withHandle(handle + 2), granted(8)})
	for _, f := range s.end() {
		if strings.Contains(f, "no recovery") {
			t.Error(f)
		}
	}
}

// The server does not want the client any more.
func TestEvictedDenied(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.ping(node3, oss, handle, status(opcodes.ENOTCONN))
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, []change{status(opcodes.EACCES)})
	s.pass(5)
	s.connect(node3, oss, ost0, []change{connCnt(3), withHandle(handle), instance(7)}, []change{status(opcodes.EACCES)})
	s.expect("error evicted.denied: lustre-OST0000 does not accept 192.0.2.3@tcp any more: it refused to connect it again with EACCES")
}

// A client that the server knew after a lost reply is not evicted.
func TestReconnectIsNoEviction(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.rpc(node3, oss, opcodes.OST_WRITE, []change{withHandle(handle), connCnt(1)}, nil)
	s.pass(20)
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, []change{withHandle(handle), granted(7), opFlags(uint32(opcodes.MsgConnectFlags.Bit("RECONNECT")))})
	s.work(node3, oss, handle)
	s.expect("error slow.wait: 1 RPC of 192.0.2.3@tcp to lustre-OST0000 (OST_WRITE) waited 20.0 s",
		"note recovery.reconnect: 192.0.2.3@tcp lost the connection to lustre-OST0000 on 192.0.2.2@tcp")
}

// A client of a restarted MGS loses nothing.
func TestEvictedByMGS(t *testing.T) {
	s := newScene(t)
	s.connect(node3, mgs, "MGS", []change{connCnt(1), opFlags(opInitial)}, []change{withHandle(1), granted(0)})
	s.rpc(node3, mgs, opcodes.LDLM_ENQUEUE, []change{withHandle(1)}, []change{withHandle(1)})
	s.pass(5)
	s.ping(node3, mgs, 1, status(opcodes.ENOTCONN))
	s.connect(node3, mgs, "MGS", []change{connCnt(2), withHandle(1)}, []change{withHandle(2), granted(0)})
	s.expect("note evicted.unknown: 192.0.2.1@tcp did not know the connection of 192.0.2.3@tcp to the MGS any more")
}

// An MGS that was stopped gives no reply, while its node answers. It is gone for all its clients once.
func TestStoppedMGS(t *testing.T) {
	for _, nodeAnswers := range []bool{true, false} {
		s := newScene(t)
		s.connect(node3, mgs, "MGS", []change{connCnt(1), opFlags(opInitial)}, []change{withHandle(1), granted(0)})
		s.connect(node3, mgs, "lustre-MDT0000", []change{connCnt(1), opFlags(opInitial)}, []change{withHandle(3), granted(7)})
		s.rpc(node3, mgs, opcodes.LDLM_ENQUEUE, []change{withHandle(1)}, []change{withHandle(1)})
		s.rpc(node3, mgs, opcodes.OBD_PING, []change{withHandle(1)}, nil)
		for range 7 {
			s.pass(5)
			if nodeAnswers {
				s.ping(node3, mgs, 3)
			}
		}
		s.connect(node3, mgs, "MGS", []change{connCnt(2), withHandle(1)}, []change{withHandle(2), granted(0)})
		s.ping(node3, mgs, 2)
		got := strings.Join(s.end(), "\n")
		assert.Equal(t, strings.Contains(got, "warning restart.target: The MGS on 192.0.2.1@tcp was gone for at most 35.1 s, though its node was up"), nodeAnswers, got)
	}
}

// Two targets of a server that were gone at the same time are one restart.
func TestRestartedTogether(t *testing.T) {
	const ost1 = "lustre-OST0001"
	for _, tt := range []struct {
		name    string
		apart   float64 // seconds between the two
		granted [2]uint32
		reply   []change
		want    []string
	}{
		{"in recovery", 0, [2]uint32{8, 8}, []change{opFlags(opRecovering)}, []string{"warning restart.together: lustre-OST0000 and lustre-OST0001 were restarted on 192.0.2.2@tcp about the same time: all were back 5.01 s after the first sign.",
			"warning restart.target: lustre-OST0000 ", "warning restart.target: lustre-OST0001 "}},
		{"without recovery", 0, [2]uint32{8, 8}, nil, []string{"error restart.together: lustre-OST0000 and lustre-OST0001 were restarted on 192.0.2.2@tcp about the same time, without a recovery:",
			"error evicted.recovery", "error restart.no_recovery: lustre-OST0000 ", "warning restart.target", "error evicted.recovery", "error restart.no_recovery: lustre-OST0001 ", "warning restart.target"}},
		{"rolled back", 0, [2]uint32{6, 6}, []change{opFlags(opRecovering)}, []string{"error restart.together: lustre-OST0000 and lustre-OST0001 on 192.0.2.2@tcp came back with older states of their disks, and what they had committed since is gone:",
			"error restart.rolled_back: lustre-OST0000 ", "error restart.rolled_back: lustre-OST0001 ", "warning restart.target", "warning restart.target"}},
		{"one rolled back", 0, [2]uint32{6, 8}, []change{opFlags(opRecovering)}, []string{"error restart.rolled_back: lustre-OST0000 ", "warning restart.target", "warning restart.target"}},
		{"one after the other", 20, [2]uint32{8, 8}, []change{opFlags(opRecovering)}, []string{"warning restart.target: lustre-OST0000 ", "warning restart.target: lustre-OST0001 "}},
	} {
		s := newScene(t)
		s.mounted(node3, oss, ost0, handle)
		s.mounted(node3, oss, ost1, 2*handle)
		s.pass(5)
		back := func(target string, h uint64, number uint32) {
			s.connect(node3, oss, target, []change{connCnt(3), withHandle(h), instance(7)}, append([]change{withHandle(h + 1), granted(number)}, tt.reply...))
		}
		gone := func(target string, h uint64) {
			s.ping(node3, oss, h, status(opcodes.ENOTCONN))
			s.connect(node3, oss, target, []change{connCnt(2), withHandle(h), instance(7)}, []change{status(opcodes.ENODEV)})
		}
		gone(ost0, handle)
		if tt.apart > 0 {
			s.pass(5)
			back(ost0, handle, tt.granted[0])
			s.pass(tt.apart)
		}
		gone(ost1, 2*handle)
		s.pass(5)
		if tt.apart == 0 {
			back(ost0, handle, tt.granted[0])
		}
		back(ost1, 2*handle, tt.granted[1])
		t.Log(tt.name)
		s.expect(tt.want...)
	}
}

// TestWaitOfEvicted: a server that evicts a client waits for its answers no more.
func TestWaitOfEvicted(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.rpc(oss, node3, opcodes.LDLM_BL_CALLBACK, nil, nil)
	s.pass(20)
	s.ping(node3, oss, handle, status(opcodes.ENOTCONN))
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle)}, []change{withHandle(handle + 1), granted(7)})
	for range 8 {
		s.pass(5)
		s.ping(node3, oss, handle+1)
	}
	s.e.Close()
	var waits []int64
	for _, f := range s.e.Findings() {
		if f.Wait > 0 {
			waits = append(waits, f.Wait/1e9)
		}
	}
	assert.Equal(t, fmt.Sprint(waits), "[20]", "seconds that requests waited")
}

// TestCaptureBeginsInRecovery checks that a client is evicted for what it replayed where the capture begins while it replays, and that the request
// in which it waits for the end of the recovery is no sign that the target was gone.
func TestCaptureBeginsInRecovery(t *testing.T) {
	s := newScene(t)
	s.rpc(node3, oss, opcodes.OST_WRITE, []change{withHandle(handle), pbFlags(dissect.FlagReplay)},
		[]change{withHandle(handle), status(opcodes.EOVERFLOW), pbFlags(dissect.FlagReplay)})
	s.rpc(node3, oss, opcodes.OBD_PING, []change{withHandle(handle), pbFlags(dissect.FlagReqReplayDone | dissect.FlagLockReplayDone)}, nil)
	s.pass(40)
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle)}, []change{withHandle(handle + 1), granted(8),
		opFlags(uint32(opcodes.MsgConnectFlags.Bit("RECONNECT")))})
	s.pass(1)
	s.expect("warning restart.target: lustre-OST0000 had been restarted on 192.0.2.2@tcp before 192.0.2.3@tcp connected in its recovery; when is not in the capture.",
		"error evicted.version: lustre-OST0000 evicted 192.0.2.3@tcp in recovery: 1 replayed request did not fit",
		"error recovery.replay")
}
