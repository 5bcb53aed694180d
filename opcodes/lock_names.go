package opcodes

// LockNames knows what locks are about by the server's cookie, which is all
// that a cancel tells.
type LockNames struct{ byCookie map[uint64]lockName }

// lockName is the name of a resource as the wire has it.
type lockName struct {
	words [lockNameSize]byte
	kind  uint8
	big   bool
}

const lockNameSize = 32

// mostLocks is how many locks are known. With more, all are forgotten.
const mostLocks = 1 << 15

var replyHandle = ldlmReply.Field("lock_handle")

// Learn takes the reply to an enqueue.
func (n *LockNames) Learn(m *Msg) {
	b := m.Buf(1)
	if m.Opcode != LDLM_ENQUEUE || len(b) < replyHandle.Off+8 {
		return
	}
	cookie := ReadUint(b[replyHandle.Off:replyHandle.Off+8], false)
	k := requestLock(b, m.Big)
	if cookie == 0 {
		return
	}
	name := lockName{kind: uint8(k.kind()), big: k.big}
	copy(name.words[:], k.b[lockNameAt:])
	if n.byCookie == nil {
		n.byCookie = make(map[uint64]lockName)
	}
	if len(n.byCookie) >= mostLocks {
		clear(n.byCookie)
	}
	n.byCookie[cookie] = name
}

// sayServerLock appends the lock that handle i of a struct ldlm_request is the
// server's cookie of: what it is about, when its enqueue was seen.
func sayServerLock(b []byte, i int, l *Line) {
	at := handlesAt + 8*i
	if len(b) < at+8 {
		return
	}
	if l.Locks != nil {
		if name, known := l.Locks.byCookie[ReadUint(b[at:at+8], false)]; known {
			l.Text = appendResource(l.Text, name.words[:], uint64(name.kind), name.big)
			l.Mark(Object)
			l.Add(Dim, " ")
		}
	}
	l.Handle(b[at:])
}
