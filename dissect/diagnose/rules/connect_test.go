package rules

import (
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

// refusedThen lets a new client be refused with an error n times, five seconds apart,
// and then accepts it if then is not nil.
func refusedThen(t *testing.T, errno int32, n int, then []change) *scene {
	s := newScene(t)
	for i := range uint32(n) {
		s.connect(node3, oss, ost0, []change{connCnt(i + 1), opFlags(opInitial)}, []change{status(errno)})
		s.pass(5)
	}
	if then != nil {
		s.connect(node3, oss, ost0, append([]change{connCnt(uint32(n) + 1), opFlags(opInitial)}, then...), []change{withHandle(handle), granted(7)})
	}
	return s
}

func TestRefusedConnects(t *testing.T) {
	accepted := []change{}
	for _, tt := range []struct {
		errno int32
		n     int
		then  []change
		want  string
	}{
		{opcodes.ENODEV, 3, nil, "error connect.not_up: lustre-OST0000 on 192.0.2.2@tcp refused 3 connects of 192.0.2.3@tcp with ENODEV in 10.0 s: the target is not on this server, or not started. The client was not connected when the capture ended."},
		{opcodes.ENODEV, 1, nil, "warning connect.not_up: "},
		{opcodes.ENODEV, 3, accepted, "warning connect.not_up: lustre-OST0000 on 192.0.2.2@tcp refused 3 connects of 192.0.2.3@tcp with ENODEV in 10.0 s: the target is not on this server, or not started. Connected 15.0 s after the first refusal."},
		{opcodes.EAGAIN, 1, accepted, "warning connect.starting: "},
		{opcodes.EBUSY, 4, nil, "error connect.recovering: "},
		{opcodes.EBUSY, 4, accepted, "warning connect.recovering: "},
		{opcodes.EALREADY, 2, accepted, "warning connect.in_progress: "},
		{opcodes.EROFS, 1, []change{readOnly}, "warning connect.read_only: lustre-OST0000 on 192.0.2.2@tcp refused 1 connect of 192.0.2.3@tcp with EROFS: the server lets this client mount read-only at most. The client is connected read-only."},
		{opcodes.EPERM, 1, nil, "error connect.denied: "},
		{opcodes.EPROTO, 2, nil, "error connect.version: "},
		{opcodes.EINVAL, 2, nil, "error connect.refused: lustre-OST0000 on 192.0.2.2@tcp refused 2 connects of 192.0.2.3@tcp with EINVAL"},
	} {
		refusedThen(t, tt.errno, tt.n, tt.then).expect(tt.want)
	}
}

// TestNotUpYet checks that a client which is connected in the end was configured for the right server.
func TestNotUpYet(t *testing.T) {
	for then, want := range map[lnet.NID]int{{}: 3, oss: 2, mgs: 3} {
		s := refusedThen(t, opcodes.ENODEV, 3, nil)
		if s.pass(30); then.Len > 0 {
			s.connect(node3, then, ost0, []change{connCnt(4), opFlags(opInitial)}, []change{withHandle(handle), granted(7)})
		}
		s.e.Close()
		assert.Equal(t, len(s.e.Findings()[0].Suspects), want, then)
	}
}

// A client that finds a target on its second server has met nothing unusual.
func TestSecondServer(t *testing.T) {
	s := newScene(t)
	s.connect(node3, mgs, ost0, []change{connCnt(1), opFlags(opInitial)}, []change{status(opcodes.ENODEV)})
	s.connect(node3, oss, ost0, []change{connCnt(2), opFlags(opInitial)}, []change{withHandle(handle), granted(7)})
	s.expect()
}

// Targets that refuse the same client for the same reason are one finding.
func TestDeniedByNode(t *testing.T) {
	s := newScene(t)
	for _, target := range []string{"lustre-OST0000", "lustre-OST0001", "lustre-OST0002"} {
		s.connect(node3, oss, target, []change{connCnt(1), opFlags(opInitial)}, []change{status(opcodes.EACCES)})
	}
	s.expect("error connect.denied: 192.0.2.2@tcp refused 3 connects of 192.0.2.3@tcp to lustre-OST0000, lustre-OST0001 and lustre-OST0002 with EACCES")
}

func readOnly(m *message) {
	data := m.Msg.Bufs[4]
	data[0] |= byte(opcodes.ObdConnectFlags.Bit("RDONLY"))
}

// A server that answers no connect.
func TestUnansweredConnects(t *testing.T) {
	s := newScene(t)
	for i := range uint32(4) {
		s.connect(node3, oss, ost0, []change{connCnt(i + 1), opFlags(opInitial)}, nil)
		s.pass(5)
	}
	s.ping(node4, mgs, 5)
	s.expect("error connect.unanswered: 192.0.2.2@tcp did not answer", "note capture.no_connect")
}

// mounting plays a mount until the first connect to an MDT.
func mounting(t *testing.T, log string, logStatus int32) *scene {
	s := newScene(t)
	s.connect(node3, mgs, "MGS", []change{connCnt(1), opFlags(opInitial)}, []change{withHandle(1)})
	s.rpc(node3, mgs, opcodes.LLOG_ORIGIN_HANDLE_CREATE, []change{withHandle(1), func(m *message) {
		m.Msg.Bufs = append(m.Msg.Bufs, make([]byte, 48), []byte(log+"\x00"))
		m.RPC.Variant = opcodes.ByOpcode(opcodes.LLOG_ORIGIN_HANDLE_CREATE).Variants[0]
	}}, []change{withHandle(1), status(logStatus)})
	return s
}

// unmount disconnects from the MGS.
func (s *scene) unmount() {
	s.rpc(node3, mgs, opcodes.MGS_DISCONNECT, []change{withHandle(1)}, []change{withHandle(1)})
}

const mdt0 = "lustre-MDT0000"

func TestMounts(t *testing.T) {
	connected := func(s *scene) {
		s.connect(node3, mgs, mdt0, []change{connCnt(1), opFlags(opInitial)}, []change{withHandle(2), granted(3)})
	}
	get := func(opcode uint32, errno int32) func(*scene) {
		return func(s *scene) {
			s.rpc(node3, mgs, opcode, []change{withHandle(2)}, []change{withHandle(2), status(errno)})
		}
	}
	refused := func(s *scene) {
		s.connect(node3, mgs, mdt0, []change{connCnt(1), opFlags(opInitial)}, []change{status(opcodes.EBUSY)})
		s.pass(9)
	}
	for name, tt := range map[string]struct {
		log    string
		status int32
		steps  []func(*scene)
		want   []string
	}{
		"no such file system": {"nosuch-client", opcodes.ENOENT, nil, []string{"error mount.failed: The mount of nosuch on 192.0.2.3@tcp failed: the MGS does not know a file system of this name: it has no configuration log nosuch-client (ENOENT)."}},
		"optional log":        {"params", opcodes.ENOENT, []func(*scene){connected, get(opcodes.MDS_GET_ROOT, 0), get(opcodes.MDS_GETATTR, 0)}, nil},
		"success":             {"lustre-client", 0, []func(*scene){connected, get(opcodes.MDS_GET_ROOT, 0), get(opcodes.MDS_GETATTR, 0)}, nil},
		"no root":             {"lustre-client", 0, []func(*scene){connected, get(opcodes.MDS_GET_ROOT, opcodes.EPERM)}, []string{"error mount.failed: The mount of lustre on 192.0.2.3@tcp failed: the server does not hand out the root directory: EPERM, which is what"}},
		"no attributes":       {"lustre-client", 0, []func(*scene){connected, get(opcodes.MDS_GET_ROOT, 0), get(opcodes.MDS_GETATTR, opcodes.EACCES)}, []string{"error mount.failed: The mount of lustre on 192.0.2.3@tcp failed: the server does not hand out the attributes of the root directory: EACCES"}},
		"no key":              {"lustre-client", 0, nil, []string{"error mount.failed: The mount of lustre on 192.0.2.3@tcp failed: the client had read the configuration log and gave up before"}},
		"refused": {"lustre-client", 0, []func(*scene){refused}, []string{"error mount.failed: The mount of lustre on 192.0.2.3@tcp failed: lustre-MDT0000 refused the connect with EBUSY, and the client gave up after 9.01 s.",
			"warning connect.recovering"}},
	} {
		s := mounting(t, tt.log, tt.status)
		for _, step := range tt.steps {
			step(s)
		}
		s.unmount()
		t.Run(name, func(t *testing.T) { s.expect(tt.want...) })
	}
}

// A target that clients used answers no more.
func TestUnreachableTarget(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.rpc(node3, oss, opcodes.OBD_PING, []change{withHandle(handle)}, nil)
	for i := range uint32(6) {
		s.pass(20)
		s.connect(node3, oss, ost0, []change{connCnt(i + 2), withHandle(handle), instance(7)}, nil)
	}
	s.pass(20)
	s.ping(node4, mgs, 5)
	for _, f := range s.end() {
		if strings.HasPrefix(f, "error restart.unreachable: lustre-OST0000 on 192.0.2.2@tcp did not answer any more.") {
			return
		}
	}
	t.Error("no restart.unreachable")
}

// Of a server that was asked nothing since a client closed its connections, it is unknown whether it would
// answer: the client tries another one, which does not.
func TestUnansweredOtherServer(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	for i := range uint32(3) {
		s.connect(node3, mgs, ost0, []change{connCnt(i + 2), withHandle(handle), instance(7)}, nil)
		s.pass(20)
	}
	s.ping(node4, mgs, 5)
	for _, f := range s.end() {
		if strings.Contains(f, "restart.unreachable") {
			t.Error(f)
		}
	}
}

// Where the capture ends just after a client connects again, nothing is known yet.
func TestEndAtReconnect(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, nil)
	s.ping(node4, mgs, 5)
	s.expect("note capture.no_connect")
}

// A target that clients used is stopped, and does not come back, or comes back without a recovery.
func TestStoppedTarget(t *testing.T) {
	stopped(t).expect("error restart.unreachable: lustre-OST0000 on 192.0.2.2@tcp was stopped. 192.0.2.3@tcp lost it and was not connected again by the end of the capture. Meanwhile 3 connects were refused with ENODEV.",
		"error connect.not_up")
	s := stopped(t)
	s.connect(node3, oss, ost0, []change{connCnt(5), withHandle(handle), instance(7)}, []change{withHandle(handle + 1), granted(8)})
	s.work(node3, oss, handle+1)
	s.expect("error restart.no_recovery: lustre-OST0000 was restarted on 192.0.2.2@tcp (instance 7, then 8) without a recovery: it evicted 192.0.2.3@tcp 5.00 s after the server had said that it does not have the target.",
		"error evicted.recovery: lustre-OST0000 was restarted (instance 7, then 8). 192.0.2.3@tcp connected 5.00 s after the server had said that it does not have the target, found no recovery, and was evicted.",
		"warning restart.target")
}

func stopped(t *testing.T) *scene {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.ping(node3, oss, handle, status(opcodes.ENOTCONN))
	for i := range uint32(3) {
		s.connect(node3, oss, ost0, []change{connCnt(i + 2), withHandle(handle), instance(7)}, []change{status(opcodes.ENODEV)})
		s.pass(5)
	}
	return s
}

// A second server that does not answer connects is no target that was lost.
func TestUnansweredSecondServer(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, mgs, "lustre-MDT0000", handle)
	s.pass(5)
	for i := range uint32(6) {
		s.pass(20)
		s.connect(node3, mgs, ost0, []change{connCnt(i + 15), withHandle(0x300), instance(3)}, nil)
	}
	s.pass(20)
	s.ping(node4, oss, 5)
	for _, f := range s.end() {
		if strings.Contains(f, "restart.unreachable") {
			t.Error(f)
		}
	}
}

// answer sends the answer of the server to a request for an InfiniBand connection:
// reason 0 accepts it.
func (s *scene) answer(after float64, reason uint16) {
	s.pass(after)
	s.frame++
	m := &dissect.Message{Message: lnet.Message{Frame: s.frame, Time: s.now, Kind: lnet.Connrej, Transport: lnet.O2IB, Src: messages.Addr(oss), Dst: messages.Addr(node3), IB: &lnet.IB{Reject: reason}}}
	if reason == 0 {
		m.Kind = lnet.Connack
	}
	s.e.Message(m)
}

func TestRejectedConnections(t *testing.T) {
	const invalidService, stale = 8, 10
	for name, tt := range map[string]struct {
		reasons []uint16
		want    []string
	}{
		"accepted":  {[]uint16{0}, nil},
		"never":     {[]uint16{invalidService, invalidService}, []string{"error connect.rejected: 192.0.2.2 refused 2 InfiniBand connections of 192.0.2.3: INVALID_SERVICE_ID"}},
		"at once":   {[]uint16{invalidService, 0}, nil},
		"late":      {[]uint16{invalidService, invalidService, invalidService, 0}, []string{"warning connect.rejected: 192.0.2.2 refused 3 InfiniBand connections of 192.0.2.3: INVALID_SERVICE_ID"}},
		"restarted": {[]uint16{stale, stale, stale}, nil},
	} {
		s := newScene(t)
		for _, reason := range tt.reasons {
			s.answer(3, reason)
		}
		t.Run(name, func(t *testing.T) { s.t = t; s.expect(tt.want...) })
	}
}

// A target whose disk returns errors becomes read-only.
func TestReadOnlyAfterErrors(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.rpc(node3, oss, opcodes.OST_READ, []change{withHandle(handle)}, []change{withHandle(handle), status(opcodes.EIO)})
	s.pass(10)
	s.rpc(node3, oss, opcodes.OST_WRITE, []change{withHandle(handle)}, []change{withHandle(handle), status(opcodes.EROFS)})
	s.expect("warning io.error: lustre-OST0000 answered 1 read", "error space.read_only: lustre-OST0000 is read-only: it refused 1 write")
	if list := s.e.Findings(); len(list) != 2 || list[1].Cause != list[0] {
		t.Errorf("%d findings", len(list))
	}
}

// Several connections of a node that are refused once each have not tried again yet.
func TestRefusedOnce(t *testing.T) {
	for tries, want := range []string{1: "warning", 2: "error"} {
		if want == "" {
			continue
		}
		s := newScene(t)
		for try := range uint32(tries) {
			for _, uuid := range []string{"a", "b", "c"} {
				s.rpc(node3, oss, opcodes.OST_CONNECT, []change{to(ost0, uuid), connCnt(try + 1), opFlags(opInitial)}, []change{status(opcodes.ENODEV)})
			}
			s.pass(5)
		}
		s.expect(want + " connect.not_up: lustre-OST0000 on 192.0.2.2@tcp refused")
	}
}

// What is refused again after all were connected is another story.
func TestRefusedAgain(t *testing.T) {
	s := newScene(t)
	for i, c := range []lnet.NID{node3, node4} {
		s.connect(c, oss, ost0, []change{connCnt(1), opFlags(opInitial)}, []change{status(opcodes.EAGAIN)})
		s.pass(7)
		s.connect(c, oss, ost0, []change{connCnt(2), opFlags(opInitial)}, []change{withHandle(handle + uint64(i)), granted(7)})
		s.pass(30)
	}
	s.expect("warning connect.starting: lustre-OST0000 on 192.0.2.2@tcp refused 1 connect of 192.0.2.3@tcp with EAGAIN",
		"warning connect.starting: lustre-OST0000 on 192.0.2.2@tcp refused 1 connect of 192.0.2.4@tcp with EAGAIN")
}

// The log of a server has the last steps of a mount.
func TestMountsInLogs(t *testing.T) {
	for _, tt := range []struct {
		opcode uint32
		status int32
		want   string
	}{
		{opcodes.MDS_GET_ROOT, opcodes.EPERM, "error mount.failed: The mount on 192.0.2.3@tcp failed: the server does not hand out the root directory: EPERM, which is what the nodemap property deny_mount does."},
		{opcodes.MDS_GETATTR, opcodes.EACCES, "error mount.failed: The mount on 192.0.2.3@tcp failed: the server does not hand out the attributes of the root directory: EACCES"},
		{opcodes.MDS_GETATTR, 0, ""},
	} {
		s := newScene(t)
		handled := func(opcode uint32, status int32) {
			s.pass(1)
			s.xid++
			rpc := debuglog.RPC{HasServer: true, Server: debuglog.Call{XID: s.xid, Opcode: opcode, Peer: node3, Served: true, Arrived: s.now, Handling: s.now,
				Handled: s.now, Status: status, ReplyStatus: status, File: "mds.dk", FirstLine: 4, LastLine: 5}}
			s.e.Unseen(track.FromLog(&rpc, node3, mgs))
		}
		if tt.opcode != opcodes.MDS_GET_ROOT {
			handled(opcodes.MDS_GET_ROOT, 0)
		}
		handled(tt.opcode, tt.status)
		handled(opcodes.MDS_GETATTR, opcodes.EACCES) // of a user, later
		if tt.want == "" {
			s.expect()
		} else {
			s.expect(tt.want)
		}
	}
}
