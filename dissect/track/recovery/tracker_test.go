package recovery_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

const (
	ms     = int64(1e6)
	second = int64(1e9)

	recovering = 1
	reconnect  = 2
	initial    = 8
	version    = 0x02110000
)

var lightweight = opcodes.ObdConnectFlags.Bit("LIGHTWEIGHT")

// instanceAt is where connect data have the instance of the target.
var instanceAt = opcodes.Protocol.StructNamed("obd_connect_data").Field("ocd_instance").Off

// wire makes the messages between clients and targets, and keeps the records of
// targets that were lost.
type wire struct {
	t       testing.TB
	now     int64
	frame   int64
	xid     uint64
	handles uint64 // of the last connection
	rpcs    *follow.Follower
	done    []*recovery.Recovery
}

func newWire(t testing.TB) *wire {
	w := &wire{t: t, now: 1e18, xid: 1 << 50}
	w.rpcs = follow.New(follow.Options{}, follow.Hooks{Recovery: func(r *recovery.Recovery) { w.done = append(w.done, r) }})
	return w
}

var server, partner = node(1), node(2)

// send sends a message, 1 ms after the one before.
func (w *wire) send(kind lnet.Kind, src, dst lnet.NID, xid uint64, opcode uint32, changes ...change) {
	w.frame++
	w.now += ms
	timeout := func(m *dissect.Message) { m.RPC.Timeout = 10 }
	m := messages.New(kind, src, dst, xid, opcode, append([]change{timeout}, changes...)...)
	m.Frame, m.Time = w.frame, w.now
	w.rpcs.Message(m)
}

func status(s int32) change {
	return func(m *dissect.Message) {
		if m.RPC.Status = s; s == opcodes.ENOTCONN || s == opcodes.ENODEV {
			m.RPC.Type = dissect.TypeError
		}
	}
}

type change = messages.Change

var node, flags, opFlags, transno, committed = messages.NID, messages.Flags, messages.OpFlags, messages.Transno, messages.Committed

// mount is a client of a target.
type mount struct {
	*wire
	node, server lnet.NID
	target, uuid string
	asked        uint64 // connect flags
	instance     uint32 // that it was granted
	handle       uint64
	attempts     uint32
}

func (w *wire) mount(n byte, target string) *mount {
	w.handles += 1 << 16
	return &mount{wire: w, node: node(n), server: server, target: target, uuid: "client-" + string('a'+rune(n)), handle: w.handles}
}

func (c *mount) request(opcode uint32, changes ...change) (reply func(...change)) {
	c.xid += 128
	xid, handle, server := c.xid, c.handle, c.server
	same := func(m *dissect.Message) { m.RPC.Handle, m.RPC.ConnCnt = handle, c.attempts }
	c.send(lnet.Request, c.node, server, xid, opcode, append([]change{same}, changes...)...)
	return func(changes ...change) {
		c.send(lnet.Reply, server, c.node, xid, opcode, append([]change{same}, changes...)...)
	}
}

// pending sends a request that is answered when it is sent again.
func (c *mount) pending(opcode uint32) (resend func()) {
	c.xid += 128
	xid := c.xid
	send := func(kind lnet.Kind, from, to lnet.NID, changes ...change) {
		handle, attempts := c.handle, c.attempts
		c.send(kind, from, to, xid, opcode, append(changes, func(m *dissect.Message) { m.RPC.Handle, m.RPC.ConnCnt = handle, attempts })...)
	}
	send(lnet.Request, c.node, c.server)
	return func() {
		send(lnet.Request, c.node, c.server, flags(dissect.FlagResent))
		send(lnet.Reply, c.server, c.node)
	}
}

// ask sends a request and its reply.
func (c *mount) ask(opcode uint32, changes ...change) { c.request(opcode)(changes...) }

// connect sends a connect request and returns a func that accepts it.
func (c *mount) connect(op uint32) (accept func(op uint32, instance uint32), refuse func(status int32)) {
	c.attempts++
	data := wiretest.ConnectData(c.asked|0x10000, version)
	binary.LittleEndian.PutUint32(data[instanceAt:], c.instance)
	old := c.handle
	if op&initial != 0 {
		c.handle = 0
	}
	reply := c.request(opcodes.MDS_CONNECT, opFlags(op), func(m *dissect.Message) {
		m.Msg.Bufs = append(m.Msg.Bufs, []byte(c.target+"_UUID\x00"), []byte(c.uuid+"\x00"), binary.LittleEndian.AppendUint64(nil, 0xc00c1e+old), data)
	})
	return func(op, instance uint32) {
			if c.handle = old; op&reconnect == 0 {
				c.handle++
			}
			c.instance = instance
			granted := slices.Clone(data)
			binary.LittleEndian.PutUint32(granted[instanceAt:], instance)
			reply(opFlags(op), func(m *dissect.Message) { m.RPC.Handle, m.Msg.Bufs = c.handle, append(m.Msg.Bufs, granted) })
		}, func(s int32) {
			c.handle = old
			reply(status(s))
		}
}

// start mounts: the target accepts the first connect.
func (c *mount) start(instance uint32) *mount {
	accept, _ := c.connect(initial)
	accept(0, instance)
	c.ask(opcodes.MDS_GETATTR)
	return c
}

// notConnected is a request that finds the connection lost.
func (c *mount) notConnected() { c.ask(opcodes.OBD_PING, status(opcodes.ENOTCONN)) }

// recover replays n requests and a lock; it returns a func that ends the recovery.
func (c *mount) recover(instance uint32, from, n uint64) (end func()) {
	accept, _ := c.connect(0)
	accept(recovering, instance)
	for t := from; t < from+n; t++ {
		c.request(opcodes.MDS_REINT, flags(dissect.FlagReplay), transno(t))(transno(t))
	}
	c.request(opcodes.LDLM_ENQUEUE, flags(dissect.FlagReqReplayDone))()
	final := c.request(opcodes.OBD_PING, flags(dissect.FlagReqReplayDone|dissect.FlagLockReplayDone))
	return func() { final(flags(dissect.FlagLockReplayDone)) }
}

// end ends the capture and returns what it shows.
func (w *wire) end() []*recovery.Recovery {
	w.rpcs.Advance(w.now)
	w.rpcs.Close()
	return w.done
}

func (w *wire) one() *recovery.Recovery {
	w.t.Helper()
	if w.end(); len(w.done) != 1 {
		w.t.Fatalf("%d records: %v", len(w.done), kinds(w.done))
	}
	return w.done[0]
}

func kinds(list []*recovery.Recovery) (kinds []string) {
	for _, r := range list {
		kinds = append(kinds, r.Target+" "+r.Kind.String())
	}
	return kinds
}

// story is the kinds of steps, and the clients they are about by the last byte of
// their addresses.
func story(r *recovery.Recovery) string {
	var b strings.Builder
	for i, e := range r.Events {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(e.Kind.String())
		if e.Client != nil {
			b.WriteByte('0' + e.Client.Connection.Client.Addr[3])
		}
	}
	return b.String()
}

// TestRestart: the target is started again under two clients, one of which is late;
// what they replay and what fails is counted, and so are requests that waited.
func TestRestart(t *testing.T) {
	w := newWire(t)
	a, b := w.mount(3, "lustre-MDT0000").start(1), w.mount(4, "lustre-MDT0000").start(1)
	for n := range uint64(4) {
		a.ask(opcodes.MDS_REINT, transno(101+n), committed(100))
	}
	write := a.pending(opcodes.MDS_REINT)
	gone := w.frame
	w.now += 7 * second
	a.notConnected()
	_, refuse := a.connect(0)
	refuse(opcodes.ENODEV)
	w.now += second
	accept, _ := a.connect(0)
	accept(recovering, 2)
	back := w.frame
	replay := func(n uint64, s ...change) {
		a.request(opcodes.MDS_REINT, flags(dissect.FlagReplay), transno(n))(append(s, transno(n))...)
	}
	replay(101)
	replay(102, status(opcodes.EOVERFLOW))
	replay(104)
	b.notConnected()
	w.now += 2 * second
	endB := b.recover(2, 200, 0)
	a.request(opcodes.LDLM_ENQUEUE, flags(dissect.FlagReqReplayDone))(status(-11))
	a.request(opcodes.OBD_PING, flags(dissect.FlagReqReplayDone|dissect.FlagLockReplayDone))(flags(dissect.FlagLockReplayDone))
	completed := w.frame
	endB()
	write()
	r := w.one()
	if r.Target != "lustre-MDT0000" || r.Kind != recovery.Restart || r.Instance != 2 || r.InstanceBefore != 1 || r.Server != server {
		t.Errorf("got %s %v, instance %d to %d", r.Target, r.Kind, r.InstanceBefore, r.Instance)
	}
	if r.Gone.Frame != gone || r.GoneBy != recovery.SignUnanswered || r.Back.Frame != back || r.Completed.Frame != completed {
		t.Errorf("gone %d by %v, back %d, completed %d; want %d, %d, %d", r.Gone.Frame, r.GoneBy, r.Back.Frame, r.Completed.Frame, gone, back, completed)
	}
	down, ok := r.Downtime()
	assert.That(t, ok && down >= 8*second && down <= 8*second+10*ms, "down for %d ns, %v", down, ok)
	if n, ok := r.Known(); n != 2 || !ok || r.Count(recovery.ClientRecovered) != 2 {
		t.Errorf("%d of %d clients, %v", r.Count(recovery.ClientRecovered), n, ok)
	}
	requests, locks := r.Replayed()
	if requests.Count != 3 || requests.Errors[opcodes.EOVERFLOW] != 1 || locks.Count != 2 || locks.Errors[-11] != 1 || r.VersionMismatches() != 1 {
		t.Errorf("%d requests %v, %d locks %v", requests.Count, requests.Errors, locks.Count, locks.Errors)
	}
	g := r.NotReplayed()
	assert.That(t, g.Count == 1 && g.From == 103 && g.To == 103, "not replayed: %+v", g)
	if i := r.Impact(); i.Waited != 1 || i.Longest < 10*second || len(i.Errors) > 0 || i.Unanswered > 0 {
		t.Errorf("%d requests waited, the longest %d ns; errors %v", i.Waited, i.Longest, i.Errors)
	}
	if last := r.Last(); last == nil || last.Connection.Client != node(4) || last.Connected.Time-r.Back.Time < 2*second {
		t.Errorf("last client %+v", last)
	}
	want := "last_reply gone lost3 refused3 back connected3 replay3 lost4 connected4 lock_replay4 ready4 not_replayed3 lock_replay3 ready3 recovered3 recovered4 waited3"
	assert.Equal(t, story(r), want, "story")
}

// TestMissedRecovery: one client comes back when the recovery is over and is evicted,
// another one is not seen again, a third one had unmounted.
func TestMissedRecovery(t *testing.T) {
	w := newWire(t)
	a, b := w.mount(3, "lustre-OST0001").start(5), w.mount(4, "lustre-OST0001").start(5)
	w.mount(5, "lustre-OST0001").start(5)
	w.mount(6, "lustre-OST0001").start(5).ask(opcodes.MDS_DISCONNECT)
	proxy := w.mount(7, "lustre-OST0001")
	proxy.asked = lightweight
	proxy.start(5)
	b.ask(opcodes.LDLM_ENQUEUE)
	a.ask(opcodes.OBD_PING)
	w.now += 5 * second
	a.notConnected()
	a.recover(6, 0, 0)()
	proxy.notConnected()
	accept, _ := proxy.connect(0)
	accept(0, 6)
	w.now += 300 * second
	b.notConnected()
	accept, _ = b.connect(0)
	accept(0, 6)
	b.ask(opcodes.MDS_GETATTR)
	r := w.one()
	outcomes := map[byte]recovery.Outcome{3: recovery.ClientRecovered, 4: recovery.ClientEvicted, 5: recovery.ClientMissing, 7: recovery.ClientReconnected}
	for _, c := range r.Clients {
		assert.Equal(t, outcomes[c.Connection.Client.Addr[3]], c.Outcome, "client")
	}
	n, ok := r.Known()
	assert.That(t, len(r.Clients) == 4 && n == 3 && ok, "%d clients, of %d, %v", len(r.Clients), n, ok)
	if _, ok := r.Downtime(); ok {
		t.Error("the downtime is known")
	}
	if limit, ok := r.DowntimeLimit(); !ok || limit < 5*second || limit > 5*second+10*ms {
		t.Errorf("gone for %d ns at most, %v", limit, ok)
	}
}

// TestEvictedInRecovery: a client whose replay failed is evicted at the end of the
// recovery.
func TestEvictedInRecovery(t *testing.T) {
	w := newWire(t)
	a := w.mount(3, "lustre-MDT0000").start(1)
	a.ask(opcodes.MDS_REINT, transno(7), committed(1))
	a.notConnected()
	accept, _ := a.connect(0)
	accept(recovering, 2)
	a.request(opcodes.MDS_REINT, flags(dissect.FlagReplay), transno(7))(status(opcodes.EOVERFLOW))
	a.request(opcodes.OBD_PING, flags(dissect.FlagReqReplayDone|dissect.FlagLockReplayDone))(status(opcodes.ENOTCONN))
	accept, _ = a.connect(0)
	accept(0, 2)
	a.ask(opcodes.MDS_GETATTR)
	r := w.one()
	if len(r.Clients) != 1 || r.Clients[0].Outcome != recovery.ClientEvicted || r.VersionMismatches() != 1 || r.Count(recovery.ClientRecovered) != 0 {
		t.Errorf("%d clients, %v, story %q", len(r.Clients), r.Clients[0].Outcome, story(r))
	}
}

// TestEvictedAfterVersions: a client whose replay failed is evicted when the recovery is
// over; one that is evicted later for another reason had recovered.
func TestEvictedAfterVersions(t *testing.T) {
	for replied, want := range map[int32]recovery.Outcome{opcodes.EOVERFLOW: recovery.ClientEvicted, 0: recovery.ClientRecovered} {
		w := newWire(t)
		a := w.mount(3, "lustre-MDT0000").start(1)
		a.ask(opcodes.MDS_REINT, transno(7), committed(1))
		a.notConnected()
		accept, _ := a.connect(0)
		accept(recovering, 2)
		a.request(opcodes.MDS_REINT, flags(dissect.FlagReplay), transno(7))(status(replied), transno(7))
		final := a.request(opcodes.OBD_PING, flags(dissect.FlagReqReplayDone|dissect.FlagLockReplayDone))
		w.now += second
		w.send(lnet.EarlyReply, server, a.node, w.xid, opcodes.OBD_PING, func(m *dissect.Message) { m.RPC.Timeout = 45 })
		final(flags(dissect.FlagLockReplayDone))
		a.ask(opcodes.LDLM_ENQUEUE)
		a.notConnected()
		accept, _ = a.connect(0)
		accept(0, 2)
		all := w.end()
		must.Equal(t, strings.Join(kinds(all), ", "), "lustre-MDT0000 restart, lustre-MDT0000 eviction")
		if c := all[0].Clients[0]; c.Outcome != want || c.Early.Count != 1 || c.Early.Estimate != 45 {
			t.Errorf("%v, early replies %+v, story %q", c.Outcome, c.Early, story(all[0]))
		}
	}
}

// TestFailover: the server dies and its partner, which refused the connects at first,
// takes the target over.
func TestFailover(t *testing.T) {
	w := newWire(t)
	a := w.mount(3, "lustre-MDT0000").start(1)
	last := w.frame
	write := a.pending(opcodes.MDS_REINT)
	sent := w.frame
	w.now += 30 * second
	a.connect(0)
	w.now += 10 * second
	a.server = partner
	_, refuse := a.connect(0)
	refuse(opcodes.ENODEV)
	w.now += 10 * second
	a.recover(2, 0, 0)()
	write()
	r := w.one()
	if r.Kind != recovery.Failover || r.ServerBefore != server || r.Server != partner || r.LastReply.Frame != last || r.Gone.Frame != sent || r.GoneBy != recovery.SignUnanswered {
		t.Errorf("%v from %v to %v, last reply %d, gone %d by %v", r.Kind, r.ServerBefore, r.Server, r.LastReply.Frame, r.Gone.Frame, r.GoneBy)
	}
	_, ok := r.Known()
	assert.That(t, !ok, "a client's capture shows all clients")
	if down, ok := r.Downtime(); !ok || down < 50*second || r.Clients[0].Unanswered != 1 {
		t.Errorf("down for %d ns, %v; %d connects without a reply", down, ok, r.Clients[0].Unanswered)
	}
}

// TestGoneAtTheEnd: the target is not seen again.
func TestGoneAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		lose func(c *mount)
		kind recovery.Kind
	}{
		"stopped": {func(c *mount) {
			c.notConnected()
			_, refuse := c.connect(0)
			refuse(opcodes.ENODEV)
		}, recovery.Stopped},
		"stopped, found by a client that was idle": {func(c *mount) {
			c.ask(opcodes.OST_DISCONNECT)
			_, refuse := c.connect(initial)
			refuse(opcodes.ENODEV)
		}, recovery.Stopped},
		"unreachable": {func(c *mount) {
			c.request(opcodes.OBD_PING)
			for range 2 {
				c.wire.now += 40 * second
				c.connect(0)
			}
		}, recovery.Unreachable},
		"not connected": {func(c *mount) { c.notConnected() }, recovery.Lost},
		"busy": {func(c *mount) {
			c.notConnected()
			_, refuse := c.connect(0)
			refuse(opcodes.EAGAIN)
		}, recovery.Lost},
	} {
		w := newWire(t)
		c.lose(w.mount(3, "lustre-OST0000").start(1))
		if r := w.one(); r.Kind != c.kind || !r.Back.IsZero() || r.Kind.IsOutage() != (c.kind != recovery.Lost) || r.ServerBefore != server {
			t.Errorf("%s: %v, %+v", name, r.Kind, r)
		}
	}
}

// TestNotCaptured: a server whose messages were not captured is not unreachable.
func TestNotCaptured(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-OST0000").start(1)
	begin := w.now
	c.request(opcodes.OBD_PING)
	w.now += 40 * second
	c.connect(0)
	w.now += 40 * second
	w.rpcs.Lost(&lnet.Loss{From: begin, To: w.now, Src: messages.Addr(server), Dst: messages.Addr(node(3))})
	assert.Equal(t, w.one().Kind, recovery.Lost)
}

// TestGapInTheCapture: nothing is said about what was replayed while bytes were lost.
func TestGapInTheCapture(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-MDT0000").start(1)
	c.ask(opcodes.MDS_REINT, transno(101), committed(100))
	c.notConnected()
	begin := w.now
	c.recover(2, 0, 0)()
	w.rpcs.Lost(&lnet.Loss{From: begin + ms, To: begin + 4*ms})
	if r := w.one(); r.NotReplayed().Count != 0 || r.Count(recovery.ClientRecovered) != 1 || r.IsLossy {
		t.Errorf("not replayed: %+v", r.NotReplayed())
	}
}

// TestGapBeforeTheLoss: the target may have been gone since before the first sign.
func TestGapBeforeTheLoss(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-MDT0000").start(1)
	begin := w.now
	w.now += second
	c.notConnected()
	c.recover(2, 0, 0)()
	w.rpcs.Lost(&lnet.Loss{From: begin, To: begin + ms})
	r := w.one()
	assert.That(t, r.IsLossy, "not lossy")
}

// TestRanOn: the target ran on, so nothing but the connection was lost.
func TestRanOn(t *testing.T) {
	for name, c := range map[string]struct {
		play func(c *mount)
		want string
	}{
		"reconnect": {func(c *mount) {
			c.request(opcodes.MDS_GETATTR)
			accept, _ := c.connect(0)
			accept(reconnect, 1)
			c.ask(opcodes.MDS_GETATTR)
		}, "reconnect"},
		"reconnects": {func(c *mount) {
			for range 2 {
				accept, _ := c.connect(0)
				accept(reconnect, 1)
				c.ask(opcodes.MDS_GETATTR)
			}
		}, "reconnect reconnect"},
		"eviction": {func(c *mount) {
			c.ask(opcodes.LDLM_ENQUEUE)
			c.notConnected()
			accept, _ := c.connect(0)
			accept(0, 1)
		}, "eviction"},
		"idle": {func(c *mount) {
			c.ask(opcodes.OST_DISCONNECT)
			accept, _ := c.connect(initial)
			accept(0, 1)
		}, ""},
		"mounted again": {func(c *mount) {
			c.ask(opcodes.MDS_DISCONNECT)
			c.attempts = 0
			c.start(1)
		}, ""},
		"a partner does not have it": {func(c *mount) {
			c.ask(opcodes.LDLM_ENQUEUE)
			c.server = partner
			_, refuse := c.connect(0)
			refuse(opcodes.ENODEV)
			c.server = server
			accept, _ := c.connect(0)
			accept(reconnect, 1)
		}, "reconnect"},
	} {
		w := newWire(t)
		c.play(w.mount(3, "lustre-OST0000").start(1))
		var got []string
		for _, r := range w.end() {
			if got = append(got, r.Kind.String()); r.Kind.IsOutage() {
				t.Errorf("%s: the target was gone", name)
			}
		}
		assert.Equal(t, strings.Join(got, " "), c.want, name)
	}
}

// TestRestartUnderIdleClient: a client that was not connected finds that the target
// was started again.
func TestRestartUnderIdleClient(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-OST0000").start(1)
	c.ask(opcodes.OST_DISCONNECT)
	accept, _ := c.connect(initial)
	accept(0, 2)
	if r := w.one(); r.Kind != recovery.Restart || r.InstanceBefore != 1 || r.Instance != 2 || r.GoneBy != recovery.NoSign || r.Clients[0].Outcome != recovery.ClientMounted {
		t.Errorf("%v, instance %d to %d, %v", r.Kind, r.InstanceBefore, r.Instance, r.GoneBy)
	}
}

// TestRestartBeforeTheCapture: an instance from before the capture proves no restart
// in it.
func TestRestartBeforeTheCapture(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-OST0000")
	c.attempts, c.instance = 4, 1
	accept, _ := c.connect(initial)
	accept(0, 2)
	if all := w.end(); len(all) != 0 {
		t.Errorf("got %v", kinds(all))
	}
}

// TestSignsOfServers: a target disconnects from others when it stops, registers when it
// starts, and the MGS announces it.
func TestSignsOfServers(t *testing.T) {
	w := newWire(t)
	a := w.mount(3, "lustre-MDT0001").start(1)
	osp, proxy := w.mount(1, "lustre-OST0000"), w.mount(1, "lustre-MDT0000")
	osp.uuid, osp.server, proxy.uuid, proxy.server = "lustre-MDT0001-mdtlov_UUID", partner, "lustre-MDT0000-lwp-MDT0001_UUID", partner
	osp.start(1)
	proxy.start(1)
	a.ask(opcodes.MDS_GETATTR)
	w.now += second
	proxy.ask(opcodes.MDS_DISCONNECT)
	gone := w.frame - 1
	osp.ask(opcodes.MDS_DISCONNECT)
	w.now += 30 * second
	w.register("lustre-MDT0001", 1)
	starting := w.frame - 1
	osp.attempts = 0
	osp.start(1)
	a.notConnected()
	a.recover(2, 0, 0)()
	w.table(a, "lustre-cliir", 1, 2)
	announced := w.frame
	r := w.one()
	if r.Gone.Frame != gone || r.GoneBy != recovery.SignStopping || r.Starting.Frame != starting || r.Announced.Frame != announced {
		t.Errorf("gone %d by %v, starting %d, announced %d; want %d, %d, %d", r.Gone.Frame, r.GoneBy, r.Starting.Frame, r.Announced.Frame, gone, starting, announced)
	}
	down, ok := r.Downtime()
	assert.That(t, ok && down >= 30*second && down <= 31*second, "down for %d ns, %v", down, ok)
}

// register lets a target that is started on a node register at the MGS.
func (w *wire) register(name string, on byte) {
	mgc := w.mount(on, "MGS")
	mgc.server = node(5)
	mgc.request(opcodes.MGS_TARGET_REG, func(m *dissect.Message) {
		info := make([]byte, opcodes.StructNamed("mgs_target_info").Size)
		copy(info[opcodes.StructNamed("mgs_target_info").Field("mti_svname").Off:], name)
		m.Msg.Bufs = append(m.Msg.Bufs, info)
	})()
}

// table sends the table of imperative recovery, with one MDT.
func (w *wire) table(c *mount, name string, index, instance uint32) {
	v := opcodes.ByOpcode(opcodes.MGS_CONFIG_READ).Variants[0]
	c.xid += 128
	xid := c.xid
	read := func(m *dissect.Message) {
		m.RPC.Variant = v
		m.Msg.Bufs = append(m.Msg.Bufs, append([]byte(name), make([]byte, 100)...))
	}
	w.send(lnet.Request, c.node, server, xid, opcodes.MGS_CONFIG_READ, read)
	entry := make([]byte, opcodes.StructNamed("mgs_nidtbl_entry").Size)
	for field, n := range map[string]uint32{"mne_instance": instance, "mne_index": index, "mne_length": uint32(len(entry)), "mne_type": 1} {
		entry[opcodes.StructNamed("mgs_nidtbl_entry").Field(field).Off] = byte(n)
	}
	w.send(lnet.Bulk, server, c.node, xid, opcodes.MGS_CONFIG_READ, func(m *dissect.Message) {
		m.Req, m.Content = &dissect.RequestInfo{XID: xid, Opcode: opcodes.MGS_CONFIG_READ, Client: c.node, Variant: v}, entry
	})
}

// TestOnlyAnnounced: the MGS says that a target was started again, which no client has
// noticed. What it says of the start that clients know is no restart.
func TestOnlyAnnounced(t *testing.T) {
	for instance, want := range map[uint32]int{0: 0, 1: 0, 2: 0, 3: 1} {
		w := newWire(t)
		c := w.mount(3, "lustre-MDT0001").start(2)
		w.table(c, "lustre-cliir", 1, instance)
		w.table(c, "lustre-cliir", 2, 7)
		all := w.end()
		if len(all) != want {
			t.Errorf("instance %d: %v", instance, kinds(all))
		}
		for _, r := range all {
			if r.Kind != recovery.Restart || r.InstanceBefore != 2 || r.Instance != 3 || r.Announced.IsZero() || !r.Back.IsZero() {
				t.Errorf("got %+v", r)
			}
		}
	}
}

// TestRails: a server with two addresses is no other server.
func TestRails(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-MDT0000").start(1)
	c.server = partner
	c.ask(opcodes.MDS_GETATTR)
	c.server = server
	c.ask(opcodes.MDS_GETATTR)
	c.notConnected()
	c.server = partner
	c.recover(2, 0, 0)()
	r := w.one()
	assert.That(t, r.Kind == recovery.Restart, "%v from %v to %v", r.Kind, r.ServerBefore, r.Server)
}

// TestRestartInRecovery: the target is started again before its clients recovered.
func TestRestartInRecovery(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-MDT0000").start(1)
	c.notConnected()
	c.recover(2, 0, 0)
	w.now += 20 * second
	c.recover(3, 0, 0)()
	all := w.end()
	if len(all) != 2 || len(all[0].Clients) != 1 || len(all[1].Clients) != 1 {
		t.Fatalf("got %v", kinds(all))
	}
	if a, b := all[0].Clients[0], all[1].Clients[0]; a.Outcome != recovery.ClientRecovering || b.Outcome != recovery.ClientRecovered || b.LostBy != recovery.SignReconnect {
		t.Errorf("%v, then %v by %v", a.Outcome, b.Outcome, b.LostBy)
	}
}

// TestReturnNotCaptured: a client knows of a start of the target, so it has come back
// to it, and a later eviction is not due to the restart.
func TestReturnNotCaptured(t *testing.T) {
	w := newWire(t)
	a, b := w.mount(3, "lustre-MDT0000").start(1), w.mount(4, "lustre-MDT0000").start(1)
	b.ask(opcodes.LDLM_ENQUEUE)
	a.notConnected()
	b.notConnected()
	a.recover(2, 0, 0)()
	w.now += 60 * second
	b.instance = 2
	accept, _ := b.connect(0)
	accept(0, 2)
	all := w.end()
	must.Equal(t, strings.Join(kinds(all), ", "), "lustre-MDT0000 restart, lustre-MDT0000 eviction")
	if all[0].Count(recovery.ClientEvicted) != 0 || all[0].Count(recovery.ClientUnknown) != 1 {
		t.Errorf("story %q", story(all[0]))
	}
}

// TestOtherTargetAnswers: a server that answers about other targets is not unreachable.
func TestOtherTargetAnswers(t *testing.T) {
	w := newWire(t)
	a, b := w.mount(3, "lustre-MDT0000").start(1), w.mount(3, "lustre-MDT0001").start(1)
	a.request(opcodes.OBD_PING)
	for range 2 {
		w.now += 40 * second
		a.connect(0)
		b.ask(opcodes.OBD_PING)
	}
	assert.Equal(t, w.one().Kind, recovery.Lost)
}

// TestRestartAtUnknownTime: a client that was away learns of a restart that may have
// been before the capture.
func TestRestartAtUnknownTime(t *testing.T) {
	w := newWire(t)
	a, b := w.mount(3, "lustre-OST0000"), w.mount(4, "lustre-OST0000")
	a.attempts, a.instance, b.attempts, b.instance = 7, 2, 3, 1
	accept, _ := a.connect(0)
	accept(reconnect, 2)
	w.now += 100 * second
	b.notConnected()
	accept, _ = b.connect(0)
	accept(0, 2)
	for _, r := range w.end() {
		if r.Kind == recovery.Restart && (!r.Back.IsZero() || r.Instance != 2 || r.InstanceBefore != 1) {
			t.Errorf("back %d, instance %d to %d", r.Back.Frame, r.InstanceBefore, r.Instance)
		}
	}
}

// TestFailoverInMidStream: the connection was made before the capture, so the target's
// name comes with the connect to the other server.
func TestFailoverInMidStream(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-MDT0000")
	c.attempts, c.instance = 4, 1
	c.ask(opcodes.MDS_GETATTR)
	last := w.frame
	write := c.pending(opcodes.MDS_REINT)
	w.now += 30 * second
	c.connect(0)
	w.now += 10 * second
	c.server = partner
	c.recover(2, 0, 0)()
	write()
	if r := w.one(); r.Kind != recovery.Failover || r.ServerBefore != server || r.LastReply.Frame != last || r.GoneBy != recovery.SignUnanswered {
		t.Errorf("%v from %v, last reply %d, gone by %v", r.Kind, r.ServerBefore, r.LastReply.Frame, r.GoneBy)
	}
}

// TestTwoRestarts: each is a record of its own, and requests count for the one that
// they waited through.
func TestTwoRestarts(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-MDT0000").start(1)
	for instance := range uint32(2) {
		write := c.pending(opcodes.MDS_REINT)
		w.now += 2 * second
		c.notConnected()
		c.recover(instance+2, 0, 0)()
		write()
		c.ask(opcodes.MDS_GETATTR)
		w.now += 5 * second
	}
	all := w.end()
	if len(all) != 2 {
		t.Fatalf("got %v", kinds(all))
	}
	for i, r := range all {
		if r.Instance != uint32(i+2) || r.InstanceBefore != uint32(i+1) || r.Impact().Waited != 1 {
			t.Errorf("%d: instance %d to %d, %d requests waited", i, r.InstanceBefore, r.Instance, r.Impact().Waited)
		}
	}
}

// TestRestartElsewhere: the target ran on a node that was not captured, between two restarts. What it answered before the
// first one says nothing of when the second was.
func TestRestartElsewhere(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-MDT0000")
	c.attempts, c.instance = 4, 1
	c.ask(opcodes.MDS_GETATTR)
	c.notConnected()
	_, refuse := c.connect(0)
	refuse(opcodes.ENODEV)
	w.now += 60 * second
	c.instance = 2
	c.recover(3, 0, 0)()
	all := w.end()
	must.Equal(t, len(all), 2, "restarts")
	second := all[1]
	if second.InstanceBefore != 2 || second.Instance != 3 || !second.LastReply.IsZero() || !second.Starting.IsZero() {
		t.Errorf("instance %d to %d, last reply %d, started %d", second.InstanceBefore, second.Instance, second.LastReply.Frame, second.Starting.Frame)
	}
}

// TestStartElsewhere: as above, but the start of the target on each node was captured.
func TestStartElsewhere(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-MDT0000")
	c.attempts, c.instance = 4, 1
	c.ask(opcodes.MDS_GETATTR)
	c.notConnected()
	_, refuse := c.connect(0)
	refuse(opcodes.ENODEV)
	w.now += 10 * second
	w.register(c.target, 2)
	w.now += 60 * second
	w.register(c.target, 1)
	c.instance = 2
	c.recover(3, 0, 0)()
	all := w.end()
	must.Equal(t, strings.Join(kinds(all), ", "), "lustre-MDT0000 failover, lustre-MDT0000 failover")
	for i, to := range []lnet.NID{partner, server} {
		if r := all[i]; r.Server != to || r.ServerBefore == to || r.Starting.IsZero() {
			t.Errorf("from %v to %v, started %d", r.ServerBefore, r.Server, r.Starting.Frame)
		}
	}
}

// TestFailedRequests: a request that fails because the connection was lost counts
// unless the client sends it again.
func TestFailedRequests(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-MDT0000").start(1)
	write := c.pending(opcodes.MDS_REINT)
	w.send(lnet.Reply, server, c.node, w.xid, opcodes.MDS_REINT, status(opcodes.ENOTCONN), func(m *dissect.Message) { m.RPC.Handle = c.handle })
	c.ask(opcodes.MDS_STATFS, status(opcodes.ENOTCONN))
	w.now += 60 * second // longer than an RPC is held
	c.recover(2, 0, 0)()
	write()
	r := w.one()
	if i := r.Impact(); i.Waited != 1 || i.Longest < 60*second || i.Errors[opcodes.ENOTCONN] != 1 || len(i.Errors) != 1 {
		t.Errorf("%d waited, the longest %d ns; errors %v; story %q", i.Waited, i.Longest, i.Errors, story(r))
	}
}

// prepared returns a func that sends a request and its reply in the same two
// messages each time.
func (c *mount) prepared(opcode uint32) (send func()) {
	var ask, answer dissect.Message
	for _, m := range [...]*dissect.Message{&ask, &answer} {
		m.Kind, m.LNet.Src, m.LNet.Dst = lnet.Request, c.node, c.server
		m.RPC.HasXID, m.RPC.Opcode, m.RPC.HasOpcode, m.RPC.Handle, m.RPC.ConnCnt = true, opcode, true, c.handle, c.attempts
		m.Msg = &schema.Msg{Opcode: opcode, Bufs: [][]byte{make([]byte, opcodes.PtlrpcBody.Size)}}
	}
	answer.Kind, answer.LNet.Src, answer.LNet.Dst, answer.Msg.Reply, answer.RPC.Type = lnet.Reply, c.server, c.node, true, dissect.TypeReply
	ask.RPC.Type = dissect.TypeRequest
	ask.Src, ask.Dst, answer.Src, answer.Dst = messages.Addr(c.node), messages.Addr(c.server), messages.Addr(c.server), messages.Addr(c.node)
	return func() {
		c.xid += 128
		for _, m := range [...]*dissect.Message{&ask, &answer} {
			c.frame++
			c.now += 20 * ms
			m.Frame, m.Time, m.RPC.XID, m.LNet.MatchBits = c.frame, c.now, c.xid, c.xid
			c.rpcs.Message(m)
		}
	}
}

// TestMemoryIsFlat plays restarts for a long time: what is held after a while is what
// is held later.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	w := &wire{t: t, now: 1e18, xid: 1 << 50}
	passed := 0
	w.rpcs = follow.New(follow.Options{}, follow.Hooks{Recovery: func(*recovery.Recovery) { passed++ }})
	var clients []*mount
	for n := range byte(20) {
		clients = append(clients, w.mount(n+3, "lustre-OST0000").start(1))
	}
	instance := uint32(1)
	play := func(n int) {
		for range n {
			instance++
			for _, c := range clients {
				write := c.pending(opcodes.OST_WRITE)
				c.ask(opcodes.OST_READ, status(opcodes.ENOTCONN))
				c.recover(instance, 100, 3)()
				write()
				c.ask(opcodes.OST_READ)
			}
			w.now += 60 * second
		}
	}
	wiretest.Flat(t, play, 300, 600)
	assert.That(t, passed >= 800, "%d records", passed)
}

// TestNoAllocations: an RPC costs no allocation while no target is lost.
func TestNoAllocations(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-OST0000").start(1)
	send := c.prepared(opcodes.OST_READ)
	for range 5000 {
		send()
	}
	wiretest.NoAllocations(t, 2000, send)
}

// TestLostState: a request that was under way when the target was lost, and fails then with an error that a lost
// connection or lost state brings, counts as failed; with other errors it has waited.
func TestLostState(t *testing.T) {
	for _, s := range []int32{opcodes.EIO, opcodes.ENODEV, opcodes.ENOTCONN, opcodes.ESHUTDOWN, opcodes.ESTALE, opcodes.EOVERFLOW} {
		w := newWire(t)
		a := w.mount(3, "lustre-MDT0000").start(1)
		answer := a.request(opcodes.MDS_CLOSE)
		w.now += second
		a.notConnected()
		end := a.recover(2, 0, 0)
		answer(status(s))
		end()
		i := w.one().Impact()
		if failed := i.Errors[s] == 1; failed != (s != opcodes.EOVERFLOW) {
			t.Errorf("%d: errors %v, %d waited", s, i.Errors, i.Waited)
		}
	}
}

// TestCancelWithoutConnection: a server that does not know a client says so in the reply to its LDLM_CANCEL, too: that is
// no reply of the target.
func TestCancelWithoutConnection(t *testing.T) {
	w := newWire(t)
	a := w.mount(3, "lustre-MDT0000").start(1)
	a.ask(opcodes.MDS_REINT)
	last := w.frame
	w.now += second
	a.request(opcodes.LDLM_CANCEL)(func(m *dissect.Message) { m.RPC.Status = opcodes.ENOTCONN })
	w.now += second
	a.recover(2, 0, 0)()
	e := w.one().Events[0]
	assert.That(t, e.Kind == recovery.EventLastReply && e.Frame == last, "%v in frame %d, want %d", e.Kind, e.Frame, last)
}
