package track

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

const (
	target = "lustre-MDT0000_UUID"
	uuid   = "93d2759a-055c-460a-bf78-57b2c4b2d29e"
	export = 0xabc1
	cookie = 0xc00c1e
)

// connected makes RPCs whose connections are followed.
func connected(t *testing.T) (*wire, *Imports) {
	i := NewImports()
	return newWire(t, Options{Sent: i.Sent, Answered: i.Answered, Done: i.Done}), i
}

// life is a connection's history and events as text.
func life(i *Import) string {
	var b strings.Builder
	for _, h := range i.History {
		fmt.Fprintf(&b, "%v ", h.State)
	}
	return strings.TrimSpace(b.String())
}

func events(i *Import) string {
	var b strings.Builder
	for _, e := range i.Events {
		fmt.Fprintf(&b, "%v", e.Kind)
		if e.Count > 1 {
			fmt.Fprintf(&b, "*%d", e.Count)
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// script sends requests and replies, a millisecond apart, each with an xid of
// its own.
type script struct {
	*wire
	xid uint64
}

func (s *script) ask(opc uint32, req, rep []func(*dissect.Message)) {
	s.xid += 128
	s.request(s.xid, opc, req...)
	s.pass(ms)
	if rep != nil {
		s.reply(s.xid, opc, rep...)
		s.pass(ms)
	}
}

type change = func(*dissect.Message)

func (s *script) connect(cnt uint32, op uint32, old uint64, rep ...change) {
	s.ask(opcodes.MDS_CONNECT, []change{connectTo(target, uuid, cookie), connCnt(cnt), opFlags(op), handle(old)}, rep)
}

func (s *script) plain(opc uint32, h uint64, rep ...change) {
	s.ask(opc, []change{handle(h)}, append([]change{handle(h)}, rep...))
}

func (s *script) final(h uint64) {
	s.ask(opcodes.OBD_PING, []change{handle(h), flags(dissect.FlagReqReplayDone | dissect.FlagLockReplayDone)}, []change{handle(h)})
}

// TestLastServed checks that a reply of a server that does not know the client is not
// the last one that served it.
func TestLastServed(t *testing.T) {
	w, imports := connected(t)
	s := &script{w, xid}
	s.connect(1, opcodes.ConnectInitial, 0, handle(export))
	s.plain(getter, export, transno(5))
	served := w.frame
	s.plain(getter, export, status(opcodes.ENOTCONN))
	assert.Equal(t, imports.List()[0].LastServed.Frame, served, "served last in frame")
	s.connect(2, 0, export, handle(export+1))
	assert.Equal(t, imports.List()[0].LastServed.Frame, w.frame, "served last in frame")
}

func TestMountAndUnmount(t *testing.T) {
	w, imports := connected(t)
	s := &script{w, xid}
	s.connect(1, opcodes.ConnectInitial, 0, handle(export))
	s.plain(getter, export)
	for range 3 {
		s.plain(opcodes.OBD_PING, export, func(m *dissect.Message) { m.RPC.LastCommitted = 17 })
	}
	s.plain(opcodes.MDS_DISCONNECT, export, transno(18))
	all := s.end()
	imports.Close()
	must.Equal(t, len(imports.List()), 1, "connections")
	i := imports.List()[0]
	got := life(i)
	assert.That(t, got == "CONNECTING FULL DISCONNECTING CLOSED" && i.Since() == i.Last, "history %q", got)
	assert.Equal(t, events(i), "connect connected ping*3 disconnect", "events")
	if i.Target != "lustre-MDT0000" || i.TargetUUID != target || i.ClientUUID != uuid || i.Client != client ||
		i.ConnCnt != 1 || i.Asked.Version != 0x02110000 || i.LastCommitted != 17 || i.LastTransno != 18 || i.Pings != 3 {
		t.Errorf("got %+v", i)
	}
	for _, r := range all {
		assert.Equal(t, r.Target(), "lustre-MDT0000", "target of opcode", r.Opcode)
	}
}

func TestRecovery(t *testing.T) {
	w, imports := connected(t)
	s := &script{w, xid}
	s.connect(1, opcodes.ConnectInitial, 0, handle(export))
	for n := range uint64(4) {
		s.plain(opcodes.MDS_REINT, export, transno(100+n), func(m *dissect.Message) { m.RPC.LastCommitted = 100 })
	}
	s.plain(opcodes.OBD_PING, export, status(opcodes.ENOTCONN))
	s.connect(2, 0, export, status(opcodes.ENODEV))
	s.connect(3, 0, export, handle(export+1), opFlags(opcodes.ConnectRecovering))
	s.ask(opcodes.MDS_REINT, []change{handle(export + 1), flags(dissect.FlagReplay), transno(101)}, []change{transno(101)})
	s.ask(opcodes.MDS_REINT, []change{handle(export + 1), flags(dissect.FlagReplay), transno(103)}, []change{transno(103)})
	s.ask(opcodes.LDLM_ENQUEUE, []change{handle(export + 1), flags(dissect.FlagReqReplayDone)}, []change{})
	s.final(export + 1)
	s.plain(getter, export+1)
	s.end()
	i := imports.List()[0]
	if got := life(i); got != "CONNECTING FULL DISCONN CONNECTING DISCONN CONNECTING REPLAY REPLAY_LOCKS REPLAY_WAIT RECOVER FULL" {
		t.Errorf("history %q", got)
	}
	if got := events(i); got != "connect connected ping notconn connect refused connect connected replay*2 not_replayed lock_replay" {
		t.Errorf("events %q", got)
	}
	if i.Attempts != 3 || len(i.Failures) != 1 || i.Failures[opcodes.ENODEV] != 1 {
		t.Errorf("%v of %d connects failed", i.Failures, i.Attempts)
	}
	for _, e := range i.Events {
		assert.That(t, e.Kind != EventNotReplayed || e.From == 102 && e.To == 102, "gap from %d to %d", e.From, e.To)
	}
}

func TestReconnect(t *testing.T) {
	const (
		v215 = 2<<24 | 15<<16 | 8<<8
		v217 = 2<<24 | 17<<16
	)
	asks := func(flags uint64, version uint32) change {
		return func(m *dissect.Message) { m.Msg.Bufs[connectData] = wiretest.ConnectData(flags|flagVersion, version) }
	}
	grants := func(flags uint64) change {
		return func(m *dissect.Message) {
			m.Msg.Bufs = append(m.Msg.Bufs, wiretest.ConnectData(flags|flagVersion, v217))
		}
	}
	truncated := func(m *dissect.Message) { m.Msg.Bufs[0] = m.Msg.Bufs[0][:opcodes.PbOpFlags.Off] }
	for name, c := range map[string]struct {
		flags   uint64 // asked for
		version uint32
		idle    bool // nothing but the connect and a ping came before
		reply   []change
		want    string
	}{
		"known":                       {reply: []change{opFlags(opcodes.ConnectReconnect)}, want: "RECOVER FULL"},
		"unknown":                     {want: "EVICTED RECOVER FULL"},
		"known by another handle":     {reply: []change{opFlags(opcodes.ConnectReconnect), handle(export + 1)}, want: "EVICTED RECOVER FULL"},
		"without a handle":            {reply: []change{opFlags(opcodes.ConnectReconnect), handle(0)}, want: "DISCONN"},
		"in recovery":                 {reply: []change{opFlags(opcodes.ConnectRecovering), handle(export + 1)}, want: "REPLAY"},
		"in recovery, reconnected":    {reply: []change{opFlags(opcodes.ConnectRecovering | opcodes.ConnectReconnect), handle(export + 1)}, want: "REPLAY"},
		"lightweight":                 {flags: flagLightweight, reply: []change{grants(flagLightweight), handle(export + 1)}, want: "RECOVER FULL"},
		"lightweight, not captured":   {flags: flagLightweight, reply: []change{handle(export + 1)}, want: "RECOVER FULL"},
		"lightweight, not granted":    {flags: flagLightweight, reply: []change{grants(0), handle(export + 1)}, want: "EVICTED RECOVER FULL"},
		"nothing cached":              {version: v217, idle: true, want: "FULL"},
		"nothing cached, before 2.16": {version: v215, idle: true, want: "EVICTED RECOVER FULL"},
		"truncated":                   {reply: []change{truncated}, want: "RECOVER FULL"},
		"truncated, another handle":   {reply: []change{truncated, handle(export + 1)}, want: "UNKNOWN"},
		"denied":                      {reply: []change{status(opcodes.EACCES)}, want: "DISCONN EVICTED"},
		"read-only":                   {reply: []change{status(opcodes.EROFS)}, want: "DISCONN EVICTED"},
		"denied, lightweight":         {flags: flagLightweight, reply: []change{status(opcodes.EACCES)}, want: "DISCONN"},
		"denied, of a server":         {flags: flagMDS, reply: []change{status(opcodes.EACCES)}, want: "DISCONN"},
		"busy":                        {reply: []change{status(-16)}, want: "DISCONN"},
	} {
		w, imports := connected(t)
		s := &script{w, xid}
		s.connect(1, opcodes.ConnectInitial, 0, handle(export))
		if !c.idle {
			s.plain(opcodes.LDLM_ENQUEUE, export)
		}
		s.plain(opcodes.OBD_PING, export)
		version := max(c.version, v215)
		s.ask(opcodes.MDS_CONNECT, []change{connectTo(target, uuid, cookie), asks(c.flags, version), connCnt(2), handle(export)},
			append([]change{handle(export)}, c.reply...))
		s.end()
		i := imports.List()[0]
		assert.Equal(t, life(i), strings.TrimSpace("CONNECTING FULL DISCONN CONNECTING "+c.want), name, "history")
		assert.Equal(t, strings.Contains(c.want, "EVICTED"), i.Evictions == 1, name, i.Evictions, "evictions")
	}
}

// After a denied connect the client has lost its state, whatever the server
// says later.
func TestConnectAfterDenial(t *testing.T) {
	w, imports := connected(t)
	s := &script{w, xid}
	asClient := func(m *dissect.Message) { m.Msg.Bufs[connectData] = wiretest.ConnectData(flagVersion, 0x02110000) }
	connect := func(cnt uint32, rep ...change) {
		s.ask(opcodes.OST_CONNECT, []change{connectTo(target, uuid, cookie), asClient, connCnt(cnt), handle(export)}, rep)
	}
	connect(2, handle(export), opFlags(opcodes.ConnectReconnect))
	connect(3, status(opcodes.EACCES))
	connect(4, handle(export), opFlags(opcodes.ConnectReconnect))
	s.end()
	got, want := life(imports.List()[0]), "CONNECTING RECOVER FULL DISCONN CONNECTING DISCONN EVICTED DISCONN CONNECTING EVICTED RECOVER FULL"
	assert.That(t, got == want, "history %q, want %q", got, want)
}

// The reply to a connect whose request was not captured proves no eviction.
func TestConnectReplyWithoutRequest(t *testing.T) {
	w, imports := connected(t)
	s := &script{w, xid}
	s.plain(getter, export)
	s.reply(s.xid+128, opcodes.MDS_CONNECT, handle(export))
	s.end()
	assert.Equal(t, life(imports.List()[0]), "FULL", "history")
}

// A reconnect names the connection of its old handle, even without an answer.
func TestReconnectNamesTheHandle(t *testing.T) {
	w, _ := connected(t)
	s := &script{w, xid}
	s.connect(2, 0, export)
	s.plain(getter, export)
	for _, r := range s.end() {
		assert.Equal(t, r.Target(), "lustre-MDT0000", "target of opcode", r.Opcode)
	}
}

// TestReconnectWithAnotherHandle: a connection keeps its name as long as one of
// its handles is remembered.
func TestReconnectWithAnotherHandle(t *testing.T) {
	l := newConnections()
	connect := func(old, granted uint64) *Connection {
		r := &RPC{Identity: Identity{Opcode: opcodes.OST_CONNECT, HasOpcode: true, Handle: old}}
		m := &dissect.Message{Msg: &schema.Msg{Bufs: [][]byte{nil, []byte("lustre-OST0000_UUID"), []byte("client")}}}
		m.RPC.Handle = granted
		l.request(r, m)
		r.HasReply, r.body = true, opcodes.PtlrpcBody.Size
		l.reply(r, m)
		return r.Connection
	}
	first := connect(0, 1)
	must.Equal(t, connect(1, 2), first, "a reconnect makes another connection")
	for n := range uint64(maxHandles - 1) { // the first handle has to go
		l.request(&RPC{Identity: Identity{Opcode: opcodes.OBD_PING, HasOpcode: true, Handle: 1<<40 + n}}, &dissect.Message{})
	}
	must.That(t, l.byHandle(1) == nil && l.byHandle(2) == first, "not the first handle was forgotten")
	assert.Equal(t, connect(0, 3), first, "a reconnect makes another connection after the first handle was forgotten")
}

// A reply to a connect that was given up changes nothing.
func TestLateConnectReply(t *testing.T) {
	w, imports := connected(t)
	s := &script{w, xid}
	s.connect(1, opcodes.ConnectInitial, 0, handle(export))
	s.connect(2, 0, export)
	late := s.xid
	s.connect(3, 0, export, status(-114))
	s.reply(late, opcodes.MDS_CONNECT, handle(export), opFlags(opcodes.ConnectReconnect))
	s.end()
	assert.Equal(t, life(imports.List()[0]), "CONNECTING FULL DISCONN CONNECTING DISCONN CONNECTING DISCONN", "history")
}

func TestEvictionAndTheCallbackBeforeIt(t *testing.T) {
	w, imports := connected(t)
	s := &script{w, xid}
	s.connect(1, opcodes.ConnectInitial, 0, handle(export))
	s.plain(opcodes.LDLM_ENQUEUE, export)
	call := func(lock byte, answer bool) {
		s.xid += 128
		locks := make([]byte, opcodes.LockHandles.Off+16)
		locks[opcodes.LockHandles.Off] = lock
		locks[opcodes.LockHandles.Off+8] = lock + 100
		s.send(lnet.Request, server, client, rpc(s.xid, opcodes.LDLM_BL_CALLBACK), handle(cookie), func(m *dissect.Message) {
			m.RPC.Type, m.Msg = dissect.TypeRequest, &schema.Msg{Bufs: [][]byte{nil, locks}}
		})
		if answer {
			s.send(lnet.Reply, client, server, rpc(s.xid, opcodes.LDLM_BL_CALLBACK), handle(cookie))
		}
		s.pass(ms)
	}
	call(1, true)
	call(2, true)
	call(3, false)
	s.ask(opcodes.LDLM_CANCEL, []change{handle(export), func(m *dissect.Message) {
		m.Data = []byte{0, 101, 0, 0, 0, 0, 0, 0, 0, 9} // the first lock's handle at the server
	}}, []change{handle(export)})
	s.pass(int64(100 * time.Second))
	s.plain(opcodes.OBD_PING, export, status(opcodes.ENOTCONN))
	s.connect(2, 0, export, handle(export+1))
	s.plain(getter, export+1)
	s.end()
	i := imports.List()[0]
	assert.Equal(t, life(i), "CONNECTING FULL DISCONN CONNECTING EVICTED RECOVER FULL", "history")
	var calls []string
	for _, e := range i.Events {
		if e.Kind == EventCallback {
			calls = append(calls, fmt.Sprintf("%d %v", e.From, e.Replied))
		}
	}
	got := strings.Join(calls, ", ")
	assert.That(t, got == "2 true, 3 false" && i.Evictions == 1, "callbacks %q, evictions %d", got, i.Evictions)
}

// A connection that was made before the capture gets its names when it is
// made again.
func TestConnectionFromBefore(t *testing.T) {
	w, imports := connected(t)
	s := &script{w, xid}
	s.ask(getter, []change{handle(export), connCnt(4)}, []change{handle(export)})
	i := imports.List()[0]
	assert.That(t, i.TargetUUID == "" && i.State == StateFull && i.Handle == export && i.ConnCnt == 4 && i.HasCommitted, "before: %+v", i)
	s.connect(5, 0, export, handle(export), opFlags(opcodes.ConnectReconnect))
	all := s.end()
	must.Equal(t, len(imports.List()), 1, "connections")
	assert.Equal(t, life(imports.List()[0]), "FULL DISCONN CONNECTING RECOVER FULL", "history")
	assert.Equal(t, all[0].Target(), "lustre-MDT0000", "target")
}

func TestIdleConnection(t *testing.T) {
	const (
		ost    = "lustre-OST0000_UUID"
		second = int64(time.Second)
		before = "CONNECTING FULL DISCONNECTING "
	)
	for name, c := range map[string]struct {
		asked   uint64
		silence int64
		then    func(s *script, connect func(cnt, op uint32))
		want    string
	}{
		"unused":     {silence: 21 * second, want: before + "IDLE"},
		"just used":  {silence: second, want: before + "CLOSED"},
		"of an MDT":  {silence: 21 * second, asked: flagMDS, want: before + "CLOSED"},
		"used again": {silence: second, then: func(_ *script, connect func(cnt, op uint32)) { connect(2, opcodes.ConnectInitial) }, want: before + "IDLE CONNECTING FULL"},
		"mounted again": {silence: 21 * second, then: func(_ *script, connect func(cnt, op uint32)) { connect(1, opcodes.ConnectInitial) },
			want: before + "CLOSED CONNECTING FULL"},
		"MDT used again": {silence: second, asked: flagMDS, then: func(_ *script, connect func(cnt, op uint32)) { connect(2, opcodes.ConnectInitial) },
			want: before + "CLOSED CONNECTING FULL"},
		"unmounted": {silence: 21 * second, then: func(s *script, _ func(cnt, op uint32)) { s.plain(opcodes.MDS_DISCONNECT, export) }, want: before + "CLOSED"},
	} {
		w, imports := connected(t)
		s := &script{w, xid}
		s.connect(1, opcodes.ConnectInitial, 0, handle(export))
		connect := func(cnt, op uint32) {
			s.ask(opcodes.OST_CONNECT, []change{connectTo(ost, uuid, cookie+1), func(m *dissect.Message) {
				m.Msg.Bufs[connectData] = wiretest.ConnectData(c.asked|flagVersion, 0x02110000)
			}, connCnt(cnt), opFlags(op)}, []change{handle(0x05e)})
		}
		connect(1, opcodes.ConnectInitial)
		s.plain(opcodes.OST_WRITE, 0x05e)
		s.pass(c.silence)
		s.plain(opcodes.OST_DISCONNECT, 0x05e)
		s.pass(second)
		if c.then != nil {
			c.then(s, connect)
		}
		s.end()
		imports.Close()
		i := imports.List()[1]
		assert.Equal(t, life(i), c.want, name, "history")
		for _, e := range i.Events {
			assert.That(t, e.Kind != EventDisconnect || e.Silence == c.silence+ms, "%s: silence %d", name, e.Silence)
		}
	}
}

// A capture on an OSS has no connections to MDTs.
func TestIdleConnectionToOSTs(t *testing.T) {
	for _, unmounts := range []bool{false, true} {
		w, imports := connected(t)
		s := &script{w, xid}
		s.plain(opcodes.OST_WRITE, 0x05e)
		s.plain(opcodes.OST_WRITE, 0x05f)
		s.pass(int64(21 * time.Second))
		s.plain(opcodes.OST_DISCONNECT, 0x05e)
		want := "FULL DISCONNECTING IDLE"
		if unmounts {
			s.plain(opcodes.OST_DISCONNECT, 0x05f)
			want = "FULL DISCONNECTING CLOSED"
		}
		s.pass(int64(3 * time.Second))
		s.plain(opcodes.OBD_PING, 0x05f)
		s.end()
		imports.Close()
		assert.Equal(t, life(imports.List()[0]), want, "history")
	}
}

// Clients that mounted before the capture began are identified by their node.
func TestIdleConnectionFromBefore(t *testing.T) {
	for _, remounts := range []bool{false, true} {
		w, imports := connected(t)
		s := &script{w, xid}
		s.plain(opcodes.OBD_PING, export)
		s.plain(opcodes.OBD_PING, 0x05e)
		s.pass(int64(21 * time.Second))
		s.plain(opcodes.OST_DISCONNECT, 0x05e)
		want := "FULL DISCONNECTING IDLE"
		if remounts {
			s.plain(opcodes.MDS_DISCONNECT, export)
			s.connect(1, opcodes.ConnectInitial, 0, handle(export+1))
			want = "FULL DISCONNECTING CLOSED"
		}
		s.pass(int64(3 * time.Second))
		s.plain(getter, map[bool]uint64{false: export, true: export + 1}[remounts])
		s.end()
		imports.Close()
		assert.Equal(t, life(imports.List()[1]), want, "history")
	}
}

func TestUnansweredDisconnect(t *testing.T) {
	w, imports := connected(t)
	s := &script{w, xid}
	s.plain(getter, export)
	s.ask(opcodes.MDS_DISCONNECT, []change{handle(export)}, nil)
	s.end()
	imports.Close()
	assert.Equal(t, life(imports.List()[0]), "FULL DISCONNECTING", "history")
}

// Events that are noted late are where they were.
func TestEventsAreInOrder(t *testing.T) {
	total := 0
	l := ImportLog{total: &total}
	for _, e := range []Event{{Kind: EventConnect, Point: Point{Frame: 1, Time: 10}}, {Kind: EventPing, Point: Point{Frame: 2, Time: 20}}, {Kind: EventDisconnect, Point: Point{Frame: 3, Time: 30}},
		{Kind: EventCallback, Point: Point{Frame: 4, Time: 15}}, {Kind: EventPing, Point: Point{Frame: 5, Time: 25}}, {Kind: EventCallback, Point: Point{Frame: 6, Time: 5}}} {
		l.add(e)
	}
	assert.Equal(t, events(&Import{ImportLog: l}), "callback connect callback ping*2 disconnect")
}

func TestHistoryIsBounded(t *testing.T) {
	w, imports := connected(t)
	s := &script{w, xid}
	for n := range uint32(3 * maxLog) {
		s.connect(n, 0, export, status(opcodes.ENODEV))
	}
	s.end()
	i := imports.List()[0]
	if len(i.History) > maxLog || len(i.Events) > maxLog || i.Dropped == 0 {
		t.Errorf("%d transitions, %d events, %d dropped", len(i.History), len(i.Events), i.Dropped)
	}
}

type outageScript struct {
	script
	imports *Imports
}

// TestOutage lets a client lose its connection after some pings, and looks at how it was
// lost when it is evicted.
func TestOutage(t *testing.T) {
	const second = int64(time.Second)
	notConnected := func(s *outageScript) { s.plain(opcodes.OBD_PING, export, status(opcodes.ENOTCONN)) }
	for name, c := range map[string]struct {
		play    func(s *outageScript)
		silence int64 // seconds
		absent  bool
		lostBy  bool
	}{
		"pings":           {func(s *outageScript) { s.pass(5 * second); notConnected(s) }, 5, false, true},
		"after a silence": {func(s *outageScript) { s.pass(40 * second); notConnected(s) }, 40, false, true},
		"connects without a reply": {func(s *outageScript) {
			for range 3 {
				s.pass(10 * second)
				s.connect(2, 0, export)
			}
		}, 30, false, false},
		"connects refused": {func(s *outageScript) {
			for range 3 {
				s.pass(10 * second)
				s.connect(2, 0, export, status(-11))
			}
		}, 10, false, false},
		"hole in it": {func(s *outageScript) {
			s.imports.Lost(&lnet.Loss{From: s.now + second, To: s.now + 2*second})
			s.pass(40 * second)
			notConnected(s)
		}, 0, false, true},
		"hole between other nodes": {func(s *outageScript) {
			s.imports.Lost(&lnet.Loss{From: s.now + second, To: s.now + 2*second, NIDs: []lnet.NID{nid(8), nid(9)}})
			s.pass(40 * second)
			notConnected(s)
		}, 40, false, true},
		"hole before": {func(s *outageScript) {
			s.imports.Lost(&lnet.Loss{From: s.now - 2*second, To: s.now - second})
			s.pass(40 * second)
			notConnected(s)
		}, 40, false, true},
		"target was absent": {func(s *outageScript) {
			s.pass(second)
			notConnected(s)
			s.connect(2, 0, export, status(opcodes.ENODEV))
		}, 1, true, true},
	} {
		w, imports := connected(t)
		s := &outageScript{script{w, xid}, imports}
		s.connect(1, opcodes.ConnectInitial, 0, handle(export))
		s.plain(opcodes.LDLM_ENQUEUE, export)
		for range 5 {
			s.pass(5 * second)
			s.plain(opcodes.OBD_PING, export)
		}
		c.play(s)
		s.connect(3, 0, export, handle(export+1))
		i := imports.List()[0]
		o := i.Outage()
		must.That(t, o != nil && !o.Evicted.IsZero() && i.Evictions == 1, "%s: not evicted: %+v", name, o)
		if o.Silence/second != c.silence || o.Interval/second != 5 || o.Absent.IsZero() == c.absent || o.HasLostBy != c.lostBy {
			t.Errorf("%s: %+v", name, o)
		}
		s.plain(opcodes.OST_WRITE, export, status(opcodes.ENOTCONN)) // sent after it
		s.end()
		assert.Equal(t, o.Refused.Count, 0, name, "requests were refused")
	}
}

// TestDeniedAgain: a client that tries on after it was denied its connection is not evicted again.
func TestDeniedAgain(t *testing.T) {
	w, imports := connected(t)
	s := &outageScript{script{w, xid}, imports}
	asClient := func(m *dissect.Message) { m.Msg.Bufs[connectData] = wiretest.ConnectData(flagVersion, 0x02110000) }
	deny := func(cnt uint32) *Outage {
		s.ask(opcodes.OST_CONNECT, []change{connectTo(target, uuid, cookie), asClient, connCnt(cnt), handle(export)}, []change{status(opcodes.EACCES)})
		return imports.List()[0].Outage()
	}
	s.plain(getter, export)
	o := deny(2)
	assert.That(t, !o.Evicted.IsZero() && o.Status == opcodes.EACCES, "denied: %+v", o)
	if o := deny(3); !o.Evicted.IsZero() {
		t.Errorf("denied again: %+v", o)
	}
}

// on puts a message on a TCP connection.
func on(conn int) func(*dissect.Message) { return func(m *dissect.Message) { m.Conn = conn } }

// marked returns a segment of a TCP connection at a capture point.
func marked(source, conn int, marks lnet.TCPAnomalies) *lnet.TCPEvent {
	return &lnet.TCPEvent{Source: source, Conn: conn, TCPAnomalies: marks}
}

func TestImportMarks(t *testing.T) {
	w, imports := connected(t)
	// request sends a request and gives it to the Imports as the commands do.
	request := func(xid, h uint64, change ...func(*dissect.Message)) {
		var last *dissect.Message
		change = append(change, handle(h), func(m *dissect.Message) { last = m })
		imports.Message(w.request(xid, getter, change...), last)
	}
	once := lnet.TCPAnomalies{Retransmissions: 1}
	imports.TCPEvent(marked(0, 7, once)) // before the first message, such as a SYN
	request(xid, 1, on(7))
	imports.TCPEvent(marked(0, 7, lnet.TCPAnomalies{Retransmissions: 1, Fast: 1}))
	request(xid+1, 2, on(7)) // shares the connection
	imports.TCPEvent(marked(0, 7, lnet.TCPAnomalies{ZeroWindows: 1, OutOfOrder: 1}))
	imports.TCPEvent(marked(0, 8, once)) // nothing is known of it
	request(xid+2, 2, on(9), source(1))
	imports.TCPEvent(marked(1, 9, lnet.TCPAnomalies{ZeroWindows: 1, Spurious: 2}))
	w.end()
	list := imports.List()
	must.Equal(t, len(list), 2, "imports")
	if m := list[0].TCP(); m != (lnet.TCPAnomalies{Retransmissions: 2, Fast: 1}) || list[0].Retransmits() != 2 {
		t.Errorf("first: %+v, %d sent again", m, list[0].Retransmits())
	}
	assert.Equal(t, list[1].TCP(), lnet.TCPAnomalies{ZeroWindows: 1, OutOfOrder: 1, Spurious: 2}, "second, of two capture points")
}

// TestRetransmitsOverInfiniBand: packets with bytes of the RPCs count.
func TestRetransmitsOverInfiniBand(t *testing.T) {
	w, imports := connected(t)
	var last *dissect.Message
	r := w.request(xid, opcodes.OBD_PING, handle(1), carriedBy(1, lnet.Transfer{Resent: 3}), func(m *dissect.Message) {
		m.Transport, last = lnet.O2IB, m
	})
	imports.Message(r, last)
	w.reply(xid, opcodes.OBD_PING)
	w.end()
	if i := imports.List()[0]; i.Retransmits() != 3 || i.TCP() != (lnet.TCPAnomalies{}) {
		t.Errorf("%d sent again, %+v", i.Retransmits(), i.TCP())
	}
}
