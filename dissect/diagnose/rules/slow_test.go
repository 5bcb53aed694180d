package rules

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
)

// world makes RPCs for a rule.
type world struct {
	engine  *diagnose.Engine
	report  *diagnose.Reporter
	hooks   diagnose.Hooks
	targets map[string]*track.Connection // by target and client
	now     int64
	frame   int64
}

const millisecond = int64(1e6)

// startRule starts a rule whose hooks the test calls itself.
func startRule(t *testing.T, code string) *world {
	t.Helper()
	w := &world{targets: make(map[string]*track.Connection), now: 1e18}
	for _, rule := range All() {
		if rule.Code == code {
			started := *rule
			started.Start = func(r *diagnose.Reporter) diagnose.Hooks {
				w.report, w.hooks = r, rule.Start(r)
				return diagnose.Hooks{}
			}
			w.engine = diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{&started}})
			return w
		}
	}
	t.Fatalf("no rule %s", code)
	return nil
}

func testNID(last byte) lnet.NID { return lnet.NID{Addr: [16]byte{192, 0, 2, last}, Len: 4, Type: 2} }

// connection returns the connection of a client, by the last byte of its address, to a
// target.
func (w *world) connection(target string, client byte) *track.Connection {
	key := fmt.Sprint(target, client)
	if w.targets[key] == nil {
		w.targets[key] = &track.Connection{Target: target, Client: testNID(client), Server: testNID(1), Handle: uint64(len(w.targets) + 1)}
	}
	return w.targets[key]
}

// rpc gives the rule an RPC that takes a time in nanoseconds.
func (w *world) rpc(target string, client byte, opcode uint32, ns int64, change ...func(*track.RPC)) {
	w.frame += 2
	c := w.connection(target, client)
	r := &track.RPC{HasRequest: true, HasReply: true, Sends: 1, Seen: []track.Sighting{{
		Request: track.Point{Frame: w.frame, Time: w.now}, Reply: track.Point{Frame: w.frame + 1, Time: w.now + ns}}}}
	r.Opcode, r.HasOpcode, r.Connection, r.Client, r.Server, r.Handle = opcode, true, c, c.Client, c.Server, c.Handle
	for _, f := range change {
		f(r)
	}
	w.hooks.Done(r)
	w.now += 10 * millisecond
}

// check ends the capture and compares what was found with the beginnings of texts.
func (w *world) check(t *testing.T, want ...string) {
	t.Helper()
	w.hooks.End()
	list := w.engine.Findings()
	if len(list) != len(want) {
		for _, f := range list {
			t.Logf("found: %s", f.Text)
		}
		t.Fatalf("%d findings, want %d", len(list), len(want))
	}
	for i, f := range list {
		if !strings.HasPrefix(f.Text, want[i]) {
			t.Errorf("got  %s\nwant %s", f.Text, want[i])
		}
	}
}

func TestSlowServer(t *testing.T) {
	w := startRule(t, "slow.server")
	for range 20 {
		w.rpc("lustre-OST0000", 3, opcodes.OST_WRITE, 20*millisecond)
		w.rpc("lustre-OST0001", 3, opcodes.OST_WRITE, 20*millisecond)
	}
	for i := range int64(3) {
		w.rpc("lustre-OST0000", 3, opcodes.OST_SYNC, (1200+i)*millisecond)
		w.rpc("lustre-OST0000", 4, opcodes.OST_WRITE, 2500*millisecond, func(r *track.RPC) {
			at := r.Seen[0].Request.Time
			r.Seen[0].Bulk = track.Span{From: at + millisecond, To: at + 501*millisecond}
		})
		w.rpc("lustre-OST0001", 3, opcodes.OST_WRITE, 3000*millisecond, func(r *track.RPC) { r.Sends = 2 })
	}
	w.check(t, "lustre-OST0000 took 1.00 s or longer in the server for 6 of 26 RPCs that use its storage (OST_WRITE 3, OST_SYNC 3), 2.00 s at most. "+
		"These 6 RPCs took 11.1 s: 86 % in the server and 14 % with the transfer of bulk data.")
}

// TestEvenPace checks what slow.server takes for a limit on the rate of a client: even gaps
// between the replies to RPCs that wait together.
func TestEvenPace(t *testing.T) {
	for name, tt := range map[string]struct {
		wait    int64               // of each RPC
		replied func(i int64) int64 // when it is answered
		want    bool
	}{
		"a limit":             {9000, func(i int64) int64 { return 1000*i + i%3 }, true},
		"one after the other": {1000, func(i int64) int64 { return 1000 * i }, false},
		"a disk":              {9000, func(i int64) int64 { return 1000*i + 400*(i%2) }, false},
		"all at once":         {9000, func(i int64) int64 { return 20 * (i / 5) }, false},
	} {
		var p replyPace
		for i := range int64(20) {
			p.add(1e15+tt.replied(i)*millisecond, tt.wait*millisecond)
		}
		if got := p.isEven(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The reply to a request from before the capture, known by its number.
func TestSentBefore(t *testing.T) {
	for name, tt := range map[string]struct {
		xid    uint64
		resent bool
		want   []string
	}{
		"before":  {1 << 49, false, []string{"warning slow.server: OST_WRITE of 192.0.2.3@tcp waited at least 20.0 s for the reply of 192.0.2.2@tcp: it was sent before the capture began."}},
		"later":   {1 << 51, false, nil},
		"network": {1 << 49, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.mounted(node3, oss, ost0, handle)
			if s.pass(20); tt.resent {
				s.e.TCPEvent(&lnet.TCPEvent{Frame: link.Frame{Time: s.now}, Src: messages.Addr(oss), Dst: messages.Addr(node3), TCPAnomalies: lnet.TCPAnomalies{Retransmissions: 1}})
			}
			s.xid = tt.xid
			s.send(lnet.Reply, oss, node3, opcodes.OST_WRITE, []change{withHandle(handle)})
			s.pass(5)
			s.expect(tt.want...)
		})
	}
}

func TestSlowTarget(t *testing.T) {
	for name, tt := range map[string]struct {
		slow  int64 // milliseconds at OST0002
		count int
		want  []string
	}{
		"far":           {200, 40, []string{"lustre-OST0002 takes 9.45 times as long in the server as 2 other targets for the same operations (OST_WRITE: 218 ms against 23 ms, medians; 40 RPCs against 80 RPCs)."}},
		"near":          {40, 40, nil},
		"too few":       {200, 5, nil},
		"only a moment": {200, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := startRule(t, "slow.target")
			for i := range max(tt.count, 1) {
				jitter := int64(i%7) * millisecond
				w.rpc("lustre-OST0000", 3, opcodes.OST_WRITE, 18*millisecond+jitter)
				w.rpc("lustre-OST0001", 3, opcodes.OST_WRITE, 20*millisecond+jitter)
				w.rpc("lustre-OST0002", 3, opcodes.OST_WRITE, tt.slow*millisecond+jitter)
				w.rpc("lustre-MDT0000", 3, opcodes.MDS_READPAGE, 2*millisecond) // not of the same kind
			}
			w.check(t, tt.want...)
		})
	}
}

// Reads from memory are as fast at all targets.
func TestSlowTargetOfOneOperation(t *testing.T) {
	w := startRule(t, "slow.target")
	for i := range int64(20) {
		for n, target := range []string{"lustre-OST0000", "lustre-OST0001"} {
			w.rpc(target, 3, opcodes.OST_READ, millisecond)
			w.rpc(target, 3, opcodes.OST_WRITE, (10+190*int64(n)+i%7)*millisecond)
		}
	}
	w.check(t, "lustre-OST0001 takes 16 times as long in the server as lustre-OST0000 for the same operations (OST_WRITE: ")
}

func TestSlowClient(t *testing.T) {
	w := startRule(t, "slow.client")
	for i := range 30 {
		jitter := int64(i%7) * millisecond
		w.rpc("lustre-OST0000", 3, opcodes.OST_READ, 10*millisecond+jitter)
		w.rpc("lustre-OST0000", 4, opcodes.OST_READ, 12*millisecond+jitter)
		w.rpc("lustre-OST0000", 5, opcodes.OST_READ, 110*millisecond+jitter)
		w.rpc("lustre-OST0001", 5, opcodes.OST_READ, 10*millisecond+jitter) // no other client
	}
	w.check(t, "The RPCs of 192.0.2.5@tcp take ")
}

func TestEarlyReplies(t *testing.T) {
	w := startRule(t, "slow.early_replies")
	early := func(r *track.RPC) { r.Early = 2 }
	w.rpc("lustre-OST0000", 3, opcodes.OST_WRITE, 9000*millisecond, early)
	w.rpc("lustre-OST0000", 4, opcodes.LDLM_ENQUEUE, 7000*millisecond, early)
	w.rpc("lustre-OST0001", 4, opcodes.LDLM_ENQUEUE, 7000*millisecond, early)
	w.rpc("lustre-OST0001", 4, opcodes.OST_WRITE, 7000*millisecond)
	w.rpc("lustre-OST0002", 4, opcodes.OST_WRITE, 7000*millisecond, early, func(r *track.RPC) { r.HasReply = false })
	w.check(t, "lustre-OST0000 sent 4 early replies for 2 RPCs (OST_WRITE 1, LDLM_ENQUEUE 1): it could not answer in the time that the clients wait, and asked for more. The longest waited 9.00 s.",
		"lustre-OST0002 sent 2 early replies for 1 RPC (OST_WRITE): it could not answer in the time that the clients wait, and asked for more. The capture lacks the reply to it.",
		"lustre-OST0001 sent 2 early replies for 1 RPC (LDLM_ENQUEUE): it could not answer in the time that the clients wait, and asked for more. It waited 7.00 s.")
	if list := w.engine.Findings(); list[1].Severity != diagnose.Warning || list[2].Severity != diagnose.Note {
		t.Errorf("severities %v, %v", list[1].Severity, list[2].Severity)
	}
}

func TestTimeouts(t *testing.T) {
	w := startRule(t, "slow.timeouts")
	estimate := func(seconds uint32) func(*track.RPC) { return func(r *track.RPC) { r.Estimate = seconds } }
	w.rpc("lustre-OST0000", 3, opcodes.OST_WRITE, millisecond, estimate(5))
	w.rpc("lustre-OST0001", 3, opcodes.OST_CONNECT, millisecond, estimate(100))
	w.check(t)
	w.rpc("lustre-OST0001", 3, opcodes.OST_WRITE, millisecond, estimate(40))
	w.check(t, "192.0.2.1@tcp expects some of its RPCs to take up to 40 s, while 5 s is the least that it says: in the minutes before, some took that long. Clients wait for 50 s or longer")
}

func TestSlowNetwork(t *testing.T) {
	w := startRule(t, "slow.network")
	for range 25 {
		// The point near the client sees 60 ms, that near the server 5 ms.
		w.rpc("lustre-OST0000", 3, opcodes.OST_READ, 60*millisecond, func(r *track.RPC) {
			at := r.Seen[0].Request.Time
			r.Seen = append(r.Seen, track.Sighting{Source: 1, Request: track.Point{Frame: 1, Time: at + 25*millisecond}, Reply: track.Point{Frame: 2, Time: at + 30*millisecond}})
		})
		w.rpc("lustre-OST0000", 4, opcodes.OST_READ, 60*millisecond)
	}
	w.check(t, "The RPCs of 192.0.2.3@tcp to 192.0.2.1@tcp wait for the network more than for the server: 25 RPCs took 1.50 s, 8 % in the server and 92 % in the network. That is 55 ms in the network for each RPC.")
}

func TestOverload(t *testing.T) {
	class := workClass{opcode: opcodes.OST_WRITE, size: 10}
	for name, tt := range map[string]struct {
		latency int64 // milliseconds with 32 in flight
		n       int   // RPCs with so many
		want    []string
	}{
		"saturated": {640, 40, []string{"lustre-OST0000 is saturated: with 32 or more reads and writes in flight, the median latency of OST_WRITE is 604 ms; with 1, of the same size, it is 19 ms. With so many more at a time it does only 1.0 times the work."}},
		"scales":    {25, 40, nil},
		"too few":   {640, 10, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := startRule(t, "slow.overload")
			d := &depths{conn: w.connection("lustre-OST0000", 3), levels: map[workClass]*[maxDepthBits]histogram{class: {}}}
			for range 40 {
				d.levels[class][0].add(20 * millisecond)
			}
			for range tt.n {
				d.levels[class][5].add(tt.latency * millisecond)
			}
			o := &overloads{report: w.report}
			o.check(d)
			w.check(t, tt.want...)
		})
	}
}

// TestDepth checks that the number in flight is counted by target, over clients.
func TestDepth(t *testing.T) {
	var p *overloads
	rule := diagnose.Rule{Code: "slow.depth", Start: func(r *diagnose.Reporter) diagnose.Hooks {
		p = newOverloads(r)
		return diagnose.Hooks{Opcodes: []uint32{opcodes.OST_READ}, Sent: p.sent, Answered: p.answered, Done: p.done}
	}}
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{&rule}})
	tc := newDialog()
	for xid := range uint64(8) {
		tc.request(1024+xid*128, opcodes.OST_READ)
	}
	for xid := range uint64(8) {
		tc.reply(1024+xid*128, opcodes.OST_READ)
	}
	tc.request(8192, opcodes.OST_READ)
	tc.reply(8192, opcodes.OST_READ)
	wiretest.Play(dissect.New(dissect.Options{Handle: e.Message}), tc.Frames)
	e.Close()
	var got []int64
	for _, d := range fifo.All(p.targets) {
		if d.inFlight != 0 {
			t.Errorf("%d in flight at the end", d.inFlight)
		}
		for _, levels := range d.levels {
			for level := range levels {
				got = append(got, levels[level].n)
			}
		}
	}
	if want := []int64{2, 2, 4, 1}; len(got) < 4 || !slices.Equal(got[:4], want) {
		t.Errorf("RPCs by the number in flight: %v, want %v", got, want)
	}
}

// dialog has requests of a client and replies of a server.
type dialog struct {
	*wiretest.Conn
	wiretest.Socklnd
}

func newDialog() *dialog {
	w := wiretest.Socklnd{Version: 3}
	return &dialog{wiretest.NewConn().Open().Greet(w), w}
}

// body returns a ptlrpc_body of a connection.
func (d *dialog) body(typ, opcode uint32) []byte {
	b := wiretest.Body(typ, opcode)
	binary.LittleEndian.PutUint64(b, 0xabc)
	binary.LittleEndian.PutUint32(b[opcodes.PbTimeout.Off:], 5)
	binary.LittleEndian.PutUint32(b[opcodes.PbConnCnt.Off:], 1)
	return b
}

func (d *dialog) request(xid uint64, opcode uint32) {
	d.Send(false, d.PutAt(false, wiretest.RequestPortal, xid, 0, wiretest.Msg(d.body(wiretest.TypeRequest, opcode))))
}

func (d *dialog) reply(xid uint64, opcode uint32) {
	d.Send(true, d.PutAt(true, wiretest.ReplyPortal, xid, 192, wiretest.Msg(d.body(wiretest.TypeReply, opcode))))
}

func TestUnanswered(t *testing.T) {
	for name, tt := range map[string]struct {
		opcode uint32
		later  bool // later RPCs are answered
		want   int
	}{
		"hangs":       {opcodes.OST_WRITE, true, 1},
		"server gone": {opcodes.OST_WRITE, false, 0},
		"a ping":      {opcodes.OBD_PING, true, 0},
	} {
		e := diagnose.New(diagnose.Options{Rules: All()})
		tc := newDialog()
		tc.request(1024, tt.opcode)
		for xid := uint64(2048); xid < 8192; xid += 128 {
			tc.Now += 10e9
			tc.request(xid, opcodes.OBD_PING)
			if tt.later {
				tc.reply(xid, opcodes.OBD_PING)
			}
		}
		wiretest.Play(dissect.New(dissect.Options{Handle: e.Message, Lost: e.Lost}), tc.Frames)
		e.Close()
		var found []*diagnose.Finding
		for _, f := range e.Findings() {
			if f.Rule.Code == "slow.unanswered" {
				found = append(found, f)
			}
		}
		if len(found) != tt.want {
			t.Errorf("%s: %d findings", name, len(found))
		}
		for _, f := range found {
			if want := "10.0.0.2@tcp did not answer 1 RPC (OST_WRITE) by the end of the capture, though it answered later ones without a new connect."; !strings.HasPrefix(f.Text, want) || len(f.Evidence) != 1 {
				t.Errorf("%s: %s", name, f.Text)
			}
		}
	}
}

func TestHistogram(t *testing.T) {
	var a, b histogram
	for i := range int64(100) {
		a.add((i + 1) * millisecond)
		b.add((i + 101) * millisecond)
	}
	if m := a.median(); m < 40e6 || m > 60e6 {
		t.Errorf("median %v", m)
	}
	if s := b.above(&a) / 1e4; s < 0.99 {
		t.Errorf("above in %v of the pairs", s)
	}
	if s := a.above(&b) / 1e4; s > 0.01 {
		t.Errorf("above in %v of the pairs", s)
	}
	if s := a.above(&a) / 1e4; s < 0.499 || s > 0.501 {
		t.Errorf("of the same, above in %v", s)
	}
	both := a
	both.join(&b)
	both.remove(&a)
	if both != b {
		t.Error("remove does not undo join")
	}
	for _, ns := range []int64{0, 1, 4095, 4096, 1e6, 3600e9, 1 << 62} {
		if bin := binOf(ns); ns >= 4096 && bin < histogramBins-1 && (valueOf(bin) > float64(ns)*1.2 || valueOf(bin) < float64(ns)/1.2) {
			t.Errorf("%d in bin %d, of %v", ns, bin, valueOf(bin))
		}
	}
}

// TestLossyHungTarget checks that a target that hung is found where the capture lacks frames.
func TestLossyHungTarget(t *testing.T) {
	var frames []capture.Frame
	for i, f := range wiretest.ReadSample(t, "testdata/hung_target.pcap.zst") {
		if i%40 != 11 {
			frames = append(frames, f)
		}
	}
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{findRule(t, "target.hung")}})
	wiretest.Play(dissect.New(dissect.Options{Handle: e.Message, Lost: e.Lost, TCPEvent: e.TCPEvent}), frames)
	e.Close()
	if f := e.Findings(); len(f) != 1 || !strings.Contains(f[0].Text, "as far as the capture shows") {
		t.Errorf("%d findings", len(f))
	}
}

// TestRefusedPing checks that a target is not taken to hang that refuses a ping when it is back.
func TestRefusedPing(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.rpc(node3, oss, opcodes.OST_STATFS, []change{withHandle(handle)}, nil)
	s.pass(15)
	s.ping(node3, oss, handle, status(opcodes.ENOTCONN))
	for _, f := range s.end() {
		assert.That(t, !strings.Contains(f, "target.hung"), "%s", f)
	}
}

// TestHungMDT checks that an MDT hangs that answers pings and nothing else, and does not if it answers
// anything else: then a request may wait for what only concerns its file.
func TestHungMDT(t *testing.T) {
	for _, served := range []bool{false, true} {
		s := newScene(t)
		s.mounted(node3, mgs, mdt0, handle)
		s.pass(5)
		s.rpc(node3, mgs, opcodes.MDS_GETATTR, []change{withHandle(handle)}, []change{withHandle(handle)})
		s.pass(5)
		s.rpc(node3, mgs, opcodes.MDS_GETATTR, []change{withHandle(handle)}, nil)
		s.rpc(node3, mgs, opcodes.MDS_CLOSE, []change{withHandle(handle)}, nil)
		s.rpc(node3, mgs, opcodes.MDS_REINT, []change{withHandle(handle)}, nil)
		for range 12 {
			s.pass(5)
			s.ping(node3, mgs, handle)
			if served {
				s.rpc(node3, mgs, opcodes.MDS_REINT, []change{withHandle(handle)}, []change{withHandle(handle)})
			}
		}
		found := ""
		for _, f := range s.end() {
			if strings.Contains(f, "target.hung") {
				found = f
			}
		}
		want := "error target.hung: lustre-MDT0000 has been hanging for 60.0 s: it answers pings, but no other request. 2 RPCs of 192.0.2.3@tcp " +
			"(MDS_GETATTR 1, MDS_CLOSE 1) waited up to 60.0 s, and had no reply when the capture ended."
		if served {
			want = ""
		}
		assert.That(t, strings.HasPrefix(found, want) && (found == "") == served, "served: %v: %q", served, found)
	}
}

// TestHungBeforeRestart checks that a target that hung, and was restarted then, is found, by a request
// that changes only attributes.
func TestHungBeforeRestart(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.rpc(node3, oss, opcodes.OST_SETATTR, []change{withHandle(handle)}, nil)
	waiting := s.xid
	pings := func(n int) {
		for range n {
			s.pass(5)
			s.ping(node3, oss, handle)
		}
	}
	again := func(handle uint64, rep []change) {
		last := s.xid
		s.xid = waiting - 128
		s.rpc(node3, oss, opcodes.OST_SETATTR, []change{withHandle(handle), pbFlags(dissect.FlagResent)}, rep)
		s.xid = last
	}
	pings(8)
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, []change{withHandle(handle), granted(7), opFlags(uint32(opcodes.MsgConnectFlags.Bit("RECONNECT")))})
	again(handle, nil)
	pings(6)
	s.pass(1)
	s.rpc(node3, oss, opcodes.OBD_PING, []change{withHandle(handle)}, nil)
	s.pass(16)
	s.connect(node3, oss, ost0, []change{connCnt(3), withHandle(handle), instance(7)}, []change{status(opcodes.ENODEV)})
	s.pass(20)
	s.connect(node3, oss, ost0, []change{connCnt(4), withHandle(handle), instance(7)}, []change{withHandle(handle + 1), granted(8), opFlags(uint32(opcodes.MsgConnectFlags.Bit("RECOVERING")))})
	s.ping(node3, oss, handle+1)
	again(handle+1, []change{withHandle(handle + 1)})
	pings(1)
	s.expect("warning target.hung: lustre-OST0000 hung for at least 70.0 s before it was gone: it answered other requests, but nothing that needs its "+
		"storage. 1 RPC of 192.0.2.3@tcp (OST_SETATTR) waited 107 s, until", "warning restart.target: ")
}

// A target that answered nothing at all until it went on, and was restarted then, is not known to have answered other
// requests.
func TestFrozenBeforeRestart(t *testing.T) {
	s := newScene(t)
	s.mounted(node3, oss, ost0, handle)
	s.pass(5)
	s.rpc(node3, oss, opcodes.OST_SETATTR, []change{withHandle(handle)}, nil)
	s.pass(40)
	s.send(lnet.Reply, oss, node3, opcodes.OST_SETATTR, []change{withHandle(handle)})
	s.connect(node3, oss, ost0, []change{connCnt(2), withHandle(handle), instance(7)}, []change{withHandle(handle + 1), granted(8), opFlags(uint32(opcodes.MsgConnectFlags.Bit("RECOVERING")))})
	s.ping(node3, oss, handle+1)
	for _, f := range s.end() {
		if strings.Contains(f, "target.hung") {
			t.Error(f)
		}
	}
}

// A target of which only the index is known is not that of another file system.
func TestOtherFileSystem(t *testing.T) {
	c := &track.Connection{TargetIndex: "OST0000", Server: messages.NID(2)}
	for server, want := range map[byte]bool{2: true, 9: false} {
		v := &recovery.Recovery{Target: "other-OST0000"}
		v.Server, v.ServerBefore = messages.NID(server), messages.NID(server)
		assert.Equal(t, mayBeAbout(v, c), want, server)
	}
}
