package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// LockDesc is a struct ldlm_lock_desc as numbers. Which of the fields behind
// Granted have a meaning depends on the kind of lock.
type LockDesc struct {
	Kind      uint64    // of LdlmType, 0 in a convert
	Name      [4]uint64 // of the resource
	Requested uint64    // of LdlmMode
	Granted   uint64    // of LdlmMode, 0 while the lock waits

	Start, End uint64 // of extent locks and flocks: first and last byte
	Group      uint64 // of group locks
	Owner      uint64 // of flocks: who holds it on its node
	PID        uint32 // of flocks
	Bits       uint64 // of inode locks, of LdlmInodebits
}

// The kinds of locks that a LockDesc has, and the mode of group locks.
const modeNull = 0x20

// LockDescOf returns the lock that a struct ldlm_request or ldlm_reply in the
// first buffer of a message describes; ok reports whether it was captured.
func LockDescOf(m *Msg) (d LockDesc, ok bool) {
	b := m.Buf(1)
	if len(b) < lockDesc.Off+keptOfLock {
		return d, false
	}
	k := requestLock(b, m.Big)
	d.Kind, d.Requested, d.Granted = k.kind(), k.requestedMode(), k.grantedMode()
	for i := range d.Name {
		d.Name[i] = k.nameWord(i)
	}
	switch d.Kind {
	case ExtentLock:
		d.Start, d.End, d.Group = k.start(), k.end(), k.policyWord(lockGroup)
	case FlockLock:
		d.Start, d.End, d.Owner, d.PID = k.start(), k.end(), k.policyWord(ldlmFlockWire.Field("lfw_owner")), uint32(k.policyWord(flockPID))
	case InodeLock, 0: // a convert leaves the kind out
		d.Bits, d.Group = k.bits(), k.policyWord(ldlmInodebits.Field("li_gid"))
	}
	return d, true
}

var flockPID = ldlmFlockWire.Field("lfw_pid")

// IsUnlock reports whether the request is no lock but releases the range of a
// flock.
func (d *LockDesc) IsUnlock() bool { return d.Kind == FlockLock && d.Requested == modeNull }

// IsGroup reports whether it is a group lock.
func (d *LockDesc) IsGroup() bool { return d.Requested == groupMode || d.Granted == groupMode }

// compatible has the modes that may be granted together with a mode.
var compatible = func() map[uint64]uint64 {
	nl, cr, cw, pr, pw, ex := LdlmMode.Number("NL"), LdlmMode.Number("CR"), LdlmMode.Number("CW"), LdlmMode.Number("PR"), LdlmMode.Number("PW"), LdlmMode.Number("EX")
	return map[uint64]uint64{
		ex:        nl,
		pw:        nl | cr,
		pr:        nl | cr | pr,
		cw:        nl | cr | cw,
		cr:        nl | cr | cw | pr | pw,
		nl:        nl | cr | cw | pr | pw | ex | groupMode,
		groupMode: nl | groupMode,
	}
}()

// Conflicts reports whether a lock that is granted keeps one that is requested on
// the same resource by another owner from being granted. It is false for modes
// that only servers use.
func (d *LockDesc) Conflicts(requested *LockDesc) bool {
	modes := compatible[d.Granted]
	if modes == 0 || compatible[requested.Requested] == 0 || d.Kind != requested.Kind {
		return false
	}
	held, wanted := d.Granted == groupMode, requested.Requested == groupMode
	if held && wanted {
		return d.Group != requested.Group
	}
	if modes&requested.Requested != 0 {
		return false
	}
	switch d.Kind {
	case ExtentLock:
		return held || wanted || d.Overlaps(requested) // a group lock is for the whole object
	case FlockLock:
		return d.Overlaps(requested)
	case InodeLock:
		return d.Bits&requested.Bits != 0
	}
	return d.Kind != 0
}

// Overlaps reports whether the ranges of two locks have a byte in common.
func (d *LockDesc) Overlaps(o *LockDesc) bool { return d.Start <= o.End && o.Start <= d.End }

// Covers reports whether the range of a flock contains that of another.
func (d *LockDesc) Covers(o *LockDesc) bool { return d.Start <= o.Start && o.End <= d.End }

// Matches reports whether a blocking callback describes a requested lock: it has
// the mode, and the bits or the start of the range, but often not its end.
func (d *LockDesc) Matches(requested *LockDesc) bool {
	if d.Kind != requested.Kind || d.Name != requested.Name || d.Requested != requested.Requested {
		return false
	}
	switch d.Kind {
	case ExtentLock:
		return d.Start == requested.Start && d.Group == requested.Group
	case InodeLock:
		return d.Bits == requested.Bits
	}
	return true
}

// AppendResource appends what the name of the resource stands for.
func (d *LockDesc) AppendResource(dst []byte) []byte { return appendResourceName(dst, d.Name, d.Kind) }

// FID returns the FID in the name of the resource; ok is false when it has none.
func (d *LockDesc) FID() (seq uint64, oid, ver uint32, ok bool) {
	switch d.Kind {
	case InodeLock, FlockLock:
	case ExtentLock:
		if d.Name[1] == 0 { // an object id of the old form
			return 0, 0, 0, false
		}
	default:
		return 0, 0, 0, false
	}
	return d.Name[0], uint32(d.Name[1]), uint32(d.Name[1] >> 32), true
}

// LockHandle returns handle i of a struct ldlm_request, 0 when it has none: in
// an enqueue the client's cookie of the lock, in a callback those of client and
// server, in a convert that of the server.
func LockHandle(m *Msg, i int) uint64 {
	cookie, _ := lockCookie(m, i)
	return cookie
}

// LockReply is what the reply to an LDLM_ENQUEUE says about the lock.
type LockReply struct {
	Handle  uint64 // server's cookie of the lock, 0: there is no lock
	Blocked bool   // it has to wait
	Desc    LockDesc
}

// LockReplyOf reads the reply to an LDLM_ENQUEUE.
func LockReplyOf(m *Msg) (r LockReply, ok bool) {
	b := m.Buf(1)
	if r.Desc, ok = LockDescOf(m); !ok || len(b) < ldlmReply.Size {
		return r, false
	}
	r.Handle = ReadUint(b[replyHandle.Off:replyHandle.Off+8], false)
	r.Blocked = r.Desc.Granted == 0 && lockFlags.Uint(b, m.Big)&flagsWaiting != 0
	return r, true
}

// IsReadLock reports whether a mode allows reading only.
func IsReadLock(mode uint64) bool { return mode == readModes[0] || mode == readModes[1] }

var readModes = [...]uint64{LdlmMode.Number("PR"), LdlmMode.Number("CR")}

// IsIntent reports whether a request of LDLM_ENQUEUE has an intent: which lock it
// gets, if any, is in the reply.
func IsIntent(m *Msg) bool {
	return len(m.Bufs) > 2 || lockFlags.Uint(m.Buf(1), m.Big)&flagHasIntent != 0
}

// IsGlimpse reports whether a request of LDLM_ENQUEUE asks an OST for the size of an
// object, and gets a lock only when nobody else has one.
func IsGlimpse(m *Msg) bool {
	return len(m.Buf(2)) < ldlmIntent.Size && lockFlags.Uint(m.Buf(1), m.Big)&flagHasIntent != 0 &&
		requestLock(m.Buf(1), m.Big).kind() == ExtentLock
}

// IsLockTest reports whether a request of LDLM_ENQUEUE only tests whether it
// would be granted.
func IsLockTest(m *Msg) bool { return lockFlags.Uint(m.Buf(1), m.Big)&flagTest != 0 }

// IsLockReplay reports whether a request of LDLM_ENQUEUE gives a lock back to a
// server that was restarted.
func IsLockReplay(m *Msg) bool { return lockFlags.Uint(m.Buf(1), m.Big)&LdlmFlags.Bit("REPLAY") != 0 }

// IsCompletionWithBlocking reports whether an LDLM_CP_CALLBACK is also a
// blocking callback.
func IsCompletionWithBlocking(m *Msg) bool {
	return lockFlags.Uint(m.Buf(1), m.Big)&LdlmFlags.Bit("AST_SENT") != 0
}

var flagTest = LdlmFlags.Bit("TEST_LOCK")

// EarlyCanceledLocks calls f with the server's cookie of each lock that a
// request gives back along with something else.
func EarlyCanceledLocks(m *Msg, v *Variant, f func(serverCookie uint64)) {
	if v == nil || m.Opcode >= LDLM_CONVERT && m.Opcode <= LDLM_SET_INFO {
		return
	}
	for i, field := range v.Request {
		if field != bufDlmReq {
			continue
		}
		b, first := m.Buf(i), 0
		if m.Opcode == LDLM_ENQUEUE {
			first = 1
		}
		for n := int(min(lockCount.Uint(b, m.Big), maxCanceled)); first < n; first++ {
			at := LockHandles.Off + 8*first
			if len(b) < at+8 {
				return
			}
			if cookie := ReadUint(b[at:at+8], false); cookie != 0 {
				f(cookie)
			}
		}
	}
}
