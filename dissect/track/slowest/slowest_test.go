package slowest_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/slowest"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestSamples compares the list with all RPCs, sorted, and the copies with the messages.
func TestSamples(t *testing.T) {
	withLock := false
	for _, path := range wiretest.Samples(t) {
		for _, limit := range []int{0, 1, 7, 1000} {
			s := slowest.New(limit)
			var waits []int64
			xids := make(map[string]bool) // of messages, with their frames
			pairing := track.NewPairing(track.Options{Sent: s.Sent, Answered: s.Answered, Done: func(r *track.RPC) {
				if ns, ok := r.Waited(); ok {
					waits = append(waits, ns)
				}
				s.Done(r)
			}})
			wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
				xids[fmt.Sprint(m.Kind, m.RPC.XID, m.Frame)] = true
				pairing.Message(m)
			}}), wiretest.ReadSample(t, path))
			pairing.Close()
			slices.SortFunc(waits, func(a, b int64) int { return cmp.Compare(b, a) })
			waits = waits[:min(limit, len(waits))]
			list := s.List()
			must.Equal(t, len(list), len(waits), path, "RPCs")
			for i, r := range list {
				assert.Equal(t, r.Waited, waits[i], path, "RPC", i, "took")
				withLock = withLock || isLockWait(&r)
				if r.Request == nil || r.Reply == nil {
					assert.That(t, len(r.Seen) != 1 || r.Sends != 1, "%s: RPC %d has no copies", path, r.XID)
					continue
				}
				for _, m := range []*dissect.Message{r.Request, r.Reply} {
					if m.RPC.XID != r.XID || !xids[fmt.Sprint(m.Kind, m.RPC.XID, m.Frame)] {
						t.Errorf("%s: message of frame %d is not of RPC %d", path, m.Frame, r.XID)
					}
				}
				var tree dissect.Tree
				if tree.Build(r.Request); len(tree.Nodes) < 10 {
					t.Errorf("%s: the request of RPC %d has %d nodes", path, r.XID, len(tree.Nodes))
				}
			}
		}
	}
	assert.That(t, withLock, "no sample has an RPC that waited for its lock")
}

func isLockWait(r *slowest.RPC) bool {
	ns, ok := r.LockWait()
	return ok && ns == r.Waited
}

// wire sends RPCs to a Slowest.
type wire struct {
	now, frame int64
	xid        uint64
	pairing    *track.Pairing
	slowest    *slowest.Slowest
	msg        dissect.Message
	data       []byte
}

func newWire(limit int) *wire {
	w := &wire{now: 1e18, slowest: slowest.New(limit), data: make([]byte, 600)}
	w.pairing = track.NewPairing(track.Options{Linger: 1e9, Timeout: 1e11, Sent: w.slowest.Sent, Answered: w.slowest.Answered, Done: w.slowest.Done})
	w.msg.Msg = &schema.Msg{Bufs: [][]byte{make([]byte, opcodes.PtlrpcBody.Size)}}
	return w
}

func (w *wire) send(kind lnet.Kind, xid uint64) {
	client, server := lnet.NID{Len: 4, Addr: [16]byte{3}}, lnet.NID{Len: 4, Addr: [16]byte{1}}
	if kind == lnet.Reply {
		client, server = server, client
	}
	w.frame++
	m := &w.msg
	m.Frame, m.Time, m.Kind, m.Data = w.frame, w.now, kind, w.data
	m.Src, m.Dst = messages.Addr(client), messages.Addr(server)
	m.LNet.Src, m.LNet.Dst, m.LNet.MatchBits = client, server, xid
	m.RPC = dissect.RPC{XID: xid, HasXID: true, Opcode: opcodes.OST_STATFS, HasOpcode: true, Type: dissect.TypeRequest}
	if kind == lnet.Reply {
		m.RPC.Type = dissect.TypeReply
	}
	w.pairing.Message(m)
}

// rpc sends an RPC that takes so long.
func (w *wire) rpc(latency int64) {
	w.xid += 16
	xid := w.xid
	w.send(lnet.Request, xid)
	w.now += latency
	w.send(lnet.Reply, xid)
	w.now += 300e6 // soon the records of RPCs are used again
}

// TestNoAllocations: an RPC that is not among the slowest costs no allocation.
func TestNoAllocations(t *testing.T) {
	w := newWire(10)
	for range 20 {
		w.rpc(5e6)
	}
	for range 3000 {
		w.rpc(1e6)
	}
	wiretest.NoAllocations(t, 2000, func() { w.rpc(1e6) })
}

// TestUnanswered: requests that are never answered hold a bounded number of copies,
// and later RPCs are found again when they have ended.
func TestUnanswered(t *testing.T) {
	w := newWire(10)
	play := func(n int) {
		for range n {
			w.xid += 16
			w.send(lnet.Request, w.xid)
			w.now += 1e6
		}
	}
	wiretest.Flat(t, play, 120_000, 30_000)
	w.now += 1e12
	w.rpc(1e6)
	w.rpc(7e6)
	w.pairing.Close()
	if list := w.slowest.List(); len(list) != 2 || list[0].Waited != 7e6 || list[0].Request == nil || list[0].Reply == nil {
		t.Errorf("%d RPCs: %+v", len(list), list)
	}
}

// TestCopiesAreBounded: RPCs that are sent while many others have not ended are kept without
// messages.
func TestCopiesAreBounded(t *testing.T) {
	const limit, bound = 10, 1 << 12
	w := newWire(limit)
	first := w.xid + 16
	for range bound + limit {
		w.xid += 16
		w.send(lnet.Request, w.xid)
	}
	for xid := first; xid <= w.xid; xid += 16 {
		w.now += 1e3 // so the last ones are the slowest
		w.send(lnet.Reply, xid)
	}
	w.now += 1e12
	w.rpc(1e12)
	w.pairing.Close()
	list := w.slowest.List()
	must.Equal(t, len(list), limit, "RPCs")
	assert.That(t, list[0].Request != nil, "an RPC sent after all others had ended has no copies")
	for _, r := range list[1:] {
		assert.That(t, r.Request == nil && r.Reply == nil, "RPC %d has copies beyond the bound", r.XID)
	}
}
