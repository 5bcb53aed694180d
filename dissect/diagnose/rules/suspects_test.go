package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// TestSamplesHaveSuspects checks that warnings and errors of the samples say where their cause may be, and that no place is both
// suspected and excluded.
func TestSamplesHaveSuspects(t *testing.T) {
	for sample, want := range map[string]struct {
		code string
		kind []diagnose.PlaceKind
	}{
		"evicted_by_hand.pcap.zst": {"evicted.unknown", []diagnose.PlaceKind{diagnose.AtAdmin, diagnose.AtHolder, diagnose.AtTarget, diagnose.AtLNet}},
		"no_recovery.pcap.zst":     {"restart.no_recovery", []diagnose.PlaceKind{diagnose.AtTarget, diagnose.AtAdmin}},
		"crashed_server.pcap.zst":  {"node.restarted", []diagnose.PlaceKind{diagnose.AtNode}},
		"enospc.pcap.zst":          {"space.full", []diagnose.PlaceKind{diagnose.AtTarget}},
		"eio.pcap.zst":             {"io.error", []diagnose.PlaceKind{diagnose.AtStorage}},
		"connect_denied.pcap.zst":  {"connect.denied", []diagnose.PlaceKind{diagnose.AtConfig}},
		"edquot.pcap.zst":          {"quota.exceeded", []diagnose.PlaceKind{diagnose.AtApplication, diagnose.AtConfig}},
		"lock_contention.pcap.zst": {"slow.wait", []diagnose.PlaceKind{diagnose.AtNode, diagnose.AtQueue, diagnose.AtStorage, diagnose.AtTarget, diagnose.AtOtherServer, diagnose.AtHolder}},
		"checksum.pcap.zst":        {"checksum.mismatch", []diagnose.PlaceKind{diagnose.AtClient, diagnose.AtPath, diagnose.AtNode}},
	} {
		e := diagnose.New(diagnose.Options{Rules: All()})
		wiretest.Play(dissect.New(dissect.Options{Handle: e.Message, TransferUpdate: e.TransferUpdate, Lost: e.Lost, TCPEvent: e.TCPEvent}), wiretest.ReadSample(t, samplePath(sample)))
		e.Close()
		found := false
		for _, f := range e.Findings() {
			if f.Severity > diagnose.Note && len(f.Suspects) == 0 && !f.AboutCapture() {
				t.Errorf("%s: %s has no suspects", sample, f.Rule.Code)
			}
			for _, c := range f.Cleared {
				assert.That(t, !slices.Contains(f.Suspects, c.Place) && c.Text != "" && c.Frame != 0, "%s: %s clears %+v", sample, f.Rule.Code, c)
			}
			if f.Rule.Code != want.code || f.Cause != nil {
				continue
			}
			found = true
			for _, p := range f.Suspects {
				assert.That(t, slices.Contains(want.kind, p.Kind), "%s: %s suspects %s", sample, f.Rule.Code, p.Kind)
			}
			assert.Equal(t, f.Suspects[0].Kind, want.kind[0], sample)
		}
		assert.That(t, found, "%s: no %s of its own", sample, want.code)
	}
}

// TestBarrier checks target.barrier: changes that are put off for long, while other requests are served.
func TestBarrier(t *testing.T) {
	for _, tt := range []struct {
		times int
		errno int32
		want  []string
	}{
		{6, opcodes.EINPROGRESS, []string{"warning target.barrier: lustre-MDT0000 answered 6 MDS_REINT requests of 192.0.2.3@tcp with EINPROGRESS over 15.0 s: a write barrier, as for a snapshot, does that. Clients repeat such requests until it is over."}},
		{1, opcodes.EINPROGRESS, nil},
		{6, opcodes.ENOENT, nil},
	} {
		s := newScene(t)
		s.connect(node3, mgs, "lustre-MDT0000", []change{connCnt(1), opFlags(opInitial)}, []change{withHandle(handle), granted(7)})
		for range tt.times {
			s.rpc(node3, mgs, opcodes.MDS_REINT, []change{withHandle(handle)}, []change{withHandle(handle), status(tt.errno)})
			s.pass(3)
		}
		s.expect(tt.want...)
	}
}

// TestDenied checks metadata.denied: everything is denied to all users of a client.
func TestDenied(t *testing.T) {
	as := func(uid uint32) change { return func(m *message) { m.RPC.UID, m.RPC.HasUser = uid, true } }
	for name, tt := range map[string]struct {
		users   []uint32
		granted int // requests of the client meanwhile
		want    []string
	}{
		"a nodemap":        {[]uint32{0, 1003, 1003, 0, 1003, 0}, 1, []string{"warning metadata.denied: lustre-MDT0000 denied 6 MDS_GETATTR requests of 192.0.2.3@tcp with EACCES, those of all 2 users there. It served 192.0.2.4@tcp meanwhile."}},
		"one user":         {[]uint32{1003, 1003, 1003, 1003, 1003, 1003}, 1, nil},
		"twice":            {[]uint32{0, 1003}, 0, nil},
		"some other files": {[]uint32{0, 1003, 1003, 0, 1003, 0}, 6, nil},
	} {
		s := newScene(t)
		for i, client := range []change{withHandle(handle), withHandle(2 * handle)} {
			s.connect([]lnet.NID{node3, node4}[i], mgs, "lustre-MDT0000", []change{connCnt(1), opFlags(opInitial)}, []change{client, granted(7)})
		}
		for i, uid := range tt.users {
			s.rpc(node3, mgs, opcodes.MDS_GETATTR, []change{withHandle(handle), as(uid)}, []change{withHandle(handle), status(opcodes.EACCES)})
			s.rpc(node4, mgs, opcodes.MDS_GETATTR, []change{withHandle(2 * handle), as(uid)}, []change{withHandle(2 * handle)})
			if i < tt.granted {
				s.rpc(node3, mgs, opcodes.MDS_GETATTR, []change{withHandle(handle), as(uid)}, []change{withHandle(handle)})
			}
		}
		t.Log(name)
		s.expect(tt.want...)
	}
}

// TestDeniedBesideLog: that the MDT served another client is known where the log of the server has it, which has no name of the target.
func TestDeniedBesideLog(t *testing.T) {
	s := newScene(t)
	s.connect(node3, mgs, "lustre-MDT0000", []change{connCnt(1), opFlags(opInitial)}, []change{withHandle(handle), granted(7)})
	begin := s.now
	for i := range 8 {
		as := func(m *message) { m.RPC.UID, m.RPC.HasUser = uint32(i%2), true }
		s.rpc(node3, mgs, opcodes.MDS_GETATTR, []change{withHandle(handle), as}, []change{withHandle(handle), status(opcodes.EACCES)})
	}
	for range 8 { // after the fault
		s.pass(5)
		s.rpc(node3, mgs, opcodes.MDS_GETATTR, []change{withHandle(handle)}, []change{withHandle(handle)})
	}
	c := debuglog.Call{XID: 7, Opcode: opcodes.MDS_GETATTR, Peer: node4, Served: true, File: "mds.dk", FirstLine: 4, LastLine: 5, Process: "mdt00_001",
		Arrived: begin + 5e6, Handling: begin + 6e6, Handled: begin + 7e6}
	s.e.Unseen(track.FromLog(&debuglog.RPC{HasServer: true, Server: c}, node4, mgs))
	s.expect("warning metadata.denied: lustre-MDT0000 denied 8 MDS_GETATTR requests of 192.0.2.3@tcp with EACCES, those of all 2 users there. It served 192.0.2.4@tcp meanwhile.")
}

// TestClientWithoutLink checks that a client which gave up requests is suspected, unless another server answered it meanwhile.
func TestClientWithoutLink(t *testing.T) {
	var text strings.Builder
	for i, target := range []string{"MDT0000-mdc-ffff8880@192.0.2.1", "OST0000-osc-ffff8880@192.0.2.2"} {
		fmt.Fprintf(&text, "\n2026-11-24T10:00:4%d+00:00 client kernel: LustreError: 3:0:(client.c:2300:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply: "+
			"[sent 1795514400/real 1795514400]  req@000000007e7fc9f2 x188303148120627%d/t0(0) o36->lustre-%s@tcp:12/10 lens 504/448 e 0 to 1 dl 1795514440 ref 1 fl Rpc:X/2/ffffffff rc 0/-1", i, i, target)
	}
	s := readLogOf(t, text.String(), node3)
	s.e.Close()
	var places []string
	for _, f := range s.e.Findings() {
		for _, p := range f.Suspects {
			places = append(places, fmt.Sprint(p.Kind, " ", p.Node))
		}
	}
	assert.That(t, slices.Contains(places, "node 192.0.2.3@tcp"), "suspects are %q", places)
}

// TestOverheard checks that a request of which the capture can have no reply is no wait: a switch sent it to the port of another host.
func TestOverheard(t *testing.T) {
	for _, tt := range []struct {
		at    lnet.NID
		waits bool
	}{{node3, false}, {mgs, true}} {
		s := newScene(t)
		for i := range 20 {
			for _, peer := range []lnet.NID{mgs, oss, node3} {
				if peer != tt.at {
					s.ping(tt.at, peer, handle)
				}
			}
			if i == 2 {
				s.rpc(mgs, node4, opcodes.LDLM_BL_CALLBACK, []change{withHandle(handle)}, nil)
			}
			s.pass(5)
		}
		assert.Equal(t, strings.Contains(strings.Join(s.end(), "\n"), "waited"), tt.waits, tt.at.String())
	}
}

// TestResent checks what a request that was sent again shows: LNet lost a reply only where the client still waited when it came, and it waited
// longer than until then where the reply to the last request cannot be told.
func TestResent(t *testing.T) {
	const text = "warning lnet.lost: 1 RPC of 192.0.2.3@tcp to 192.0.2.2@tcp (MDS_SYNC) waited 16.0 s"
	for _, tt := range []struct {
		reply float64
		cut   []change
		want  string
	}{
		{1, nil, text + ". The reply"},
		{1, []change{func(m *message) { m.RPC.Cut = true }}, text + " or longer. The reply"},
		{15.9, nil, "warning slow.wait"},
	} {
		s := newScene(t)
		send := func(kind lnet.Kind, changes ...change) {
			from, to := node3, oss
			if kind == lnet.Reply {
				from, to = oss, node3
			}
			s.send(kind, from, to, opcodes.MDS_SYNC, append(changes, withHandle(handle)))
		}
		send(lnet.Request)
		s.pass(tt.reply)
		send(lnet.Reply)
		s.pass(16 - tt.reply)
		send(lnet.Request, append([]change{pbFlags(dissect.FlagResent)}, tt.cut...)...)
		if tt.cut == nil {
			send(lnet.Reply)
		}
		for range 40 {
			s.pass(1)
			s.ping(node3, oss, handle)
		}
		assert.Equal(t, strings.Contains(strings.Join(s.end(), "\n"), tt.want), true, "%+v", tt)
	}
}

// TestChainOfWaits checks that a request, that of its server to another one, and the callback for which that waits are one story.
func TestChainOfWaits(t *testing.T) {
	s := newScene(t)
	chain := []struct {
		client, server lnet.NID
		opcode         uint32
	}{{node4, oss, opcodes.MDS_REINT}, {oss, mgs, opcodes.LDLM_ENQUEUE}, {mgs, node4, opcodes.LDLM_BL_CALLBACK}}
	for i, c := range chain {
		s.xid = uint64(i+1) << 40
		s.send(lnet.Request, c.client, c.server, c.opcode, []change{withHandle(handle)})
	}
	s.pass(16)
	for i := len(chain) - 1; i >= 0; i-- {
		s.xid = uint64(i+1) << 40
		s.send(lnet.Reply, chain[i].server, chain[i].client, chain[i].opcode, []change{withHandle(handle)})
	}
	s.expect("warning slow.wait: 1 RPC of 192.0.2.1@tcp to 192.0.2.4@tcp (LDLM_BL_CALLBACK)", "warning slow.wait: 1 RPC of 192.0.2.4@tcp to 192.0.2.2@tcp (MDS_REINT)",
		"warning slow.wait: 1 RPC of 192.0.2.2@tcp to 192.0.2.1@tcp (LDLM_ENQUEUE)", "note capture.no_connect")
	list := s.e.Findings()
	assert.That(t, list[1].Cause == list[0] && list[2].Cause == list[0], "%v", list)
}

// TestHungBeforeRestart: what a request waited for before its target was restarted is not explained by that.
func TestHungBeforeRestart(t *testing.T) {
	for _, hung := range []bool{true, false} {
		s := newScene(t)
		s.mounted(node3, oss, ost0, handle)
		s.xid += 128
		write, n := s.xid, uint32(1)
		send := func(flags ...change) {
			s.xid, write = write, s.xid
			s.send(lnet.Request, node3, oss, opcodes.OST_WRITE, append(flags, withHandle(handle)))
			s.xid, write = write, s.xid
		}
		connect := func(rep ...change) {
			n++
			s.connect(node3, oss, ost0, []change{connCnt(n), withHandle(handle)}, rep)
		}
		send()
		if hung {
			for range 6 {
				s.pass(5)
				s.ping(node3, oss, handle)
			}
			connect(withHandle(handle), granted(7), opFlags(uint32(opcodes.MsgConnectFlags.Bit("RECONNECT"))))
			send(pbFlags(dissect.FlagResent))
		}
		s.pass(5)
		s.ping(node3, oss, handle, status(opcodes.ENOTCONN))
		connect(status(opcodes.ENODEV))
		s.pass(5)
		connect(withHandle(handle), granted(8), opFlags(opRecovering))
		s.pass(5)
		want := []string{"warning restart.target"}
		if hung {
			want = []string{"error slow.wait: 1 RPC of 192.0.2.3@tcp to lustre-OST0000 (OST_WRITE) waited 30.0 s", "warning restart.target"}
		}
		s.expect(want...)
	}
}

// TestQueueOfService: a request that waits alone does not wait for a thread while the same threads serve others, whatever these ask for.
func TestQueueOfService(t *testing.T) {
	for portal, want := range map[uint32]string{6: "slow.stuck", 28: "slow.wait"} {
		s := newScene(t)
		of := func(job string, portal uint32) []change {
			return []change{withHandle(handle), func(m *message) { m.RPC.JobID, m.LNet.Portal = []byte(job), portal }}
		}
		s.mounted(node3, oss, ost0, handle)
		s.mounted(node4, oss, ost0, 2*handle) // the capture was taken at the server
		s.xid = 1 << 41
		s.send(lnet.Request, node3, oss, opcodes.OST_READ, of("a", 6))
		s.xid++
		for range 20 {
			s.pass(1)
			s.rpc(node3, oss, opcodes.OST_WRITE, of("b", portal), []change{withHandle(handle)})
		}
		s.xid = 1 << 41
		s.send(lnet.Reply, oss, node3, opcodes.OST_READ, []change{withHandle(handle)})
		s.expect("warning " + want + ": 1 RPC of 192.0.2.3@tcp (job a) to lustre-OST0000 (OST_READ) waited 20.0 s")
	}
}
