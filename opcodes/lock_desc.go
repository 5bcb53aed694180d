package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// The kinds of locks, lr_type.
const (
	ldlmPlainType  = 10
	ldlmExtentType = 11
	ldlmFlockType  = 12
	ldlmIbitsType  = 13
)

// policyOf says whether the lock around a policy is of that kind. The
// resource, with its type, is at the start of the lock. A convert leaves the
// type out; it is always about inode bits.
func policyOf(kind uint64) func(*View) bool {
	return func(v *View) bool {
		if v.Up == nil {
			return false
		}
		is := v.Up.Uint(lrType)
		if is == 0 && v.Msg != nil && v.Msg.Opcode == LDLM_CONVERT {
			is = ldlmIbitsType
		}
		return is == kind
	}
}

// blocking: the lock is in a blocking callback.
func blocking(v *View) bool { return v.Msg != nil && v.Msg.Opcode == LDLM_BL_CALLBACK }

func notBlocking(v *View) bool { return !blocking(v) }

// lock reads a struct ldlm_lock_desc; what was not captured reads as zero.
type lock struct {
	b    []byte
	big  bool
	wild bool // of a blocking callback: the end of its range may be none
}

// Offsets inside ldlm_lock_desc, ldlm_request and ldlm_reply.
const (
	lockNameAt   = 8
	lockPolicyAt = 48
	lockDescAt   = 8
	handlesAt    = 88
)

func lockIn(desc []byte, big bool) lock { return lock{b: desc, big: big} }

// requestLock is the lock of a struct ldlm_request or ldlm_reply.
func requestLock(b []byte, big bool) lock {
	if len(b) < lockDescAt {
		return lock{big: big}
	}
	return lock{b: b[lockDescAt:], big: big}
}

func (k lock) u32(at int) uint64 {
	if len(k.b) < at+4 {
		return 0
	}
	return ReadUint(k.b[at:at+4], k.big)
}

func (k lock) u64(at int) uint64 {
	if len(k.b) < at+8 {
		return 0
	}
	return ReadUint(k.b[at:at+8], k.big)
}

func (k lock) kind() uint64    { return k.u32(0) }
func (k lock) asked() uint64   { return k.u32(40) }
func (k lock) granted() uint64 { return k.u32(44) }
func (k lock) start() uint64   { return k.u64(lockPolicyAt) }
func (k lock) end() uint64     { return k.u64(lockPolicyAt + 8) }
func (k lock) bits() uint64    { return k.u64(lockPolicyAt) }
func (k lock) conflict() uint64 {
	return k.u64(lockPolicyAt + 8)
}

// fid is the FID in the name of the resource, nil when that is no FID. The
// second word of the name holds object id and version.
func (k lock) fid() []byte {
	if len(k.b) < lockNameAt+16 {
		return nil
	}
	switch k.kind() {
	case ldlmIbitsType, ldlmFlockType:
	case ldlmExtentType:
		if k.u64(lockNameAt+8) == 0 { // an object id of the old form
			return nil
		}
	default:
		return nil
	}
	fid := k.b[lockNameAt : lockNameAt+16]
	if !k.big {
		return fid
	}
	swapped := append(make([]byte, 0, 16), fid[:8]...)
	swapped = append(swapped, fid[12:16]...)
	return append(swapped, fid[8:12]...)
}

func (k lock) isQuota() bool {
	seq := k.u64(lockNameAt)
	return seq == seqQuota || seq == seqQuotaGlobal
}

// resource appends what the name of the resource stands for.
func (k lock) resource(l *Line) {
	if len(k.b) < lockNameAt+32 {
		return
	}
	l.Text = appendResource(l.Text, k.b[lockNameAt:lockNameAt+32], k.kind(), k.big)
	l.Mark(Object)
}

// policy appends the range or the parts that the lock covers.
func (k lock) policy(l *Line) {
	switch k.kind() {
	case ldlmExtentType, ldlmFlockType:
		if k.wild && k.end() == k.start() {
			l.Key("from ")
			l.Offset(k.start())
			break
		}
		l.Key("")
		l.Range(k.start(), k.end())
	case ldlmIbitsType:
		l.Key("")
		l.Flags(LdlmInodebits, k.bits())
	}
	if k.kind() == ldlmExtentType && k.group() {
		l.Key("gid ")
		l.Num(k.u64(lockPolicyAt + 16))
	}
}

func (k lock) group() bool { return k.asked() == 0x40 || k.granted() == 0x40 }

// endLost says that the end of a range is none: servers since 2.12 write the
// bits of the lock in conflict behind them, whatever kind of lock it is, and
// where a range has its start, bits have theirs.
func endLost(v *View, dst []byte) []byte {
	if b := v.Struct; !blocking(v) || len(b) < 16 || ReadUint(b[:8], v.Big) != ReadUint(b[8:16], v.Big) {
		return dst
	}
	return append(dst, "the start again, the callback does not tell the end"...)
}

// say appends mode, kind, resource and what the lock covers.
func (k lock) say(l *Line) {
	if len(k.b) < lockPolicyAt || k.kind() == 0 {
		return
	}
	mode := k.granted()
	if mode == 0 {
		mode = k.asked()
	}
	k.describe(l, mode)
}

func (k lock) describe(l *Line, mode uint64) {
	if len(k.b) < lockPolicyAt {
		return
	}
	l.Value(Flag, LdlmMode, mode)
	switch k.kind() {
	case ldlmFlockType:
		l.Key("flock")
	case ldlmPlainType:
		l.Key("plain")
	}
	l.Key("")
	k.resource(l)
	k.policy(l)
}

// A value block's block count with this in its upper half is no count, the
// lower half is an errno.
const lvbError = 0xffbadbad

// lvbBlocks is the block count of an ost_lvb.
func lvbBlocks() *Field {
	return U64("lvb_blocks", Remark(lvbErrorText), "512-byte blocks; 0xffbadbad in the upper half: no count, the lower half is an errno")
}

func lvbErrorText(v *View, dst []byte) []byte {
	if len(v.Rest) < 8 {
		return dst
	}
	blocks := ReadUint(v.Rest[:8], v.Big)
	if blocks>>32 != lvbError {
		return dst
	}
	if int32(blocks) == -1<<31 {
		return append(dst, "not filled in yet"...)
	}
	return AppendErrno(append(dst, "error "...), int32(blocks))
}
