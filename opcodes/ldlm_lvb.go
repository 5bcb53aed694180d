package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var ostLvbV1 = &Struct{Name: "ost_lvb_v1", Doc: "size and times of an object, as old peers send them", Fields: []*Field{
	U64("lvb_size", Size, "size of the object"),
	S64("lvb_mtime", Time, "modification time"),
	S64("lvb_atime", Time, "access time"),
	S64("lvb_ctime", Time, "change time"),
	lvbBlocks(),
}}

var ostLvb = &Struct{Name: "ost_lvb", Doc: "size and times of an object, from the OST or the holder of its lock", Fields: []*Field{
	U64("lvb_size", Size, "size of the object"),
	S64("lvb_mtime", Time, "modification time"),
	S64("lvb_atime", Time, "access time"),
	S64("lvb_ctime", Time, "change time"),
	lvbBlocks(),
	U32("lvb_mtime_ns", Harmless, "nanoseconds of lvb_mtime"),
	U32("lvb_atime_ns", Harmless, "nanoseconds of lvb_atime"),
	U32("lvb_ctime_ns", Harmless, "nanoseconds of lvb_ctime"),
	Pad("lvb_padding", 4),
}}

var barrierLvb = &Struct{Name: "barrier_lvb", Doc: "state of an MDT's write barrier", Fields: []*Field{
	U32("lvb_status", &BarrierStatus, "state of the barrier"),
	U32("lvb_index", Harmless, "index of the MDT"),
	Pad("lvb_padding", 8),
}}

// The forms of a lock value block.
var (
	formOstLvb     = Sub("ost_lvb", &ostLvb)
	formOstLvbV1   = Sub("ost_lvb_v1", &ostLvbV1)
	formQuotaLvb   = Sub("lquota_lvb", &lquotaLvb)
	formBarrierLvb = Sub("barrier_lvb", &barrierLvb)
	lvbForms       = append([]*Field{formOstLvb, formOstLvbV1, formQuotaLvb, formBarrierLvb}, layoutForms...)
)

// lvbLock is the lock of a value block: in the same message, or in the request for
// the reply to a glimpse. It has no kind if it was not captured whole.
func lvbLock(m *Msg) lock {
	if m != nil && m.Opcode == LDLM_GL_CALLBACK && m.Reply {
		m = m.Req
	}
	if m == nil || len(m.Buf(1)) < LockHandles.Off {
		return lock{}
	}
	return requestLock(m.Buf(1), m.Big)
}

// chooseLvb returns the type of a value block, selected by the kind of the lock
// in the same message, or in the request for the reply to a glimpse.
func chooseLvb(v *View) *Field {
	switch k := lvbLock(v.Msg); k.kind() {
	case ExtentLock:
		return ostLvbForm(v)
	case InodeLock:
		if f := layoutForm(v.Rest, false); f != nil {
			return f
		}
		return ostLvbForm(v)
	case ldlmPlainType:
		if k.isQuota() {
			return formQuotaLvb
		}
	}
	return lvbBySize(v)
}

// ostLvbForm recognises the old form by its full size, captured or not.
func ostLvbForm(v *View) *Field {
	if max(v.Len, len(v.Rest)) == ostLvbV1.Size {
		return formOstLvbV1
	}
	return formOstLvb
}

func lvbBySize(v *View) *Field {
	switch max(v.Len, len(v.Rest)) {
	case ostLvb.Size:
		return formOstLvb
	case ostLvbV1.Size:
		return formOstLvbV1
	case barrierLvb.Size:
		return formBarrierLvb
	}
	return layoutForm(v.Rest, false)
}

var (
	bufDlmLvb = OneOf("dlm_lvb", chooseLvb, lvbForms, Tagged(true), "the lock's value: size and times, a layout, or the state of a "+
		"quota id or barrier")
	bufDlmLvbQuota = Sub("dlm_lvb", &lquotaLvb, "state of the quota of the id")
)

// The fields that ost_lvb and ost_lvb_v1 have at the same offsets.
var (
	lvbSize        = ostLvbV1.Field("lvb_size")
	lvbBlocksField = ostLvbV1.Field("lvb_blocks")
)

// A value block's block count with this in its upper half is no count, the
// lower half is an errno.
const lvbError = 0xffbadbad

func lvbBlocks() *Field {
	return U64("lvb_blocks", Harmless, Remark(lvbErrorText), "512-byte blocks; 0xffbadbad in the upper half: no count, the lower half is an errno")
}

func lvbErrorText(v *View, dst []byte) []byte {
	blocks := v.Value
	if blocks>>32 != lvbError {
		return dst
	}
	if int32(blocks) == -1<<31 {
		return append(dst, "not filled in yet"...)
	}
	return AppendErrno(append(dst, "error "...), int32(blocks))
}

// appendLvb appends the size of the object when the reply has it.
func appendLvb(m *Msg, l *Line) {
	b := m.Buf(2)
	if k := requestLock(m.Buf(1), m.Big).kind(); k != ExtentLock && k != InodeLock || len(b) != ostLvb.Size && len(b) != ostLvbV1.Size {
		return
	}
	appendLvbSize(b, m.Big, l)
}

func appendLvbSize(b []byte, big bool, l *Line) {
	if len(b) < ostLvbV1.Size {
		return
	}
	if blocks := lvbBlocksField.Uint(b, big); blocks>>32 == lvbError {
		l.Key("lvb ").Errno(int32(blocks))
		return
	}
	l.Key("size ").Offset(lvbSize.Uint(b, big))
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
	return clientCookie, requestLock(b, m.Big).grantedMode() != 0 && lockFlags.Uint(b, m.Big)&LdlmFlags.Bit("FLOCK_DEADLOCK") == 0, ok
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

// lockCookie returns handle i of a struct ldlm_request. Cookies are not swapped.
func lockCookie(m *Msg, i int) (cookie uint64, ok bool) {
	b, at := m.Buf(1), LockHandles.Off+8*i
	if len(b) < at+8 {
		return 0, false
	}
	cookie = ReadUint(b[at:at+8], false)
	return cookie, cookie != 0
}
