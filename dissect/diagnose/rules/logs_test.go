package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/assert"
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
	s.expect("error quota.exceeded: 192.0.2.2@tcp refused 1 write of 192.0.2.3@tcp with EDQUOT: whose quota is used up is not known.",
		"warning slow.thread: The kernel of 192.0.2.2@tcp reported 2 service threads that worked for one request for long, the longest 73.0 s. "+
			"1 thread was still inactive when the log ended.",
		"warning connect.read_only: 192.0.2.2@tcp refused at least 1 connect of 192.0.2.3@tcp with EROFS: the server lets this client mount read-only at most. "+
			"Whether it succeeded later is not in the log of the server, which does not name the target.",
		"warning node.not_on_wire: 192.0.2.3@tcp sent 1 OST_CONNECT request to 192.0.2.2@tcp, by its log, that never came onto the wire.")
}

// TestConsole: what rules find in lines of the console that name a cause.
func TestConsole(t *testing.T) {
	const text = `
2026-11-24T10:00:00+00:00 oss1 kernel: blk_update_request: I/O error, dev sdc, sector 4711 op 0x0:(READ)
2026-11-24T10:00:01+00:00 oss1 kernel: Buffer I/O error on dev sr0, logical block 0, async page read
2026-11-24T10:00:02+00:00 oss1 kernel: Lustre: Failing over lustre-OST0003
2026-11-24T10:00:03+00:00 oss1 kernel: Kernel panic - not syncing: softlockup: hung tasks
2026-11-24T10:00:04+00:00 oss1 kernel: LNetError: 11:0:(o2iblnd_cb.c:3393:kiblnd_check_txs_locked()) Timed out tx for 192.0.2.3@o2ib: 4 seconds
2026-11-24T10:00:04+00:00 oss1 kernel: LNetError: Skipped 17 previous similar messages
2026-11-24T10:00:05+00:00 client kernel: LustreError: 15c-8: MGC192.0.2.1@tcp: Confguration from log lustre-client failed from MGS -5. Communication error between node & MGS, a bad configuration, or other errors. See syslog for more info
2026-11-24T10:00:06+00:00 mds kernel: LustreError: 12:0:(service.c:2154:ptlrpc_server_handle_request()) @@@ Request took longer than estimated (755:30s); client may timeout  req@00000000bdd75319 x1883031475000832/t0(0) o101->14307d89@192.0.2.3@tcp:11/0 lens 504/448
2026-11-24T10:00:07+00:00 mds kernel: LustreError: 12:0:(ldlm_lib.c:3210:target_send_reply_msg()) @@@ dropping reply  req@00000000bdd75319 x1883031475000833/t0(0) o36->14307d89@192.0.2.3@tcp:11/0 lens 504/448
2026-11-24T10:00:08+00:00 client kernel: LustreError: 13:0:(mdc_request.c:700:mdc_replay_open()) @@@ Open request replay failed with -75   req@000000007e7fc9f2 x1883031481206272/t21474838866(21474838866) o101->lustre-MDT0000-mdc-ff11000006115800@192.0.2.1@tcp:12/10 lens 576/608
2026-11-24T10:00:09+00:00 mds kernel: Lustre: lustre-MDT0000: nodemap other banning client 14307d89 (at 192.0.2.4@tcp)
2026-11-24T10:00:10+00:00 mds kernel: LustreError: 399:0:(tgt_handler.c:2729:tgt_brw_write()) cfs_fail_timeout id 214 sleeping for 24000ms
2026-11-24T10:00:11+00:00 oss2 kernel: Lustre: lustre-OST0007: slow journal start 45s due to heavy IO load
2026-11-24T10:00:11+00:00 oss2 kernel: INFO: task ll_ost_io01_002:4711 blocked for more than 120 seconds.
2026-11-24T10:00:11+00:00 client kernel: INFO: task dd:4711 blocked for more than 120 seconds.
`
	s := newScene(t)
	r := debuglog.NewReader(strings.NewReader(text[1:]))
	var e debuglog.Event
	for r.Next(&e) == nil {
		s.e.Line(&track.LogLine{Event: e, File: "messages"})
	}
	s.expect(`error io.device: The log of oss1 has "blk_update_request: I/O error, dev sdc, sector 4711 op 0x0:(READ)" (messages:1).`,
		`error node.fault: The log of oss1 has "Kernel panic - not syncing: softlockup: hung tasks" (messages:4).`,
		`error mount.reported: The log of client has "MGC192.0.2.1@tcp: Confguration from log lustre-client failed from MGS -5. Communication error between node & MGS, a bad configuration, or other errors. See syslog for more info" (messages:7).`,
		`error version.replay_failed: The log of client has "Open request replay failed with -75" (messages:10).`,
		`error connect.reported: The log of mds has "lustre-MDT0000: nodemap other banning client 14307d89 (at 192.0.2.4@tcp)" (messages:11).`,
		`warning target.stopped: The log of oss1 has "Failing over lustre-OST0003" (messages:3).`,
		`warning lnet.failed: The log of oss1 has "Timed out tx for 192.0.2.3@o2ib: 4 seconds" (messages:5), and 17 more.`,
		`warning slow.service: The log of mds has "Request took longer than estimated (755:30s); client may timeout" (messages:8).`,
		`warning lnet.reply_dropped: The log of mds has "dropping reply" (messages:9).`,
		`warning node.injected: The log of mds has "cfs_fail_timeout id 214 sleeping for 24000ms" (messages:12).`,
		`warning slow.service: The log of oss2 has "lustre-OST0007: slow journal start 45s due to heavy IO load" (messages:13).`,
		`warning slow.service: The log of oss2 has "INFO: task ll_ost_io01_002:4711 blocked for more than 120 seconds." (messages:14).`)
}

// TestSeriesOfLines checks that mount errors more than 30 seconds apart, or about different MGS, also where only an earlier line of the thread has it, are findings of their own.
func TestSeriesOfLines(t *testing.T) {
	s := newScene(t)
	for _, second := range []int64{1, 3, 34, 70} {
		s.e.Line(&track.LogLine{File: "messages", Node: node3, Event: debuglog.Event{Kind: debuglog.MountFailed, Line: second, Time: s.now + second*1e9, Text: "Unable to mount"}})
	}
	const text = `error mount.reported: The log of 192.0.2.3@tcp has "Unable to mount" (messages:`
	s.expect(text+"1), and 1 more.", text+"34).", text+"70).")

	s = newScene(t) // of two MGS
	for i, name := range []string{"MGC192.0.2.1@tcp", "MGC192.0.2.9@tcp", "MGC192.0.2.1@tcp"} {
		s.e.Line(&track.LogLine{File: "messages", Node: node3, Event: debuglog.Event{Kind: debuglog.ConfigFailed, Line: int64(i + 1), Time: s.now + int64(i), Name: name, Text: "Unable to mount"}})
	}
	s.expect(text+"1), and 1 more.", text+"2).")

	s = newScene(t) // what a thread says after it has named the MGS
	for i, e := range []debuglog.Event{{Name: "MGC192.0.2.1@tcp", PID: 7}, {Name: "MGC192.0.2.9@tcp", PID: 8}, {PID: 8}, {PID: 9}} {
		e.Kind, e.Line, e.Time, e.Text = debuglog.ConfigFailed, int64(i+1), s.now+int64(i), "Unable to mount"
		s.e.Line(&track.LogLine{File: "messages", Node: node3, Event: e})
	}
	s.expect(text+"1).", text+"2), and 1 more.", text+"4).")
}

// readLog passes the lines of a log to a scene without a capture.
func readLog(t *testing.T, text string) *scene { return readLogOf(t, text, lnet.NID{}) }

// readLogOf does the same with the log of a node.
func readLogOf(t *testing.T, text string, node lnet.NID) *scene {
	s := &scene{t: t, e: diagnose.New(diagnose.Options{Rules: All(), OnlyLogs: true}), now: 1e18, xid: 1 << 50}
	r := debuglog.NewReader(strings.NewReader(text[1:]))
	var e debuglog.Event
	for r.Next(&e) == nil {
		s.e.Line(&track.LogLine{Event: e, File: "messages", Node: node})
	}
	return s
}

// TestStacks checks that the stack of an inactive thread narrows the suspects, and that the stack of another thread does not.
func TestStacks(t *testing.T) {
	const (
		head  = "2026-11-24T10:00:00+00:00 oss1 kernel: "
		stuck = "\n" + head + "LNet: Service thread pid 84931 was inactive for 203.27s. The thread might be hung, or it might only be slow and will resume later. Dumping the stack trace\n"
		of    = head + "Pid: 84931, comm: ll_ost01_238 3.10.0-1062.1.1.el7_lustre.x86_64 #1 SMP\n"
		text  = "warning slow.thread: The kernel of oss1 reported 1 service thread that worked for one request for long, the longest 203 s."
	)
	stack := func(functions ...string) (s string) {
		for _, f := range functions {
			s += head + " [<ffffffffc0c8c54d>] " + f + "+0x13d/0x190 [lustre]\n"
		}
		return s
	}
	for _, tt := range []struct{ log, waits, suspects string }{
		{stuck + of + stack("schedule_timeout", "jbd2_log_wait_commit", "ldlm_handle_enqueue0"), "jbd2_log_wait_commit", "service thread, storage"},
		{stuck + of + stack("__cv_timedwait_common", "zio_wait", "dbuf_read"), "zio_wait", "service thread, storage"},
		{stuck + of + stack("schedule_timeout", "ldlm_completion_ast", "mdt_object_lock"), "ldlm_completion_ast", "service thread, holder of the lock"},
		{stuck + of + stack("ptlrpc_set_wait", "ldlm_run_ast_work", "ldlm_glimpse_locks"), "ldlm_run_ast_work", "service thread, holder of the lock"},
		{stuck + of + stack("ptlrpc_set_wait", "ptlrpc_queue_wait", "osp_remote_sync"), "osp_remote_sync", "service thread, another server that the server waits for"},
		{stuck + of + stack("schedule_timeout", "target_bulk_io", "tgt_brw_write"), "", "service thread, storage, another server that the server waits for, holder of the lock"},
		{stuck + head + "Pid: 7, comm: other\n" + stack("zio_wait"), "", "service thread, storage, another server that the server waits for, holder of the lock"},
		{strings.Replace(stuck, "Dumping", "skipping this one", 1) + stack("zio_wait"), "", "service thread, storage, another server that the server waits for, holder of the lock"},
	} {
		s := readLog(t, tt.log)
		want := text
		if tt.waits != "" {
			want += " By its stack, the first one waits in " + tt.waits + "."
		}
		s.expect(want)
		if got := diagnose.PlacesText(s.e.Findings()[0].Suspects, ", "); got != tt.suspects {
			t.Errorf("%s: %s", tt.waits, got)
		}
	}
}

// TestConnectAgain: nodes that connect again in one moment have lost a server that is still the same.
func TestConnectAgain(t *testing.T) {
	const line = "2026-11-24T10:%s+00:00 oss1 kernel: Lustre: lustre-OST0001: Client 1b2a%d (at 192.0.2.%d@tcp) reconnecting\n"
	again := func(begin string, nodes ...int) (s string) {
		for _, n := range nodes {
			s += fmt.Sprintf(line, begin, n, n)
		}
		return "\n" + s
	}
	const want = "warning connect.again: 192.0.2.3@tcp, 192.0.2.4@tcp and 192.0.2.5@tcp connected again within 100 ms to lustre-OST0001 on oss1, " +
		"which was not restarted then: it had not been there for any of them."
	readLog(t, again("00:00", 3, 4, 5)).expect(want)
	readLog(t, again("00:00", 3, 4)+again("00:09", 5)[1:]).expect()
	recovery := "\n2026-11-24T09:59:00+00:00 oss1 kernel: Lustre: lustre-OST0001: Will be in recovery for at least 5:00, or until 3 clients reconnect\n"
	const restarted = "warning restart.target: lustre-OST0001 was restarted."
	readLog(t, recovery+again("00:00", 3, 4, 5)[1:]).expect(restarted)
	readLog(t, recovery+again("20:00", 3, 4, 5)[1:]).expect(restarted, want)
}

// TestChecksumLines: the log of a client names the server, that of a server the client; the client's may say that its own data changed.
func TestChecksumLines(t *testing.T) {
	const (
		ofClient = "2026-11-24T10:00:00+00:00 c1 kernel: LustreError: 11-0: lustre-OST0001-osc-ff1100001: BAD WRITE CHECKSUM: %sfrom 192.0.2.2@tcp inode [0x200000404:0x66f:0x0] object 0x240000400:495 extent [0-131071]\n"
		ofServer = "2026-11-24T10:00:00+00:00 oss1 kernel: LustreError: 168-f: lustre-OST0001: BAD WRITE CHECKSUM: from 12345-192.0.2.3@tcp inode [0x200000404:0x66f:0x0] object 0x240000400:495 extent [0-131071]\n"
	)
	for _, tt := range []struct {
		line     string
		node     lnet.NID
		byHost   string // where the node of the log has no NID
		suspects string
	}{
		{fmt.Sprintf(ofClient, ""), node3, "clients", "client 192.0.2.3@tcp, path between 192.0.2.2@tcp and 192.0.2.3@tcp, node 192.0.2.2@tcp"},
		{fmt.Sprintf(ofClient, "changed on the client after we checksummed it - likely false positive due to mmap IO (bug 11742): "), node3, "clients", "client 192.0.2.3@tcp"},
		{ofServer, oss, "192.0.2.3@tcp", "client 192.0.2.3@tcp, path between 192.0.2.2@tcp and 192.0.2.3@tcp, node 192.0.2.2@tcp"},
	} {
		readLog(t, "\n"+tt.line).expect("error checksum.mismatch: The data of reads or writes changed between " + tt.byHost + " and lustre-OST0001, by 1 line of the logs")
		s := readLogOf(t, "\n"+tt.line, tt.node)
		found := s.e.Findings()
		if len(found) != 1 || diagnose.PlacesText(found[0].Suspects, ", ") != tt.suspects || found[0].Client != node3 || found[0].Target != "lustre-OST0001" {
			t.Errorf("%s: %+v", tt.line, found)
		}
	}
	// a read that failed without data is sent again
	readLog(t, "\n2026-11-24T10:00:00+00:00 oss1 kernel: LustreError: 168-f: lustre-OST0001: BAD READ CHECKSUM: should have changed on the client or in transit: "+
		"from 192.0.2.3@tcp inode [0x200000404:0x66f:0x0] object 0x240000400:495 extent [0-131071], client returned csum 0 (type 20), server csum f46c0fa8 (type 20)\n").expect()
}

// TestBarrierInLogs: logs show a barrier of closes only, so that it lasts longer than they say.
func TestBarrierInLogs(t *testing.T) {
	s := readLog(t, "\n")
	for i := range 4 {
		s.xid++
		l := debuglog.RPC{HasClient: true, Client: debuglog.Call{XID: s.xid, Opcode: opcodes.MDS_CLOSE, Sent: s.now, Completed: s.now + 1e6, File: "client.dk", FirstLine: int64(2*i + 1), LastLine: int64(2*i + 2)}}
		r := track.FromLog(&l, node3, mgs)
		r.Status = opcodes.EINPROGRESS
		r.Connection.Target = "lustre-MDT0000"
		s.e.Unseen(r)
		s.pass(1)
	}
	s.expect("warning target.barrier: lustre-MDT0000 answered 4 MDS_CLOSE requests of 192.0.2.3@tcp with EINPROGRESS over at least 3.00 s: a write barrier")
}

// TestSlowInLogs: the log of a server tells requests that wait for a thread from those that a thread works for.
func TestSlowInLogs(t *testing.T) {
	for _, tt := range []struct {
		queued, worked int64
		want, suspects string
	}{
		{880e6, 3e6, "warning slow.changed: 12 of 12 requests (OST_WRITE) of 192.0.2.3@tcp (job genome) to 192.0.2.2@tcp were slow within 11.9 s: all took 883 ms on average and 883 ms at most; by the log of the server, they waited 880 ms on average for a thread, and were worked on for 3.0 ms.",
			"queue of 192.0.2.2@tcp"},
		{30e6, 3e6, "warning slow.changed: 12 of 12 requests (OST_WRITE) of 192.0.2.3@tcp (job genome) to 192.0.2.2@tcp were slow within 11.0 s: all took 33 ms on average and 33 ms at most; by the log of the server, they waited 30 ms on average for a thread, and were worked on for 3.0 ms.",
			"queue of 192.0.2.2@tcp"},
		{30e6, 20e6, "", ""}, // threads work nearly as long
		{8e6, 1e6, "", ""},   // short
		{3e6, 880e6, "warning slow.changed: 12 of 12 requests (OST_WRITE) of 192.0.2.3@tcp (job genome) to 192.0.2.2@tcp were slow within 11.9 s: they took 883 ms on average and 883 ms at most, where many take less than 4.0 ms at other times, or at other targets.",
			"path between 192.0.2.2@tcp and 192.0.2.3@tcp, node 192.0.2.3@tcp, storage of 192.0.2.2@tcp"},
		{3e6, 4e6, "", ""},
	} {
		s := readLog(t, "\n")
		write := writesOf(s)
		for range 12 {
			write(node3, "climate", 1e6, 2e6)
			write(node3, "climate", 1e6, 2e6)
			write(node3, "genome", tt.queued, tt.worked)
			s.now += 1e9
		}
		if tt.want == "" {
			s.expect()
			continue
		}
		s.expect(tt.want)
		if got := diagnose.PlacesText(s.e.Findings()[0].Suspects, ", "); got != tt.suspects {
			t.Errorf("%s", got)
		}
	}
}

// writesOf returns what makes writes by the log of the server.
func writesOf(s *scene) func(client lnet.NID, job string, queued, worked int64) {
	conns := make(map[lnet.NID]*track.Connection) // which all have, as in package logs
	return func(client lnet.NID, job string, queued, worked int64) {
		s.xid++
		c := debuglog.Call{XID: s.xid, Opcode: opcodes.OST_WRITE, Peer: client, Served: true, Job: job, File: "oss.dk", FirstLine: 4, LastLine: 5,
			Arrived: s.now, Handling: s.now + queued, Handled: s.now + queued + worked, Total: queued + worked, Service: worked}
		r := track.FromLog(&debuglog.RPC{HasServer: true, Server: c}, client, oss)
		conns[client] = cmp.Or(conns[client], r.Connection)
		r.Connection = conns[client]
		s.e.Unseen(r)
	}
}

// TestConsoleCauses: what is the cause of what by lines of the console: a client that was silent of waits for it, a crash of evictions by the MGS.
func TestConsoleCauses(t *testing.T) {
	const request = "@@@ Request sent has timed out for slow reply: [sent %[1]d/real %[1]d] req@1 x1882597978310528/t0(0) o104->lustre-OST0000@192.0.2.4@tcp:15/16 lens 328/224 e 0 to 1 dl %[2]d"
	sent := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC).Unix()
	lost := "2026-11-24T10:00:10+00:00 %[1]s kernel: Lustre: lustre-OST000%[2]d-osc-ff11: Connection to lustre-OST000%[2]d (at 192.0.2.2@tcp) was lost; in progress operations\n"
	const (
		notConnected = "LustreError: 11-0: lustre-OST0000-osc-ff11: operation ost_write to node 192.0.2.2@tcp failed: rc = -107\n"
		restored     = "Lustre: lustre-OST0000-osc-ff11: Connection restored to 192.0.2.1@tcp (at 192.0.2.1@tcp)\n"
	)
	for _, tt := range []struct {
		log, want string
	}{
		{"2026-11-24T10:00:20+00:00 oss1 kernel: Lustre: 7:0:(client.c:1:ptlrpc_expire_one_request()) " + fmt.Sprintf(request, sent, sent+20) + "\n" +
			"2026-11-24T10:01:30+00:00 oss1 kernel: Lustre: lustre-OST0000: haven't heard from client 1b2a (at 192.0.2.4@tcp) in 95 seconds. I think it's dead, and I am evicting it.\n",
			"evicted.silence: lustre-OST0000 evicted 192.0.2.4@tcp because nothing was heard from it for long, by the log of the server."},
		{fmt.Sprintf(lost, "c1", 0) + fmt.Sprintf(lost, "c1", 1) + "2026-11-24T10:00:50+00:00 oss1 kernel: Lustre: Lustre: Build Version: 2.15.5\n" +
			"2026-11-24T10:01:00+00:00 mds1 kernel: LustreError: 7:0:(a.c:1:f()) ### client (nid 192.0.2.2@tcp) returned error from blocking AST (req@1 x1 status -107 rc -107), evict it ns: MGS lock: 00/0x1\n" +
			"2026-11-24T10:01:10+00:00 oss1 kernel: Lustre: lustre-OST0000: Will be in recovery for at least 2:30, or until 1 client reconnects\n" +
			"2026-11-24T10:01:10+00:00 oss1 kernel: Lustre: lustre-OST0001: Will be in recovery for at least 2:30, or until 1 client reconnects\n" +
			"2026-11-24T10:01:12+00:00 oss1 kernel: Lustre: lustre-OST0000: Recovery over after 0:02, of 1 clients 1 recovered and 0 were evicted.\n" +
			"2026-11-24T10:01:12+00:00 oss1 kernel: Lustre: lustre-OST0001: Recovery over after 0:02, of 1 clients 1 recovered and 0 were evicted.\n",
			"restart.together: lustre-OST0000 and lustre-OST0001 were restarted on 192.0.2.2@tcp about the same time: all were back 60.0 s after the first sign, and " +
				"clients had recovered after 62.0 s. Lustre was loaded anew on 192.0.2.2@tcp meanwhile: it was booted, or somebody has unloaded the modules before."},
		{"2026-11-24T10:00:09+00:00 c1 kernel: " + notConnected + fmt.Sprintf(lost, "c1", 0) + "2026-11-24T10:00:50+00:00 c1 kernel: " + restored,
			"restart.target: lustre-OST0000 moved from 192.0.2.2@tcp to 192.0.2.1@tcp."},
		{"2026-11-24T10:00:10+00:00 c1 kernel: " + notConnected + fmt.Sprintf(lost, "c1", 0) + "2026-11-24T10:00:12+00:00 c1 kernel: " + restored, // it may have been evicted
			"recovery.reconnect: 192.0.2.3@tcp lost the connection to lustre-OST0000 on 192.0.2.2@tcp and connected again on 192.0.2.1@tcp after 2.00 s."},
		{"2026-11-24T10:00:01+00:00 c1 kernel: LustreError: 167-0: lustre-OST0001-osc-ff11: This client was evicted by lustre-OST0001; in progress operations using this service will fail.\n" +
			"2026-11-24T10:00:10+00:00 c1 kernel: " + notConnected + fmt.Sprintf(lost, "c1", 0) + "2026-11-24T10:00:50+00:00 c1 kernel: " + restored, // such lines are left out
			"evicted.unknown: lustre-OST0001 evicted 192.0.2.3@tcp. The log of the client does not say why; that of the server may.\n" +
				"recovery.reconnect: 192.0.2.3@tcp lost the connection to lustre-OST0000 on 192.0.2.2@tcp and connected again on 192.0.2.1@tcp after 40.0 s."},
		{"2026-11-24T10:00:10+00:00 oss1 kernel: LustreError: 7:0:(a.c:1:f()) ### client (nid 192.0.2.4@tcp) failed to reply to completion AST (req@1 x1 status 0 rc -110), evict it ns: filter-lustre-OST0000_UUID lock: 00/0x1\n",
			"evicted.lock_callback: lustre-OST0000 evicted 192.0.2.4@tcp because it did not answer a completion callback, or with an error, by the log of the server."},
	} {
		s := readLog(t, "\n")
		r := debuglog.NewReader(strings.NewReader(tt.log))
		for e := (debuglog.Event{}); r.Next(&e) == nil; {
			s.e.Line(&track.LogLine{Event: e, File: "messages", Node: map[string]lnet.NID{"oss1": oss, "c1": node3, "mds1": mgs}[e.Host]})
		}
		s.e.Close()
		var got []string
		for _, f := range s.e.Findings() {
			if f.Cause == nil && f.Severity > diagnose.Note {
				got = append(got, f.Rule.Code+": "+f.Text)
			}
		}
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("%s\nis %s\nnot %s", tt.log, strings.Join(got, "\n"), tt.want)
		}
	}
}

// TestPlacesOfLines checks which places lines of the console suspect.
func TestPlacesOfLines(t *testing.T) {
	const (
		head    = "2026-11-24T10:00:00+00:00 node kernel: "
		request = "  req@1 x1882597978310528/t0(0) "
		network = "node 192.0.2.1@tcp, path to 192.0.2.1@tcp, LNet to 192.0.2.1@tcp"
	)
	for _, tt := range []struct{ line, code, places string }{
		{"Lustre: 7:0:(client.c:1:f()) @@@ Request sent has failed due to network error: [sent 1/real 1]" + request + "o250->MGC192.0.2.1@tcp@192.0.2.1@tcp:26/25 lens 520/544 e 0 to 1 dl 6",
			"lnet.failed", network + ", configuration"},
		{"LustreError: 7:0:(ldlm_lib.c:1:f()) @@@ timeout on bulk WRITE after 100+0s" + request + "o4->1b2a@192.0.2.1@tcp:0/0 lens 488/448", "lnet.failed", network},
		{"LustreError: 7:0:(osp_precreate.c:1:f()) fs-OST0003-osc-MDT0000: can't precreate: rc = -28", "space.reported", "target fs-OST0003"},
		{"LustreError: 11-0: fs-OST0003-osc-ffff8801f1f0c800: operation ost_write to node 10.0.0.5@tcp failed: rc = -28", "space.reported", "target fs-OST0003"},
		{"LustreError: 11-0: fs-OST0003-osc-ffff8801f1f0c800: operation ost_write to node 10.0.0.5@tcp failed: rc = -5", "io.device", "storage of fs-OST0003, target fs-OST0003"},
		{"LustreError: 11-0: fs-OST0003-osc-ffff8801f1f0c800: operation ost_write to node 10.0.0.5@tcp failed: rc = -107", "", ""},
		{"LustreError: 7:0:(osp_precreate.c:1:f()) fs-OST0003-osc-MDT0000: can't precreate: rc = -107", "", ""},
		{"LNetError: 7:0:(lib-ptl.c:1:f()) Matching packet from 12345-192.0.2.1@tcp, match 7 length 1048576 too big: 1015808 left, 1015808 allowed", "lnet.failed", "LNet to 192.0.2.1@tcp"},
		{"LNetError: 7:0:(lib-move.c:1:f()) Dropping PUT from 12345-192.0.2.1@tcp portal 10 match 7 offset 0 length 520: 4", "", ""},
		{"LustreError: 7:0:(ldlm_lib.c:1:f()) @@@ Eviction on bulk WRITE" + request + "o4->1b2a@192.0.2.1@tcp:0/0 lens 488/448", "", ""},
		{"LustreError: 7:0:(mgc_request.c:1:f()) MGC192.0.2.1@tcp: failed processing log, type 1: rc = -5", "mount.reported",
			"configuration, target MGS, a command of an administrator, " + network},
		{"LustreError: 7:0:(mgc_request.c:1:f()) MGC192.0.2.1@tcp: failed processing log, type 1: rc = -2", "mount.reported", "configuration, target MGS, a command of an administrator"},
		{"LustreError: 7:0:(osd_handler.c:1:f()) fs-OST0010-osd: can't mount /dev/rbd1: -5", "mount.reported", "storage of fs-OST0010, configuration, a command of an administrator"},
		{"Lustre: fs-OST0001: Client 1b2a (at 192.0.2.1@tcp) refused reconnection, still busy with 8 active RPCs", "slow.service",
			"queue, service thread, storage of fs-OST0001, another server that the server waits for, holder of the lock, node, " + network},
	} {
		s := readLogOf(t, "\n"+head+tt.line+"\n", lnet.NID{})
		s.e.Close()
		code, places := "", []string(nil)
		for _, f := range s.e.Findings() {
			code = f.Rule.Code
			for _, p := range f.Suspects {
				places = append(places, p.String())
			}
		}
		assert.Equal(t, code, tt.code, tt.line)
		assert.Equal(t, strings.Join(places, ", "), tt.places, tt.line)
	}
}

// TestOrdinaryConsole checks that boots, shutdowns and what the hardware has corrected are no faults.
func TestOrdinaryConsole(t *testing.T) {
	const ordinary = `
2026-11-24T10:00:00+00:00 node kernel: Linux version 4.18.0-477.el8.x86_64 (gcc) #1 SMP
2026-11-24T10:00:02+00:00 node kernel: ixgbe 0000:01:00.1 eth1: NIC Link is Down
2026-11-24T10:00:03+00:00 node kernel: ixgbe 0000:01:00.0 eth0: NIC Link is Up 10 Gbps, Flow Control: RX/TX
2026-11-24T10:00:12+00:00 node kernel: LNet: Added LNI 192.0.2.3@tcp [8/256/0/180]
2026-11-24T10:01:00+00:00 node kernel: sd 0:0:1:0: [sdb] tag#12 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_SENSE
2026-11-24T10:01:00+00:00 node kernel: sd 0:0:1:0: [sdb] tag#12 Sense Key : Recovered Error [current]
2026-11-24T10:02:00+00:00 node kernel: mce: [Hardware Error]: Machine check events logged
2026-11-24T10:02:01+00:00 node kernel: EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0
2026-11-24T10:03:00+00:00 node kernel: LNet: Removed LNI 192.0.2.3@tcp
2026-11-24T10:03:01+00:00 node kernel: igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down
2026-11-24T10:03:02+00:00 node kernel: reboot: Restarting system
`
	for more, want := range map[string]string{
		"": "",
		"2026-11-24T10:04:00+00:00 node kernel: {1}[Hardware Error]: event severity: fatal\n":                                                          "node.fault",
		"2026-11-24T10:04:00+00:00 node kernel: LNet: Added LNI 192.0.2.3@tcp [8/256/0/180]\n2026-11-24T10:04:09+00:00 node kernel: eth0: Link down\n": "node.fault",
	} {
		s := readLogOf(t, ordinary+more, node3)
		s.e.Close()
		got := ""
		for _, f := range s.e.Findings() {
			got += f.Rule.Code
		}
		assert.Equal(t, got, want, more)
	}
}

// TestLinesOfEviction checks that several lines of a server about one eviction are no sight of its client.
func TestLinesOfEviction(t *testing.T) {
	const lock = " ns: mdt-lustre-MDT0000_UUID lock: 00/0x1 nid: 192.0.2.4@tcp"
	s := readLogOf(t, "\n2026-11-24T10:00:10+00:00 mds1 kernel: LustreError: 7:0:(a.c:1:f()) ### client (nid 192.0.2.4@tcp) failed to reply to blocking AST (req@1 x1 status 0 rc -110), evict it"+lock+
		"\n2026-11-24T10:00:10+00:00 mds1 kernel: LustreError: 0:0:(a.c:2:g()) ### lock callback timer expired after 5s: evicting client at 192.0.2.4@tcp"+lock+"\n", mgs)
	s.e.Close()
	list := s.e.Findings()
	if len(list) != 1 || list[0].Rule.Code != "evicted.lock_callback" || len(list[0].Evidence) != 1 || list[0].Evidence[0].Frame != -2 {
		t.Errorf("%+v", list)
	}
}

// TestLoggedErrors checks which refused RPCs of logs are reported: logs have neither file names nor the intent of an enqueue.
func TestLoggedErrors(t *testing.T) {
	const enoent, eacces = opcodes.ENOENT, opcodes.EACCES
	type handled struct {
		client  lnet.NID
		opcode  uint32
		status  int32
		job     string
		process string
	}
	deny := func(job string) handled { return handled{node3, opcodes.LDLM_ENQUEUE, eacces, job, "mdt00_001"} }
	denied := []handled{deny("ls.0"), deny("cat.1001"), deny("cat.1001"), deny("ls.0"), deny("cp.1001")}
	mount := []handled{{node3, opcodes.MGS_CONNECT, 0, "", "ll_mgs_0000"}, {node3, opcodes.LLOG_ORIGIN_HANDLE_CREATE, enoent, "", "ll_mgs_0000"}}
	unmount := handled{node3, opcodes.MGS_DISCONNECT, 0, "", "ll_mgs_0000"}
	context := handled{node3, opcodes.SEC_CTX_INIT, 0, "", ""}
	for _, tt := range []struct {
		rpcs []handled
		want string
	}{
		{denied, "warning metadata.denied: 192.0.2.2@tcp denied 5 LDLM_ENQUEUE requests of 192.0.2.3@tcp (jobs ls.0, cat.1001 and cp.1001) with EACCES, those of all 2 users there."},
		{denied[1:4], ""},
		{[]handled{deny("ls.1"), deny("ls.1"), deny("cp.1"), deny("cp.1"), deny("cp.1")}, ""}, // of one user
		{append([]handled{{node3, opcodes.LDLM_ENQUEUE, 0, "ls.0", "mdt00_001"}, {node4, opcodes.LDLM_ENQUEUE, 0, "ls.0", "mdt00_001"}}, denied...),
			"warning metadata.denied: 192.0.2.2@tcp denied 5 LDLM_ENQUEUE requests of 192.0.2.3@tcp (jobs ls.0, cat.1001 and cp.1001) with EACCES, those of all 2 users there."},
		{[]handled{{node3, opcodes.OST_SETATTR, enoent, "", ""}, {node3, opcodes.OST_PUNCH, enoent, "", ""}}, "error io.missing_object: " +
			"192.0.2.2@tcp does not have objects of files that are still there: it answered 1 attribute change and 1 truncation of 192.0.2.3@tcp with ENOENT."},
		{append(mount[:2:2], unmount), "error mount.failed: The mount on 192.0.2.3@tcp failed: the MGS does not have the configuration log that the client asked for " +
			"(ENOENT): there is no file system of this name."},
		{append(mount[:2:2], handled{node3, opcodes.LLOG_ORIGIN_HANDLE_CREATE, 0, "", ""}, unmount), ""},
		{slices.Repeat([]handled{context}, 5), "error gss.refused: 192.0.2.3@tcp asked fs-MDT0000 5 times for a security context, and did not connect: it got none."},
		{append(slices.Repeat([]handled{context}, 4), handled{node3, opcodes.MDS_CONNECT, 0, "", ""}, context), ""},
	} {
		s := readLog(t, "\n")
		for _, h := range tt.rpcs {
			s.xid++
			s.pass(1)
			server := debuglog.Call{XID: s.xid, Opcode: h.opcode, Served: true, Peer: h.client, Handled: s.now, Status: h.status, ReplyStatus: h.status, Process: h.process,
				Job: h.job, File: "mds.dk", FirstLine: 4, LastLine: 5}
			client := server
			client.Served, client.Peer, client.Sent, client.Handled, client.Process = false, oss, s.now-1e6, 0, "ls"
			if h.process == "" && h.opcode >= opcodes.MDS_CONNECT {
				client.Target = "fs-MDT0000"
			}
			s.e.Unseen(track.FromLog(&debuglog.RPC{HasClient: true, Client: client, HasServer: true, Server: server}, h.client, oss))
		}
		if tt.want == "" {
			s.expect()
		} else {
			s.expect(tt.want)
		}
	}
}

// TestSlowNumbers: all numbers about slow requests are of the same ones: those of all clients, from the first to the last.
func TestSlowNumbers(t *testing.T) {
	s := readLog(t, "\n")
	write := writesOf(s)
	for range 12 {
		write(node4, "climate", 0, 2e6)
		write(node4, "climate", 0, 2e6)
		s.now += 1e6
	}
	for round := range 2 {
		write(node3, "genome", 0, 200e6)
		s.now += 100e6
		for range 6 {
			write(node3, "genome", 0, 900e6)
			write(node4, "genome", 0, 600e6)
			s.now += 1e9
		}
		for range 4 * (1 - round) {
			write(node3, "genome", 0, 2e6)
			s.now += 1e6
		}
	}
	s.expect("warning slow.target: 26 of 30 requests (OST_WRITE) of 192.0.2.3@tcp and 192.0.2.4@tcp (job genome) to 192.0.2.2@tcp were slow within 12.1 s: " +
		"they took 708 ms on average and 900 ms at most, where many take less than 4.0 ms at other times, or at other targets.")
}

// TestSlowBesideFast: a client has fast requests, which are not enough among those of all clients to tell what is usual.
func TestSlowBesideFast(t *testing.T) {
	s := readLog(t, "\n")
	write := writesOf(s)
	for range 6 {
		write(node3, "genome", 0, 2e6)
		s.now += 1e6
	}
	for range 12 {
		write(node3, "genome", 0, 900e6)
		write(node4, "genome", 0, 150e6)
		write(node4, "genome", 0, 150e6)
		s.now += 1e9
	}
	s.expect("warning slow.changed: 36 of 42 requests (OST_WRITE) of 192.0.2.3@tcp and 192.0.2.4@tcp (job genome) to 192.0.2.2@tcp were slow within 11.9 s: " +
		"they took 400 ms on average and 900 ms at most, where many take less than 4.0 ms")
}

// TestConnectsInLogs: connects of the RPCs of logs count where the log has no lines about the connections of the client.
func TestConnectsInLogs(t *testing.T) {
	connects := func(s *scene, target string) {
		c := &track.Connection{Client: node3, Server: oss, Target: target}
		for _, status := range []int32{opcodes.ENODEV, opcodes.ENODEV, 0} {
			s.xid++
			call := debuglog.Call{XID: s.xid, Opcode: opcodes.OST_CONNECT, Peer: oss, Target: target, File: "client.dk", FirstLine: 4, LastLine: 5, Sent: s.now, Completed: s.now + 1e6}
			server := debuglog.Call{XID: s.xid, Opcode: opcodes.OST_CONNECT, Served: true, Peer: node3, Handled: s.now + 5e5, Status: status, ReplyStatus: status}
			r := track.FromLog(&debuglog.RPC{HasClient: true, Client: call, HasServer: true, Server: server}, node3, oss)
			r.Connection = c
			s.e.Unseen(r)
			s.now += 4e9
		}
	}
	s := readLog(t, "\n")
	connects(s, "fs-OST0000")
	s.expect("warning connect.not_up: fs-OST0000 on 192.0.2.2@tcp refused at least 2 connects of 192.0.2.3@tcp with ENODEV in 4.00 s: the target is not on this server, or not started. Connected 8.00 s after the first refusal.")
	s = readLogOf(t, "\n00000100:00080000:0.0:1795253986.900000:0:1:0:(import.c:84:import_set_state_nolock()) 00000000d81c0d34 fs-OST0000_UUID: changing import state from DISCONN to CONNECTING\n", node3)
	connects(s, "fs-OST0000")
	s.expect()
}

// TestRecoveryOfNobody: the end of a recovery, by the log of the server, is not that of a client that recovered.
func TestRecoveryOfNobody(t *testing.T) {
	const head = "2026-11-24T10:0%d:00+00:00 oss1 kernel: Lustre: lustre-OST0001: %s\n"
	for recovered, want := range map[int]string{0: "its recovery was over after 180 s, without a client that had recovered.",
		2: "its recovery was over after 180 s. By the log of its server, 2 of 2 clients recovered."} {
		s := readLog(t, "\n"+fmt.Sprintf(head, 0, "Will be in recovery for at least 5:00, or until 2 clients reconnect")+
			fmt.Sprintf(head, 3, fmt.Sprintf("Recovery over after 3:00, of 2 clients %d recovered and %d were evicted.", recovered, 2-recovered)))
		s.e.Close()
		if found := s.e.Findings(); len(found) == 0 || !strings.Contains(found[0].Text, want) {
			t.Errorf("%d recovered: %+v", recovered, found)
		}
	}
}

// loggedLine is a line of the log of a node.
type loggedLine struct {
	node lnet.NID
	line string
}

// restartOf returns the finding about a restart of a target that lines of several logs tell of.
func restartOf(t *testing.T, lines []loggedLine) *diagnose.Finding {
	s := readLog(t, "\n")
	for _, l := range lines {
		var e debuglog.Event
		assert.NoError(t, debuglog.NewReader(strings.NewReader(l.line+"\n")).Next(&e), l.line)
		s.e.Line(&track.LogLine{Event: e, File: "messages", Node: l.node, Log: int(l.node.Addr[3])})
	}
	s.e.Close()
	at := slices.IndexFunc(s.e.Findings(), func(f *diagnose.Finding) bool { return f.Rule.Code == "restart.target" })
	assert.That(t, at >= 0, "no restart.target")
	return s.e.Findings()[at]
}

// TestUnmounted: a node that has unmounted a target, by its log, was not restarted, also where a client had lost the target before.
func TestUnmounted(t *testing.T) {
	f := restartOf(t, []loggedLine{
		{node3, "2026-11-24T10:00:00+00:00 node kernel: Lustre: lustre-OST0000-osc-ffff8880: Connection to lustre-OST0000 (at 192.0.2.2@tcp) was lost; " +
			"in progress operations using this service will wait for recovery to complete"},
		{oss, "2026-11-24T10:00:06+00:00 oss kernel: Lustre: server umount lustre-OST0000 complete"},
		{oss, "2026-11-24T10:00:10+00:00 oss kernel: Lustre: lustre-OST0000: Will be in recovery for at least 5:00, or until 2 clients reconnect"},
		{oss, "2026-11-24T10:00:20+00:00 oss kernel: Lustre: lustre-OST0000: Recovery over after 0:10, of 2 clients 2 recovered and 0 were evicted."},
	})
	assert.Equal(t, len(f.Suspects), 2, f.Suspects)
	assert.Equal(t, f.Cleared[0].Text, "192.0.2.2@tcp has unmounted lustre-OST0000, by its log")
}

// TestRestartOfMGS: the MGS has no recovery; that it does not know its clients any more is a part of its restart. It is a client of
// itself, which does not count.
func TestRestartOfMGS(t *testing.T) {
	const state = "00000100:00080000:0.0:17958018%02d.000000:0:246:0:(import.c:62:import_set_state_nolock()) 00000000%08x MGS: changing import state from %s"
	lines := []loggedLine{{oss, "00000020:02000400:0.0:1795801860.000000:0:2687:0:(tgt_mount.c:2025:server_put_super()) server umount MGS complete"}}
	for number, n := range []lnet.NID{oss, node3} {
		at := 80 + 10*number
		lines = append(lines, loggedLine{n, fmt.Sprintf(state, at, number, "FULL to DISCONN")},
			loggedLine{n, fmt.Sprintf("00000100:02020000:0.0:17958018%02d.000000:0:246:0:(import.c:183:ptlrpc_set_import_discon()) MGC192.0.2.2@tcp: Connection to MGS (at 192.0.2.2@tcp) was lost; in progress operations using this service will fail", at)})
	}
	for number, n := range []lnet.NID{oss, node3} {
		lines = append(lines, loggedLine{n, fmt.Sprintf(state, 92+number, number, "DISCONN to CONNECTING")},
			loggedLine{oss, fmt.Sprintf("00010000:00080000:0.0:17958018%d.200000:0:2703:0:(ldlm_lib.c:1424:target_handle_connect()) MGS: connection from 0%d-1@%s t0 exp 0000000000000000 cur 2138 last 0", 92+number, number, n)},
			loggedLine{n, fmt.Sprintf(state, 95+number, number, "CONNECTING to EVICTED")})
	}
	f := restartOf(t, lines)
	assert.Equal(t, f.Text, "MGS was restarted on 192.0.2.2@tcp: 192.0.2.3@tcp was connected again after 36.0 s."+mountsWait)
	assert.Equal(t, f.Client, node3)
}

// TestOwnClient: a recovery begins with the first client of the target that takes part in it, which may be on the node of its server.
func TestOwnClient(t *testing.T) {
	const connect = "00010000:00080000:0.0:17958018%02d.000000:0:2703:0:(ldlm_lib.c:1424:target_handle_connect()) lustre-OST0000: connection from %s@%s recovering/1 exp 0000000000000000 cur 2138 last 0"
	f := restartOf(t, []loggedLine{
		{oss, "00000020:02000400:0.0:1795801860.000000:0:2687:0:(tgt_mount.c:2025:server_put_super()) server umount lustre-OST0000 complete"},
		{oss, fmt.Sprintf(connect, 70, "lustre-MDT0000-mdtlov_UUID", oss)},
		{oss, fmt.Sprintf(connect, 74, "01-1", node3)},
		{oss, "00010000:02000400:0.0:1795801875.000000:0:2703:0:(ldlm_lib.c:2817:target_recovery_overseer()) lustre-OST0000: Recovery over after 0:05, of 2 clients 2 recovered and 0 were evicted."},
	})
	assert.Contains(t, f.Text, "its recovery was over after 5.00 s. By the log of its server, 2 of 2 clients recovered.")
}

// TestLostByPing: a ping that was given up when its target was gone is the first sign of that, and no wait of its own.
func TestLostByPing(t *testing.T) {
	at := func(seconds int64) track.Point { return track.Point{Frame: -1, Time: seconds * 1e9} }
	gone := &recovery.Recovery{Target: "lustre-OST0000", Moments: recovery.Moments{Gone: at(20), GoneBy: recovery.SignLog, Back: at(40)}}
	for opcode, explained := range map[uint32]bool{opcodes.OBD_PING: true, opcodes.OST_WRITE: false} {
		w := &facts.Wait{Span: facts.Span{From: 4e9, To: 20e9}, Operation: facts.Operation{Opcode: opcode}, Target: facts.Target{Name: "lustre-OST0000"}, Sends: []facts.Send{{Point: at(4)}, {Point: at(9)}}}
		assert.Equal(t, (&troubles{outages: []*recovery.Recovery{gone}}).unexplained(w) == nil, explained, opcode)
	}
}

// TestMovedByLogs: a target has moved where a client lost it on another server than the one that started it before the client found out.
func TestMovedByLogs(t *testing.T) {
	const state = "00000100:00080000:0.0:179580152%d.000001:0:2719:0:(import.c:62:import_set_state_nolock()) 00000000ee8d125f lustre-MDT0000_UUID: changing import state from %s"
	f := restartOf(t, []loggedLine{
		{oss, "00010000:02000400:0.0:1795801514.507922:0:1497:0:(ldlm_lib.c:2012:target_start_recovery_timer()) lustre-MDT0000: Will be in recovery for at least 1:00, or until 2 clients reconnect"},
		{node3, fmt.Sprintf(state, 0, "FULL to DISCONN")},
		{node3, "00000100:02000400:0.0:1795801520.763853:0:2719:0:(import.c:179:ptlrpc_set_import_discon()) lustre-MDT0000-mdc-ff11000006115800: Connection to lustre-MDT0000 " +
			"(at 192.0.2.1@tcp) was lost; in progress operations using this service will wait for recovery to complete"},
		{node3, fmt.Sprintf(state, 1, "DISCONN to CONNECTING")},
		{node3, "00000100:00080000:0.0:1795801521.004704:0:2640:0:(import.c:621:import_select_connection()) lustre-MDT0000-mdc-ff11000006115800: import 00000000ee8d125f using connection 192.0.2.2@tcp/192.0.2.2@tcp"},
		{node3, "00000100:00080000:0.0:1795801521.011613:0:244:0:(import.c:1122:ptlrpc_connect_interpret()) lustre-MDT0000-mdc-ff11000006115800: connect to target with instance 8"},
		{node3, fmt.Sprintf(state, 2, "CONNECTING to REPLAY")},
	})
	assert.Contains(t, f.Text, "lustre-MDT0000 moved from 192.0.2.1@tcp to 192.0.2.2@tcp.")
}

// TestLogOfClient checks that what the log of a client has of itself is not said of a server, also where the line that shows what it is comes later.
func TestLogOfClient(t *testing.T) {
	const at = "\n2026-11-24T10:00:00+00:00 node kernel: "
	s := readLogOf(t, at+"LustreError: 3:0:(fail.c:144:__cfs_fail_timeout_set()) cfs_fail_timeout id 312 sleeping for 60000ms"+
		at+"Lustre: lustre-OST0000-osc-ffff8880: Connection to lustre-OST0000 (at 192.0.2.2@tcp) was lost; in progress operations using this service will wait for recovery to complete", node3)
	s.e.Close()
	for _, f := range s.e.Findings() {
		if f.Rule.Code == "node.injected" {
			assert.Equal(t, f.Client, node3, "client")
			assert.Equal(t, f.Server, lnet.NID{}, "server")
			return
		}
	}
	t.Error("no node.injected")
}

// TestEvictionOfEarlierMount checks that a mount of a node which is evicted for its silence is no fault while the server serves another one.
func TestEvictionOfEarlierMount(t *testing.T) {
	const line = "\n2026-11-24T10:00:00+00:00 oss1 kernel: Lustre: lustre-OST0000: haven't heard from client 0a-1 (at 192.0.2.3@tcp) in 100 seconds. " +
		"I think it's dead, and I am evicting it. exp 0a, cur 2 deadline 2 last 1\n"
	at := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC).UnixNano()
	for name, tt := range map[string]struct {
		uuid   string
		opcode uint32
		want   string
	}{
		"another mount":  {"0b-2", opcodes.OST_READ, "note evicted.silence"},
		"the same":       {"0a-1", opcodes.OST_READ, "error evicted.silence"},
		"another client": {"0c-3", opcodes.OBD_PING, "error evicted.silence"}, // of the MGS
	} {
		s := readLogOf(t, line, oss)
		for _, time := range []int64{at - 1e9, at + 1e9} {
			s.xid++
			call := debuglog.Call{XID: s.xid, Opcode: tt.opcode, Served: true, Peer: node3, UUID: tt.uuid, File: "oss.dk", FirstLine: 4, LastLine: 5, Handling: time, Handled: time}
			s.e.Unseen(track.FromLog(&debuglog.RPC{HasServer: true, Server: call}, node3, oss))
		}
		if got := s.end(); len(got) != 1 || !strings.HasPrefix(got[0], tt.want) {
			t.Errorf("%s: %q, want %s", name, got, tt.want)
		}
	}
}

// TestInjected checks that each injected fault is reported, also where the line does not say what the fault does.
func TestInjected(t *testing.T) {
	for number, want := range map[string]string{
		"305": `note node.injected: The log of 192.0.2.4@tcp has "*** cfs_fail_loc=305, val=0***" (messages:1).`,
		"409": `warning node.injected: The log of 192.0.2.4@tcp has "*** cfs_fail_loc=409, val=0***" (messages:1).`, // the client sends wrong checksums
	} {
		line := "\n00000100:00020000:0.0:1795314367.800000:0:1:0:(fail.c:129:__cfs_fail_check_set()) *** cfs_fail_loc=" + number + ", val=0***\n"
		readLogOf(t, line, node4).expect(want)
	}
}
