package track

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

const (
	blockGranted = 0x2
	deadlock     = 0x8000
	modePW       = 2
	clientLock   = 0xc11e
	serverLock   = 0x5e4e
	callbackXID  = xid + 1000<<7
)

// lockMessage is a message with a struct ldlm_request, or an ldlm_reply when
// opcode is that of an enqueue and it is a reply.
func lockMessage(opcode, flags, granted uint32, cookies ...uint64) func(*dissect.Message) {
	b := make([]byte, opcodes.LockHandles.Off+8*len(cookies))
	binary.LittleEndian.PutUint32(b, flags)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(cookies)))
	binary.LittleEndian.PutUint32(b[8+44:], granted)
	for i, c := range cookies {
		binary.LittleEndian.PutUint64(b[opcodes.LockHandles.Off+8*i:], c)
	}
	return func(m *dissect.Message) {
		m.Msg = &schema.Msg{Opcode: opcode, Reply: m.Kind == lnet.Reply, Bufs: [][]byte{make([]byte, opcodes.PtlrpcBody.Size), b}}
	}
}

func (w *wire) enqueue(n uint64, change ...func(*dissect.Message)) {
	w.request(xid+n<<7, opcodes.LDLM_ENQUEUE, append([]func(*dissect.Message){lockMessage(opcodes.LDLM_ENQUEUE, 0, 0, clientLock)}, change...)...)
}

// enqueued sends the reply to an enqueue. The server's cookie of the lock lies
// in an ldlm_reply where the first handle lies in an ldlm_request.
func (w *wire) enqueued(n uint64, flags, granted uint32, change ...func(*dissect.Message)) {
	w.reply(xid+n<<7, opcodes.LDLM_ENQUEUE, append([]func(*dissect.Message){lockMessage(opcodes.LDLM_ENQUEUE, flags, granted, serverLock, 0, 0)}, change...)...)
}

func (w *wire) complete(to lnet.NID, flags, granted uint32, cookie uint64, change ...func(*dissect.Message)) {
	w.send(lnet.Request, server, to, append([]func(*dissect.Message){rpc(callbackXID, opcodes.LDLM_CP_CALLBACK),
		lockMessage(opcodes.LDLM_CP_CALLBACK, flags, granted, cookie, serverLock)}, change...)...)
}

func (w *wire) cancel(cookies ...uint64) {
	w.request(xid+2000<<7, opcodes.LDLM_CANCEL, lockMessage(opcodes.LDLM_CANCEL, 0, 0, cookies...))
}

func TestLockWait(t *testing.T) {
	const second = int64(time.Second)
	blockedAfter4ms := func(w *wire) {
		w.enqueue(0)
		w.pass(4 * ms)
		w.enqueued(0, blockGranted, 0)
		w.pass(second - 4*ms)
	}
	for name, c := range map[string]struct {
		play  func(w *wire)
		end   LockWaitEnd
		wait  int64
		frame int64
	}{
		"granted": {func(w *wire) { blockedAfter4ms(w); w.complete(client, 0, modePW, clientLock) }, LockWaitGranted, second, 3},
		"callback sent again": {func(w *wire) {
			blockedAfter4ms(w)
			w.complete(client, 0, modePW, clientLock)
			w.pass(second)
			w.complete(client, 0, modePW, clientLock, flags(dissect.FlagResent))
		}, LockWaitGranted, second, 3},
		"cancelled": {func(w *wire) { blockedAfter4ms(w); w.cancel(7, serverLock) }, LockWaitCanceled, second, 3},
		"granted, then cancelled": {func(w *wire) {
			blockedAfter4ms(w)
			w.complete(client, 0, modePW, clientLock)
			w.pass(second)
			w.cancel(serverLock)
		}, LockWaitGranted, second, 3},
		"cancelled, count 0": {func(w *wire) {
			blockedAfter4ms(w)
			w.request(xid+9<<7, opcodes.LDLM_CANCEL, lockMessage(opcodes.LDLM_CANCEL, 0, 0, serverLock), func(m *dissect.Message) { clear(m.Msg.Bufs[1][4:8]) })
		}, LockWaitCanceled, second, 3},
		"deadlock":                {func(w *wire) { blockedAfter4ms(w); w.complete(client, deadlock, modePW, clientLock) }, LockWaitFailed, second, 3},
		"callback without a lock": {func(w *wire) { blockedAfter4ms(w); w.complete(client, 0, 0, clientLock) }, LockWaitFailed, second, 3},
		"not over":                {func(w *wire) { blockedAfter4ms(w); w.rpcs.Advance(w.now) }, LockWaitCaptureEnded, second, 0},
		"another lock": {func(w *wire) {
			blockedAfter4ms(w)
			w.complete(client, 0, modePW, clientLock+1)
			w.cancel(serverLock + 1)
		}, LockWaitCaptureEnded, second, 0},
		"lock of another client": {func(w *wire) { blockedAfter4ms(w); w.complete(client2, 0, modePW, clientLock) }, LockWaitCaptureEnded, second, 0},
		"callback before the reply": {func(w *wire) {
			w.enqueue(0)
			w.pass(4 * ms)
			w.complete(client, 0, modePW, clientLock)
			w.pass(ms)
			w.enqueued(0, blockGranted, 0)
		}, LockWaitGranted, 4 * ms, 2},
		"granted at once": {func(w *wire) { w.enqueue(0); w.enqueued(0, blockGranted, modePW) }, LockWaitNone, 0, 0},
		"not blocked":     {func(w *wire) { w.enqueue(0); w.enqueued(0, 0, 0) }, LockWaitNone, 0, 0},
		"error":           {func(w *wire) { w.enqueue(0); w.enqueued(0, blockGranted, 0, status(-11)) }, LockWaitNone, 0, 0},
		"no request":      {func(w *wire) { w.enqueued(0, blockGranted, 0); w.complete(client, 0, modePW, clientLock) }, LockWaitNone, 0, 0},
		"reply sent again": {func(w *wire) {
			blockedAfter4ms(w)
			w.enqueue(0, flags(dissect.FlagResent))
			w.enqueued(0, blockGranted, 0)
			w.pass(second)
			w.complete(client, 0, modePW, clientLock)
		}, LockWaitGranted, 2 * second, 5},
		"server side of the capture": {func(w *wire) {
			w.enqueue(0, source(1))
			w.pass(ms)
			w.enqueue(0)
			w.enqueued(0, blockGranted, 0, source(1))
			w.enqueued(0, blockGranted, 0)
			w.pass(second)
			w.complete(client, 0, modePW, clientLock)
			w.pass(ms)
			w.complete(client, 0, modePW, clientLock, source(1))
		}, LockWaitGranted, second + 2*ms, 6},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, Options{})
			c.play(w)
			for _, r := range w.end() {
				if r.Opcode != opcodes.LDLM_ENQUEUE {
					continue
				}
				ns, ok := r.LockWait()
				end, p := r.LockWaitEnd()
				if ok != (c.end != LockWaitNone) || ns != c.wait || end != c.end || p.Frame != c.frame {
					t.Errorf("%d ns (%v) until %q in frame %d, want %d until %q in %d", ns, ok, end, p.Frame, c.wait, c.end, c.frame)
				}
				assert.Equal(t, r.Granted().Frame != 0, c.end == LockWaitGranted, "granted in frame")
			}
			if l := &w.rpcs.locks; l.byClient.Len()+l.byServer.Len() != 0 {
				t.Errorf("%d and %d locks are held after the end", l.byClient.Len(), l.byServer.Len())
			}
		})
	}
}

// TestReplayedLockWaits: a client that replays the enqueue of a lock that waits
// has one lock, for which both requests wait.
func TestReplayedLockWaits(t *testing.T) {
	w := newWire(t, Options{})
	for n := range uint64(2) {
		w.enqueue(n)
		w.enqueued(n, blockGranted, 0)
		w.pass(ms)
	}
	w.complete(client, 0, modePW, clientLock)
	for _, r := range w.end()[:2] {
		assert.Equal(t, r.Granted().Frame, 5, r.XID, "is granted in frame")
	}
}

// TestBlockedIsBounded: an RPC is held for its lock as long as Options say, and
// while there are not too many.
func TestBlockedIsBounded(t *testing.T) {
	w := newWire(t, Options{LockWait: 50 * ms, Linger: ms})
	w.enqueue(0)
	w.enqueued(0, blockGranted, 0)
	w.pass(49 * ms)
	w.rpcs.Advance(w.now)
	must.Equal(t, len(w.done), 0, "an RPC ended before its lock was granted")
	w.pass(ms)
	w.rpcs.Advance(w.now)
	w.pass(ms)
	w.rpcs.Advance(w.now)
	must.Equal(t, len(w.done), 1, "RPCs ended")
	end, _ := w.done[0].LockWaitEnd()
	assert.That(t, end == LockWaitPending, "the wait is %q", end)

	w = newWire(t, Options{})
	for n := range uint64(maxBlocked + 100) {
		w.enqueue(n)
		w.enqueued(n, blockGranted, 0)
	}
	w.rpcs.Advance(w.now)
	assert.Equal(t, w.rpcs.queue(blocked).Len(), maxBlocked, "RPCs are held")
	same := 0
	for e := w.rpcs.locks.byClient.First(clientLock); e != nil; e = e.Next() {
		same++
	}
	assert.Equal(t, same, fifo.MaxSameKey, "RPCs of one lock are found")
}

func TestStatsOfLockWaits(t *testing.T) {
	w, s := measured(t, StatsOptions{By: []Dimension{ByOp}})
	w.enqueue(0)
	w.enqueued(0, blockGranted, 0)
	w.pass(30 * ms)
	w.complete(client, 0, modePW, clientLock)
	w.enqueue(1)
	w.enqueued(1, 0, modePW)
	w.end()
	if r := only(t, s).Rows[Key{RequestKey: RequestKey{Opcode: opcodes.LDLM_ENQUEUE, HasOpcode: true}}]; r.Count != 2 || r.LockWait.N != 1 || r.LockWait.Max != 30*ms {
		t.Errorf("%d RPCs, %d waits of %d ns", r.Count, r.LockWait.N, r.LockWait.Max)
	}
}

func TestLockWaitsDoNotAllocate(t *testing.T) {
	w := &wire{t: t, now: 1e18, rpcs: NewPairing(Options{Linger: ms})}
	var m dissect.Message
	send := func(kind lnet.Kind, src, dst lnet.NID, change ...func(*dissect.Message)) func(n uint64) {
		proto := dissect.Message{}
		for _, c := range change {
			c(&proto)
		}
		return func(n uint64) {
			m = proto
			w.frame++
			w.now += 1000
			m.Frame, m.Time, m.Kind, m.RPC.HasXID, m.RPC.HasOpcode = w.frame, w.now, kind, true, true
			m.RPC.Opcode, m.RPC.XID = proto.Msg.Opcode, n
			m.LNet.Src, m.LNet.Dst, m.LNet.MatchBits = src, dst, n
			w.rpcs.Message(&m)
		}
	}
	ask := send(lnet.Request, client, server, lockMessage(opcodes.LDLM_ENQUEUE, 0, 0, clientLock))
	answer := send(lnet.Reply, server, client, lockMessage(opcodes.LDLM_ENQUEUE, blockGranted, 0, serverLock, 0, 0))
	call := send(lnet.Request, server, client, lockMessage(opcodes.LDLM_CP_CALLBACK, 0, modePW, clientLock, serverLock))
	ack := send(lnet.Reply, client, server, lockMessage(opcodes.LDLM_CP_CALLBACK, 0, 0))
	n := uint64(xid)
	step := func() {
		n += 256
		ask(n)
		answer(n)
		call(n + 128)
		ack(n + 128)
	}
	for range 2 * maxHeld {
		step()
	}
	allocs := testing.AllocsPerRun(2000, step)
	assert.That(t, allocs <= 0.1, "%v allocations for an enqueue and its callback", allocs)
	assert.Equal(t, w.rpcs.queue(blocked).Len(), 0, "waits are not over")
}
