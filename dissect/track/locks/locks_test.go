package locks_test

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

func TestMain(m *testing.M) { wiretest.Main(m) }

const (
	modeEX, modePW, modePR, modeNL, modeGroup = 0x1, 0x2, 0x4, 0x20, 0x40

	blockGranted = 0x2
	astSent      = 0x20
	flagReplay   = 0x100

	ms = int64(1e6)
)

// wire makes the messages about locks on one server and keeps the locks that end.
type wire struct {
	t     testing.TB
	now   int64
	frame int64
	xid   uint64
	rpcs  *follow.Follower
	locks *locks.Locks
	done  []*locks.Lock
}

func newWire(t testing.TB) *wire {
	w := &wire{t: t, now: 1e18, xid: 1 << 50}
	w.rpcs = follow.New(follow.Options{}, follow.Hooks{Lock: func(l *locks.Lock) { w.done = append(w.done, l) }})
	w.locks = w.rpcs.Locks()
	return w
}

var (
	node   = messages.NID
	server = node(1)
)

// lockBody is a struct ldlm_request, or an ldlm_reply when it has three handles: of
// an object or file of that number.
type lockBody struct {
	kind, object       uint64
	requested, granted uint32
	policy             [3]uint64 // start or bits, end, group id or owner
	flags, count       uint32
	handles            []uint64
}

func (b lockBody) bytes() []byte {
	data := make([]byte, opcodes.LockHandles.Off+8*len(b.handles))
	put32 := func(at int, v uint32) { binary.LittleEndian.PutUint32(data[at:], v) }
	put64 := func(at int, v uint64) { binary.LittleEndian.PutUint64(data[at:], v) }
	put32(0, b.flags)
	put32(4, b.count)
	put32(8, uint32(b.kind))
	put64(16, 0x200000401)
	put64(24, b.object)
	put32(48, b.requested)
	put32(52, b.granted)
	for i, v := range b.policy {
		put64(56+8*i, v)
	}
	for i, h := range b.handles {
		put64(opcodes.LockHandles.Off+8*i, h)
	}
	return data
}

// send sends a message, 1 ms after the one before. Every message is an RPC of its
// own unless xid is that of another.
func (w *wire) send(kind lnet.Kind, src, dst lnet.NID, opcode uint32, xid uint64, status int32, body lockBody, change ...func(*dissect.Message)) {
	w.frame++
	w.now += ms
	lock := func(m *dissect.Message) {
		m.Frame, m.Time, m.RPC.Status, m.Msg.Status = w.frame, w.now, status, status
		m.Msg.Bufs = append(m.Msg.Bufs, body.bytes())
	}
	w.rpcs.Message(messages.New(kind, src, dst, xid, opcode, append([]messages.Change{lock}, change...)...))
}

// request sends a request and returns a func that sends the reply.
func (w *wire) request(from, to lnet.NID, opcode uint32, body lockBody, change ...func(*dissect.Message)) (reply func(status int32, body lockBody)) {
	w.xid += 64
	xid := w.xid
	w.send(lnet.Request, from, to, opcode, xid, 0, body, change...)
	return func(status int32, body lockBody) { w.send(lnet.Reply, to, from, opcode, xid, status, body) }
}

// enqueue asks for a lock. What it returns sends the reply: granted, or to wait.
func (w *wire) enqueue(client lnet.NID, handle uint64, body lockBody) (reply func(granted uint32, flags uint32)) {
	asked := body
	asked.handles = []uint64{handle}
	answer := w.request(client, server, opcodes.LDLM_ENQUEUE, asked)
	return func(granted, flags uint32) {
		body.granted, body.flags, body.handles = granted, flags, []uint64{handle | 0xff00, 0, 0}
		answer(0, body)
	}
}

// callback sends a callback about the lock with that handle of the client.
func (w *wire) callback(client lnet.NID, opcode uint32, handle uint64, body lockBody) (answer func(status int32)) {
	body.handles = []uint64{handle, handle | 0xff00}
	reply := w.request(server, client, opcode, body)
	return func(status int32) { reply(status, lockBody{}) }
}

func (w *wire) cancel(client lnet.NID, handle uint64) (reply func(status int32)) {
	answer := w.request(client, server, opcodes.LDLM_CANCEL, lockBody{count: 1, handles: []uint64{handle | 0xff00}})
	return func(status int32) { answer(status, lockBody{}) }
}

// end ends the capture and returns the locks by the handles of their clients.
func (w *wire) end() map[uint64]*locks.Lock {
	w.rpcs.Close()
	byHandle := make(map[uint64]*locks.Lock)
	for _, l := range w.done {
		byHandle[l.ClientHandle] = l
	}
	return byHandle
}

func extent(mode uint32, start, end uint64) lockBody {
	return lockBody{kind: opcodes.ExtentLock, object: 7, requested: mode, policy: [3]uint64{start, end}}
}

func flock(mode uint32, start, end, owner uint64) lockBody {
	return lockBody{kind: opcodes.FlockLock, object: 7, requested: mode, policy: [3]uint64{start, end, owner}}
}

// blockedBy returns the server's handles of the locks that kept one waiting.
func blockedBy(l *locks.Lock) (handles []uint64) {
	for _, b := range l.BlockedBy {
		handles = append(handles, b.Handle)
	}
	slices.Sort(handles)
	return handles
}

// TestBlockingCallback: a holder gets a blocking callback for the first lock that
// waits, and keeps the second one waiting as well.
func TestBlockingCallback(t *testing.T) {
	w := newWire(t)
	a, b, c := node(3), node(4), node(5)
	w.enqueue(a, 0xa, extent(modePW, 0, ^uint64(0)))(modePW, 0)
	w.enqueue(a, 0xd, extent(modePW, 1<<30, 1<<31))(modePW, 0) // of no account
	waits := w.enqueue(b, 0xb, extent(modePR, 0, 4095))
	answer := w.callback(a, opcodes.LDLM_BL_CALLBACK, 0xa, extent(modePR, 0, 0))
	waits(0, blockGranted)
	answer(0)
	w.enqueue(c, 0xc, extent(modePR, 4096, 8191))(0, blockGranted)
	w.now += 3000 * ms
	w.cancel(a, 0xa)(0)
	granted := extent(modePR, 0, ^uint64(0))
	granted.granted = modePR
	w.callback(b, opcodes.LDLM_CP_CALLBACK, 0xb, granted)(0)
	w.callback(c, opcodes.LDLM_CP_CALLBACK, 0xc, granted)(0)
	list := w.end()
	for _, h := range []uint64{0xb, 0xc} {
		assert.Slice(t, blockedBy(list[h]), []uint64{0xff0a}, h, "was blocked by")
	}
	l := list[0xb]
	ns, _ := l.Waited()
	assert.That(t, ns == 3008*ms && l.Granted.Frame == 13 && l.Asked.Frame == 5, "waited %d ns, granted %v", ns, l.Granted)
	assert.Equal(t, l.BlockedBy[0].Time(l), 3006*ms, "the holder kept it waiting for ns")
	held := list[0xa]
	if cb := held.Callbacks; len(cb) != 1 || cb[0].Answered.Frame != 8 || cb[0].Obeyed.Frame != 11 || held.End.How != locks.Canceled || held.IsStuck() {
		t.Errorf("holder %+v ended %v", cb, held.End)
	}
	var sums locks.Blockers
	for _, l := range w.done {
		sums.Add(l)
	}
	if h := sums.List(); len(h) != 1 || h[0].Waits != 2 || h[0].Client != a || len(h[0].Waiters) != 2 {
		t.Errorf("holders %+v", h)
	}
}

// TestNoProof: a lock that is held without a blocking callback, one that is in no
// conflict, and a callback for another lock prove nothing.
func TestNoProof(t *testing.T) {
	w := newWire(t)
	w.enqueue(node(3), 0xa, extent(modePW, 0, 99))(modePW, 0)
	w.enqueue(node(4), 0xb, extent(modePR, 0, ^uint64(0)))(0, blockGranted)
	w.enqueue(node(5), 0xc, extent(modePR, 500, ^uint64(0)))(0, blockGranted)
	w.callback(node(3), opcodes.LDLM_BL_CALLBACK, 0xa, extent(modePW, 50, 50))(0)
	list := w.end()
	if got := blockedBy(list[0xb]); !slices.Equal(got, []uint64{0xff0a}) { // in conflict, and asked for
		t.Errorf("blocked by %#x", got)
	}
	assert.Equal(t, len(blockedBy(list[0xc])), 0, "blocked by without a conflict")
	w = newWire(t)
	w.enqueue(node(3), 0xa, extent(modePW, 0, 99))(modePW, 0)
	w.enqueue(node(4), 0xb, extent(modePR, 0, ^uint64(0)))(0, blockGranted)
	assert.Equal(t, len(blockedBy(w.end()[0xb])), 0, "blocked by without a callback")
}

// TestHolderFromBefore: of a holder from before the capture only the callback is
// known, which describes the lock that waits.
func TestHolderFromBefore(t *testing.T) {
	w := newWire(t)
	waits := w.enqueue(node(4), 0xb, extent(modePR, 0, 4095))
	other := w.enqueue(node(5), 0xc, extent(modePR, 8192, 9000))
	w.callback(node(3), opcodes.LDLM_BL_CALLBACK, 0xa, extent(modePR, 0, 0))(0)
	waits(0, blockGranted)
	other(0, blockGranted)
	w.now += 2000 * ms
	w.cancel(node(9), 0x99)(0)
	list := w.end()
	assert.Slice(t, blockedBy(list[0xb]), []uint64{0xff0a}, "blocked by")
	assert.Equal(t, len(blockedBy(list[0xc])), 0, "the other one is blocked by")
	l := list[0xa]
	assert.That(t, !l.HasDesc() && l.HasResource() && l.Asked.IsZero() && l.IsStuck() && list[0xb].IsStuck(), "holder %+v", l)
}

// TestFlocks: flocks have no blocking callbacks and no cancels: an enqueue of mode
// NL releases a range.
func TestFlocks(t *testing.T) {
	w := newWire(t)
	a, b := node(3), node(4)
	w.enqueue(a, 0xa, flock(modePW, 0, 99, 1))(modePW, 0)
	w.enqueue(a, 0xd, flock(modePW, 200, 299, 1))(modePW, 0)
	w.enqueue(b, 0xb, flock(modePW, 50, 59, 9))(0, blockGranted)
	w.enqueue(a, 1, flock(modeNL, 0, 49, 1))(modeNL, 0) // the end stays locked
	w.now += 1000 * ms
	w.enqueue(a, 2, flock(modeNL, 50, 150, 1))(modeNL, 0)
	granted := flock(modePW, 50, 59, 9)
	granted.granted = modePW
	w.callback(b, opcodes.LDLM_CP_CALLBACK, 0xb, granted)(0)
	list := w.end()
	assert.Slice(t, blockedBy(list[0xb]), []uint64{0xff0a}, "blocked by")
	l := list[0xa]
	assert.That(t, l.End.How == locks.Canceled && l.End.Point.Frame == 9, "ended %v", l.End)
	if list[0xd].End.How != locks.Open || len(list) != 3 {
		t.Errorf("%d locks, the other range ended %v", len(list), list[0xd].End)
	}
	assert.Equal(t, list[0xb].BlockedBy[0].Time(list[0xb]), 1000*ms+4*ms, "kept waiting for ns")
}

// TestGroupLocks: the holder of a group lock gets no blocking callback.
func TestGroupLocks(t *testing.T) {
	w := newWire(t)
	group := func(gid uint64) lockBody {
		b := extent(modeGroup, 0, ^uint64(0))
		b.policy[2] = gid
		return b
	}
	w.enqueue(node(3), 0xa, group(7))(modeGroup, 0)
	w.enqueue(node(4), 0xb, group(7))(modeGroup, 0)
	w.enqueue(node(5), 0xc, group(8))(0, blockGranted)
	w.enqueue(node(6), 0xd, extent(modePW, 0, 99))(0, blockGranted)
	list := w.end()
	for _, h := range []uint64{0xc, 0xd} {
		assert.Slice(t, blockedBy(list[h]), []uint64{0xff0a, 0xff0b}, h, "is blocked by")
	}
}

// TestGivenUp: the client answers a completion callback with EINVAL when it does not
// wait any more.
func TestGivenUp(t *testing.T) {
	w := newWire(t)
	w.enqueue(node(4), 0xb, flock(modePW, 0, 99, 9))(0, blockGranted)
	granted := flock(modePW, 0, 99, 9)
	granted.granted = modePW
	w.callback(node(4), opcodes.LDLM_CP_CALLBACK, 0xb, granted)(-22)
	l := w.end()[0xb]
	assert.That(t, l.End.How == locks.Gone && !l.IsGranted() && l.IsStuck(), "ended %v, granted %v", l.End, l.Granted)
}

// TestCancelOfEvicted: a cancel that is answered with ENOTCONN cancels nothing.
func TestCancelOfEvicted(t *testing.T) {
	w := newWire(t)
	w.enqueue(node(3), 0xa, extent(modePW, 0, 99))(modePW, 0)
	w.callback(node(3), opcodes.LDLM_BL_CALLBACK, 0xa, extent(modePW, 0, 0))(0)
	w.now += 5000 * ms
	w.cancel(node(3), 0xa)(-107)
	l := w.end()[0xa]
	assert.That(t, l.End.How == locks.Open && l.Callbacks[0].Obeyed.IsZero() && l.IsStuck(), "ended %v, callbacks %+v", l.End, l.Callbacks)
}

// TestNoLock: a result without a lock is none, a refused one is.
func TestNoLock(t *testing.T) {
	w := newWire(t)
	glimpse := extent(modePR, 0, ^uint64(0))
	glimpse.flags, glimpse.handles = 0x1000, []uint64{0xa}
	w.request(node(3), server, opcodes.LDLM_ENQUEUE, glimpse)(301, lockBody{handles: []uint64{0, 0, 0}})
	f := flock(modePW, 0, 99, 9)
	f.handles = []uint64{0xb}
	w.request(node(3), server, opcodes.LDLM_ENQUEUE, f)(-11, lockBody{handles: []uint64{0, 0, 0}})
	list := w.end()
	l := list[0xb]
	assert.That(t, len(list) == 1 && l.End.How == locks.Refused && l.Error == -11 && !l.IsStuck(), "%d locks, %+v", len(list), l)
}

// TestTruncatedReply: whether a lock was granted is unknown when its reply is
// truncated.
func TestTruncatedReply(t *testing.T) {
	w := newWire(t)
	b := extent(modePW, 0, 99)
	b.handles = []uint64{0xa}
	w.request(node(3), server, opcodes.LDLM_ENQUEUE, b)
	w.send(lnet.Reply, server, node(3), opcodes.LDLM_ENQUEUE, w.xid, 0, b, func(m *dissect.Message) { m.Msg.Bufs[1] = m.Msg.Bufs[1][:40] })
	w.now += 5000 * ms
	w.cancel(node(9), 0x99)(0)
	l := w.end()[0xa]
	_, ok := l.Waited()
	assert.That(t, !ok && !l.IsGranted() && !l.IsStuck(), "lock %+v", l)
}

// TestReplay: a lock that is given back to a restarted server gets another handle
// there, and keeps its times.
func TestReplay(t *testing.T) {
	w := newWire(t)
	w.enqueue(node(3), 0xa, extent(modePW, 0, 99))(modePW, 0)
	w.now += 9000 * ms
	replay := extent(modePW, 0, 99)
	replay.granted, replay.flags, replay.handles = modePW, flagReplay, []uint64{0xa}
	answer := w.request(node(3), server, opcodes.LDLM_ENQUEUE, replay)
	replay.handles = []uint64{0xeeee, 0, 0}
	answer(0, replay)
	before := extent(modePW, 500, 900)
	before.granted, before.flags, before.handles = modePW, flagReplay, []uint64{0xb}
	w.request(node(3), server, opcodes.LDLM_ENQUEUE, before)
	list := w.end()
	l := list[0xa]
	assert.That(t, l.Asked.Frame == 1 && l.Granted.Frame == 2 && l.Handle == 0xeeee && l.Replays == 1, "replayed lock %+v", l)
	if l := list[0xb]; !l.Asked.IsZero() || !l.IsGranted() || l.IsStuck() {
		t.Errorf("lock from before the capture %+v", l)
	}
}

// TestEarlyCancel: an enqueue gives back the locks whose handles follow that of the
// new one.
func TestEarlyCancel(t *testing.T) {
	w := newWire(t)
	w.enqueue(node(3), 0xa, extent(modePW, 0, 99))(modePW, 0)
	next := extent(modePW, 200, 299)
	next.count, next.handles = 2, []uint64{0xb, 0xff0a}
	variant := opcodes.Protocol.ByOpcode(opcodes.LDLM_ENQUEUE).Variants[0]
	w.request(node(3), server, opcodes.LDLM_ENQUEUE, next, func(m *dissect.Message) { m.RPC.Variant = variant })
	l := w.end()[0xa]
	assert.That(t, l.End.How == locks.Early && l.End.Point.Frame == 3, "ended %v", l.End)
}

// TestConvert: a convert obeys a blocking callback, and the lock goes on.
func TestConvert(t *testing.T) {
	w := newWire(t)
	inode := lockBody{kind: opcodes.InodeLock, object: 7, requested: modePR, policy: [3]uint64{0x13}}
	w.enqueue(node(3), 0xa, inode)(modePR, 0)
	update := inode
	update.requested, update.policy[0] = modeEX, 0x2
	w.callback(node(3), opcodes.LDLM_BL_CALLBACK, 0xa, update)(0)
	keep := lockBody{policy: [3]uint64{0x11}, count: 1, handles: []uint64{0xff0a}}
	answer := w.request(node(3), server, opcodes.LDLM_CONVERT, keep)
	keep.handles = []uint64{0xa, 0, 0}
	answer(0, keep)
	w.now += 5000 * ms
	w.cancel(node(9), 0x99)(0)
	if l := w.end()[0xa]; l.Desc.Bits != 0x11 || l.Callbacks[0].Obeyed.Frame != 5 || len(l.Converts) != 1 || l.IsStuck() || l.End.How != locks.Open {
		t.Errorf("lock %+v", l)
	}
}

// TestCompletionWithBlocking: a completion callback with AST_SENT asks for the lock
// at once.
func TestCompletionWithBlocking(t *testing.T) {
	w := newWire(t)
	w.enqueue(node(3), 0xa, extent(modePW, 0, 99))(0, blockGranted)
	w.enqueue(node(4), 0xb, extent(modePW, 0, 99))(0, blockGranted)
	granted := extent(modePW, 0, 99)
	granted.granted, granted.flags = modePW, astSent
	w.callback(node(3), opcodes.LDLM_CP_CALLBACK, 0xa, granted)(0)
	assert.Slice(t, blockedBy(w.end()[0xb]), []uint64{0xff0a}, "blocked by")
}

// TestRecovery: the locks of an evicted client end, those of other targets do not.
func TestRecovery(t *testing.T) {
	ended := make(map[locks.How]int)
	f := follow.New(follow.Options{}, follow.Hooks{Lock: func(l *locks.Lock) { ended[l.End.How]++ }})
	d := dissect.New(dissect.Options{Handle: f.Message})
	wiretest.Play(d, wiretest.ReadSample(t, "../../../pcaps/recovery.pcap.zst"))
	f.Close()
	assert.That(t, ended[locks.Evicted] == 7 && ended[locks.Early] == 56 && ended[locks.Canceled] == 32, "ends %v", ended)
}

// TestMemoryIsFlat: locks that never end and cancels of unknown locks do not add up,
// nor do blocking callbacks for many resources.
func TestMemoryIsFlat(t *testing.T) {
	w := newWire(t)
	w.rpcs = follow.New(follow.Options{})
	w.locks = w.rpcs.Locks()
	n := uint64(0)
	const fill = 100_000 // only locks, towards their bound
	play := func(count int) {
		for range count {
			n++
			b := extent(modePW, 0, 99)
			b.object = n
			w.enqueue(node(3), n<<16, b)(modePW, 0)
			if n < fill {
				continue
			}
			if n%4 == 0 {
				w.callback(node(3), opcodes.LDLM_BL_CALLBACK, n<<16, b)(0)
			}
			if n%8 == 0 {
				w.cancel(node(3), n<<16)(0)
				w.cancel(node(4), n<<16|1)(0)
			}
		}
	}
	wiretest.Flat(t, play, 140_000, 40_000)
	runtime.KeepAlive(w)
}

// TestEndedAreBounded: of locks that end all at once the oldest are passed on.
func TestEndedAreBounded(t *testing.T) {
	const bound, more = 1 << 14, 1000
	w := newWire(t)
	begin := w.now
	for n := range uint64(bound + more) {
		b := extent(modePW, 0, 99)
		b.object = n
		w.enqueue(node(3), n<<16, b)(modePW, 0)
		w.cancel(node(3), 0xff00|n<<16)(0)
		w.now = begin
	}
	passed := len(w.done)
	assert.That(t, passed >= more-1 && passed <= more, "%d of %d locks were passed on", passed, bound+more)
}

// TestHoldersAreBounded: waits for too many holders are counted, not kept.
func TestHoldersAreBounded(t *testing.T) {
	const bound, more = 1 << 14, 10
	var b locks.Blockers
	for range 2 {
		for n := range bound + more {
			l := &locks.Lock{BlockedBy: []locks.Blocker{{Client: node(3)}}}
			l.Desc.Name[0] = uint64(n)
			b.Add(l)
		}
	}
	assert.That(t, len(b.List()) == bound && b.Dropped == 2*more, "%d holders, %d waits dropped", len(b.List()), b.Dropped)
}

// TestNoAllocations: RPCs without locks cost no allocation.
func TestNoAllocations(t *testing.T) {
	w := newWire(t)
	m := &dissect.Message{}
	m.Msg = &schema.Msg{Opcode: opcodes.OBD_PING, Bufs: [][]byte{make([]byte, opcodes.PtlrpcBody.Size)}}
	send := func(kind lnet.Kind, src, dst lnet.NID) {
		w.frame++
		w.now += 300 * ms
		m.Frame, m.Time, m.Kind = w.frame, w.now, kind
		m.LNet.Src, m.LNet.Dst, m.LNet.MatchBits, m.Src, m.Dst = src, dst, w.xid, messages.Addr(src), messages.Addr(dst)
		m.RPC.XID, m.RPC.HasXID, m.RPC.Opcode, m.RPC.HasOpcode, m.RPC.Handle = w.xid, true, opcodes.OBD_PING, true, 77
		w.rpcs.Message(m)
	}
	once := func() {
		w.xid += 64
		send(lnet.Request, node(3), server)
		send(lnet.Reply, server, node(3))
	}
	for range 5000 {
		once()
	}
	wiretest.NoAllocations(t, 2000, once)
}
