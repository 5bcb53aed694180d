package render

import (
	"bytes"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/track"
)

// maxTargets is how many names of targets are kept.
const maxTargets = 1 << 16

// Notice looks at a message that may not be shown: connects tell the names of
// targets, replies to enqueues what locks are about, and later messages have
// nothing but handles.
func (s *Summary) Notice(m *dissect.Message) {
	switch {
	case !m.RPC.HasOpcode || m.RPC.Status < 0 || m.Msg == nil:
	case m.Kind == dissect.Reply && m.RPC.Opcode == opcodes.LDLM_ENQUEUE:
		s.locks.Learn(m.Msg)
	case !track.IsConnect(m.RPC.Opcode):
	case m.Kind == dissect.Request:
		s.connects(m.Msg, m.RPC.Handle) // of a connection that was lost
	case m.Kind == dissect.Reply:
		if msg, _ := s.tree.Open(m); msg != nil && msg.Req != nil {
			s.connects(msg.Req, m.RPC.Handle)
		}
	}
}

// connects keeps the name of the target that a connect asks for, by a handle
// that other requests carry.
func (s *Summary) connects(request *opcodes.Msg, handle uint64) {
	const target = 1 // buffer of a connect
	uuid, _, ended := bytes.Cut(request.Buf(target), []byte{0})
	name := bytes.TrimSuffix(uuid, []byte("_UUID"))
	if handle == 0 || !ended || s.targets[handle] == string(name) {
		return
	}
	if len(s.targets) >= maxTargets {
		clear(s.targets)
	}
	s.targets[handle] = string(name)
}
