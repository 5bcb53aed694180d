package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// LockResource is the name of a lock's resource, as the wire has it.
type LockResource struct {
	words [lockNameSize]byte
	kind  uint8 // LDLM_PLAIN …
	big   bool
}

const lockNameSize = 32

var replyHandle = ldlmReply.Field("lock_handle")

// GrantedLock returns the resource of the lock that a reply to LDLM_ENQUEUE
// grants, and the server's cookie by which later messages refer to the lock.
func GrantedLock(m *Msg) (cookie uint64, r LockResource, ok bool) {
	b := m.Buf(1)
	if m.Opcode != LDLM_ENQUEUE || len(b) < replyHandle.Off+8 {
		return 0, r, false
	}
	cookie = ReadUint(b[replyHandle.Off:replyHandle.Off+8], false)
	k := requestLock(b, m.Big)
	r = LockResource{kind: uint8(k.kind()), big: k.big}
	copy(r.words[:], k.b[lockNameAt:])
	return cookie, r, cookie != 0
}

// Append appends the resource as summary lines show it.
func (r *LockResource) Append(dst []byte) []byte {
	return appendResource(dst, r.words[:], uint64(r.kind), r.big)
}

// sayServerLock appends the lock that handle i of a struct ldlm_request is the
// server's cookie of, with the name of its resource where that is known.
func sayServerLock(b []byte, i int, l *Line) {
	at := handlesAt + 8*i
	if len(b) < at+8 {
		return
	}
	if l.HandleName != nil {
		text := len(l.Text)
		l.Text = l.HandleName(l.Text, ReadUint(b[at:at+8], false))
		if len(l.Text) > text {
			l.Mark(Object)
			l.Add(Dim, " ")
		}
	}
	l.Handle(b[at:])
}
