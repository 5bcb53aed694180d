package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// EnqueuedLock returns the client's cookie of the lock that a request of
// LDLM_ENQUEUE asks for.
func EnqueuedLock(m *Msg) (clientCookie uint64, ok bool) {
	return lockCookie(m, 0)
}

// BlockedLock returns the server's cookie of the lock in a reply to
// LDLM_ENQUEUE; ok reports whether the lock is not granted yet because of
// other locks.
func BlockedLock(m *Msg) (serverCookie uint64, ok bool) {
	serverCookie, _, ok = GrantedLock(m)
	b := m.Buf(1)
	if !ok || lockFlags.Uint(b, m.Big)&flagsWaiting == 0 {
		return 0, false
	}
	return serverCookie, requestLock(b, m.Big).grantedMode() == 0
}

// CompletedLock returns the client's cookie of the lock that an
// LDLM_CP_CALLBACK is about, and whether the lock is granted: a flock that
// would be part of a deadlock is not.
func CompletedLock(m *Msg) (clientCookie uint64, granted, ok bool) {
	clientCookie, ok = lockCookie(m, 0)
	b := m.Buf(1)
	return clientCookie, requestLock(b, m.Big).grantedMode() != 0 && lockFlags.Uint(b, m.Big)&flagDeadlock == 0, ok
}

// CanceledLocks calls f with the server's cookie of each lock that an
// LDLM_CANCEL gives back.
func CanceledLocks(m *Msg, f func(serverCookie uint64)) {
	n := max(1, int(min(lockCount.Uint(m.Buf(1), m.Big), maxCanceled)))
	for i := range n {
		cookie, ok := lockCookie(m, i)
		if !ok {
			return
		}
		f(cookie)
	}
}

// maxCanceled is more than the handles that fit into a message.
const maxCanceled = 1 << 20

var flagDeadlock = LdlmFlags.Bit("FLOCK_DEADLOCK")

// lockCookie returns handle i of a struct ldlm_request. Cookies are not swapped.
func lockCookie(m *Msg, i int) (cookie uint64, ok bool) {
	b, at := m.Buf(1), LockHandles.Off+8*i
	if len(b) < at+8 {
		return 0, false
	}
	cookie = ReadUint(b[at:at+8], false)
	return cookie, cookie != 0
}
