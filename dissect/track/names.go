package track

import (
	"bytes"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Names remembers what handles stand for: the target of a connection and the
// resource and range of a lock. Connects, replies to LDLM_ENQUEUE and completion
// callbacks have both name and handle, later messages only the handle.
type Names struct {
	targets *fifo.Map[uint64, string]
	locks   *fifo.Map[uint64, opcodes.Lock]
	tree    dissect.Tree
}

// Maximum numbers of handles that are kept; beyond them, the oldest is removed.
const (
	maxTargetHandles = 1 << 16
	maxLockHandles   = 1 << 15
)

// NewNames makes a Names.
func NewNames() *Names {
	return &Names{targets: fifo.NewMap[uint64, string](maxTargetHandles),
		locks: fifo.NewMap[uint64, opcodes.Lock](maxLockHandles)}
}

// Message takes the next message, and sets its Target.
func (n *Names) Message(m *dissect.Message) {
	n.learn(m)
	switch handle := m.RPC.Handle; {
	case m.Kind == lnet.Request && opcodes.IsConnect(m.RPC.Opcode) && m.Msg != nil:
		m.Target, _ = targetOf(m.Msg)
	case m.Kind == lnet.Request && handle != 0:
		m.Target = n.Target(handle)
	case m.Req != nil && m.Req.Handle != 0:
		m.Target = n.Target(m.Req.Handle)
	default:
		m.Target = n.Target(handle) // of the reply to a connect
	}
}

func (n *Names) learn(m *dissect.Message) {
	switch {
	case !m.RPC.HasOpcode || m.RPC.Status < 0 || m.Msg == nil:
	case m.RPC.Opcode == opcodes.LDLM_ENQUEUE, m.RPC.Opcode == opcodes.LDLM_CP_CALLBACK:
		if cookie, lock, ok := opcodes.GrantedLock(m.Msg); ok {
			fifo.Put(n.locks, cookie, lock)
		}
	case !opcodes.IsConnect(m.RPC.Opcode):
	case m.Kind == lnet.Request:
		n.connect(m.Msg, m.RPC.Handle) // of a connection that was lost
	case m.Kind == lnet.Reply:
		if msg, _ := n.tree.ParseRPC(m); msg != nil && msg.Req != nil {
			n.connect(msg.Req, m.RPC.Handle)
		}
	}
}

// connect learns the target of a connect request by the handle that other
// requests of the connection have.
func (n *Names) connect(request *schema.Msg, handle uint64) {
	if name, ok := targetOf(request); ok && handle != 0 && n.Target(handle) != name {
		fifo.Put(n.targets, handle, name)
	}
}

// targetOf returns the target that a connect request names, without "_UUID".
func targetOf(connect *schema.Msg) (name string, ok bool) {
	uuid, _, terminated := bytes.Cut(connect.Buf(connectTarget), []byte{0})
	if !terminated || len(uuid) > maxUUID {
		return "", false
	}
	return string(bytes.TrimSuffix(uuid, []byte("_UUID"))), true
}

// Target returns the target of the connection with a server's handle, without
// "_UUID"; empty when its connect was not seen.
func (n *Names) Target(handle uint64) string {
	name, _ := fifo.Get(n.targets, handle)
	return name
}

// AppendLock appends the resource of the lock with a server's cookie; nothing
// when the message that granted the lock was not seen.
func (n *Names) AppendLock(dst []byte, cookie uint64) []byte {
	lock, ok := fifo.Get(n.locks, cookie)
	if !ok {
		return dst
	}
	return lock.AppendResource(dst)
}

// AppendHeldLock appends mode and range of the extent lock with a server's
// cookie; nothing when the message that granted it was not seen.
func (n *Names) AppendHeldLock(dst []byte, cookie uint64) []byte {
	lock, ok := fifo.Get(n.locks, cookie)
	if !ok {
		return dst
	}
	return lock.AppendRange(dst)
}
