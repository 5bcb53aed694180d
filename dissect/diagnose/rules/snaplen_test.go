package rules

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
)

// cut leaves what a snaplen of 256 bytes leaves of a message over TCP: the ptlrpc_body up to the
// number of the last committed transaction.
func cut(m *message) {
	m.Msg.Bufs = [][]byte{m.Msg.Bufs[0][:opcodes.PbFlags.Off-2]}
	m.RPC.Flags, m.RPC.OpFlags, m.RPC.ConnCnt, m.RPC.Transno, m.RPC.Cut = 0, 0, 0, 0, true
	m.Size, m.Tail = 400, lnet.Snaplen
}

// cutBefore leaves nothing of the ptlrpc_body: the kind is known by the portal.
func cutBefore(m *message) {
	cut(m)
	m.Msg.Bufs = nil
	m.RPC = dissect.RPC{XID: m.RPC.XID, HasXID: true, Cut: true}
}

// cutConnect sends a connect of a client that has a handle. accepted is the handle that it gets, 0: it is refused.
func (s *scene) cutConnect(client, server lnet.NID, old, accepted uint64) {
	rep := []change{withHandle(accepted), cut}
	if accepted == 0 {
		rep = []change{status(opcodes.ENODEV), cut}
	}
	s.rpc(client, server, opcodes.OST_CONNECT, []change{to(ost0, "client"), withHandle(old), cut}, rep)
}

func (s *scene) cutWork(client, server lnet.NID, handle uint64, changes ...change) {
	s.rpc(client, server, opcodes.OST_WRITE, []change{withHandle(handle), cut}, append([]change{cut}, changes...))
}

// A server gives a client another handle: it has evicted the client, or was restarted.
func TestUnknownToTheServer(t *testing.T) {
	s := newScene(t)
	s.cutWork(node3, oss, handle)
	s.pass(5)
	s.cutWork(node3, oss, handle, status(opcodes.ENOTCONN))
	s.cutConnect(node3, oss, handle, handle+1)
	s.cutWork(node3, oss, handle+1)
	s.expect("warning recovery.unknown: A target of 192.0.2.2@tcp did not know 192.0.2.3@tcp any more: it was evicted, or the target was restarted. The bytes that show which of both were not captured.")
}

// The client keeps its handle: the server still knows it.
func TestReconnectWithTheSameHandle(t *testing.T) {
	s := newScene(t)
	s.cutWork(node3, oss, handle)
	s.pass(5)
	s.cutConnect(node3, oss, handle, handle)
	s.cutWork(node3, oss, handle)
	s.expect()
}

// The server does not have the target, and later gives the client another handle.
func TestRestartOfUnnamedTarget(t *testing.T) {
	s := newScene(t)
	for i, c := range []lnet.NID{node3, node4} {
		s.cutWork(c, oss, handle*uint64(i+1))
	}
	s.pass(5)
	for i, c := range []lnet.NID{node3, node4} {
		s.cutConnect(c, oss, handle*uint64(i+1), 0)
	}
	s.pass(5)
	for i, c := range []lnet.NID{node3, node4} {
		s.cutConnect(c, oss, handle*uint64(i+1), handle*uint64(i+1)+1)
		s.cutWork(c, oss, handle*uint64(i+1)+1)
	}
	s.expect("warning restart.target: One or more targets of 192.0.2.2@tcp were restarted: the first client was connected again after 5.0")
}

// The reply to a connect was captured without its status: whether it was accepted is unknown.
func TestConnectReplyWithoutStatus(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle)}, []change{status(opcodes.ENODEV)})
	s.pass(5)
	s.connect(node3, oss, ost0, []change{connCnt(3), withHandle(handle)}, []change{cut, func(m *message) { m.Msg.Bufs[0] = m.Msg.Bufs[0][:opcodes.PbStatus.Off] }})
	s.pass(60)
	s.e.Lost(&lnet.Loss{Why: lnet.Snaplen, Bytes: 400, From: s.now, To: s.now, Src: messages.Addr(oss), Dst: messages.Addr(node3), NIDs: []lnet.NID{oss, node3}})
	s.expect("warning restart.unreachable: lustre-OST0000 on 192.0.2.2@tcp was stopped. 192.0.2.3@tcp lost it; whether it connected again is not known, as the capture lacks messages.",
		"note connect.not_up")
}

// A request of which only the kind is known may have been of any connection, and so its reply.
func TestEvictedWhereRequestsAreCut(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.rpc(node3, oss, opcodes.OBD_PING, []change{withHandle(handle), cutBefore}, []change{cutBefore})
	s.pass(5)
	s.ping(node3, oss, handle, status(opcodes.ENOTCONN))
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, []change{withHandle(handle + 1), granted(7)})
	s.work(node3, oss, handle+1)
	s.expect("error evicted.unknown: lustre-OST0000 evicted 192.0.2.3@tcp. The capture lacks bytes that were sent between both, in which the cause may be.")
}

// A request is refused, and sent again when the client has connected: its flags are not needed to know that.
func TestSentAgainWithoutFlags(t *testing.T) {
	s := newScene(t)
	s.cutWork(node3, oss, handle)
	s.pass(5)
	s.cutWork(node3, oss, handle, status(opcodes.ENOTCONN))
	sent := s.xid
	s.cutConnect(node3, oss, handle, 0)
	s.pass(5)
	s.cutConnect(node3, oss, handle, handle+1)
	last := s.xid
	s.xid = sent
	s.send(lnet.Request, node3, oss, opcodes.OST_WRITE, []change{withHandle(handle + 1), cut})
	s.send(lnet.Reply, oss, node3, opcodes.OST_WRITE, []change{cut})
	s.xid = last
	got := strings.Join(s.end(), "\n")
	if !strings.Contains(got, "A request waited 5.0") || strings.Contains(got, "ENOTCONN") {
		t.Error(got)
	}
}

// cutSample returns the text of the findings of a rule in a sample with so many bytes of each frame.
func cutSample(t *testing.T, code, sample string, snaplen int) (text string) {
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{findRule(t, code)}})
	d := dissect.New(dissect.Options{Handle: e.Message, Lost: e.Lost, TCPEvent: e.TCPEvent})
	frames := wiretest.ReadSample(t, samplePath(sample))
	for i := range frames {
		frames[i].Data = frames[i].Data[:min(len(frames[i].Data), snaplen)]
	}
	wiretest.Play(d, frames)
	e.Close()
	for _, f := range e.Findings() {
		text += f.Text + "\n"
	}
	return text
}

// Opcode and handle are enough to see that a request waits.
func TestWaitWithSnaplen(t *testing.T) {
	got := cutSample(t, "slow.wait", "hung_target.pcap.zst", 256)
	assert.That(t, strings.HasPrefix(got, "1 RPC of 192.0.2.4@tcp to 192.0.2.2@tcp (OST_WRITE) waited 73.3 s."), "%s", got)
	assert.Equal(t, cutSample(t, "slow.wait", "hung_target.pcap.zst", 160), "", "without opcodes")
}

// The bytes that were cut off count among those of the messages.
func TestRetransmissionsWithSnaplen(t *testing.T) {
	const whole, cut = 1 << 16, 256
	want, _, _ := strings.Cut(cutSample(t, "tcp.retransmission", "losses.pcap.zst", whole), " As far")
	got, _, _ := strings.Cut(cutSample(t, "tcp.retransmission", "losses.pcap.zst", cut), " As far")
	assert.Equal(t, strings.TrimSpace(got), strings.TrimSpace(want), "shares")
}

// Clients replay what they have in a recovery only: requests alone show that a target was restarted.
func TestReplaysWithoutReplies(t *testing.T) {
	s := newScene(t)
	s.rpc(node3, oss, opcodes.OST_WRITE, []change{withHandle(handle)}, nil)
	s.pass(5)
	s.rpc(node3, oss, opcodes.OST_WRITE, []change{withHandle(handle + 1), pbFlags(dissect.FlagReplay)}, nil)
	s.rpc(node3, oss, opcodes.LDLM_ENQUEUE, []change{withHandle(handle + 1), pbFlags(dissect.FlagReqReplayDone)}, nil)
	s.expect("warning restart.target: A target of 192.0.2.2@tcp had been restarted before 192.0.2.3@tcp connected in its recovery; when is not in the capture. 1 request and 1 lock were replayed.",
		"note capture.no_connect")
}

// The restart of a target with a name is known: the replays of a client without one may be to that.
func TestReplaysToKnownTarget(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.rpc(node4, oss, opcodes.OST_WRITE, []change{withHandle(3 * handle)}, nil)
	s.pass(5)
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, []change{withHandle(handle + 1), opFlags(opcodes.ConnectRecovering), granted(8)})
	s.rpc(node4, oss, opcodes.OST_WRITE, []change{withHandle(4 * handle), pbFlags(dissect.FlagReplay)}, nil)
	s.expect("warning restart.target: lustre-OST0000 was restarted on 192.0.2.2@tcp (instance 7, then 8)", "note capture.no_connect")
}

// A client connects with another instance than before: the target was restarted, though nobody was seen to come back.
func TestRestartByInstance(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, []change{status(opcodes.ENODEV)})
	s.pass(5)
	s.connect(node3, oss, ost0, []change{connCnt(4), withHandle(handle + 1), instance(8)}, []change{withHandle(handle + 1), opFlags(opcodes.ConnectReconnect), granted(8)})
	s.work(node3, oss, handle+1)
	s.expect("warning restart.target: lustre-OST0000 was restarted (instance 7, then 8). Meanwhile a connect was refused with ENODEV.")
}

// Bytes of another server are missing: they have nothing to do with a client that this one does not admit.
func TestDeniedWhereOthersAreLost(t *testing.T) {
	s := newScene(t)
	s.connect(node3, oss, ost0, []change{connCnt(1), opFlags(opInitial)}, []change{status(opcodes.EACCES)})
	s.pass(5)
	s.e.Lost(&lnet.Loss{Why: lnet.Lost, Bytes: 400, From: s.now, To: s.now, Src: messages.Addr(mgs), Dst: messages.Addr(node3), NIDs: []lnet.NID{mgs, node3}})
	s.expect("error connect.denied: lustre-OST0000 on 192.0.2.2@tcp refused 1 connect of 192.0.2.3@tcp with EACCES", "warning capture.lost")
}

// Replies alone show that a target is in recovery, and that a server does not know a client.
func TestRepliesWithoutRequests(t *testing.T) {
	s := newScene(t)
	reply := func(client lnet.NID, opcode uint32, changes ...change) {
		s.xid += 128
		s.send(lnet.Reply, oss, client, opcode, changes)
	}
	reply(node3, opcodes.OST_WRITE)
	s.pass(5)
	lost := func(m *message) { m.RPC.Status, m.RPC.Type = opcodes.ENOTCONN, dissect.TypeError }
	reply(node4, opcodes.OBD_PING, lost)
	s.pass(100)
	reply(node3, opcodes.OST_CONNECT, withHandle(handle), opFlags(opcodes.ConnectRecovering), granted(7))
	reply(node4, opcodes.OST_CONNECT, withHandle(2*handle), opFlags(opcodes.ConnectRecovering), granted(7))
	s.expect("warning restart.target: One or more targets of 192.0.2.2@tcp had been restarted before 192.0.2.3@tcp and 192.0.2.4@tcp connected in their recovery; when is not in the capture.",
		"warning recovery.unknown: A target of 192.0.2.2@tcp did not know 192.0.2.4@tcp any more")
}
