package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var LdlmType = Enum("ldlm_type", "LDLM_", "kind of lock", []Value{
	{Name: "PLAIN", Value: 0xa, Doc: "has no range: configuration logs and quota"},
	{Name: "EXTENT", Value: 0xb, Doc: "bytes of an object"},
	{Name: "FLOCK", Value: 0xc, Doc: "flock and fcntl locks of applications"},
	{Name: "IBITS", Value: 0xd, Doc: "parts of an inode"},
	{Name: "MAX_TYPE", Value: 0xe, Doc: "end of the list; gone after 2.16", Alias: true},
})

// LdlmMode are the lock modes. Each is one bit, and a lock has one of them.
var LdlmMode = Enum("ldlm_mode", "LCK_", "lock mode", []Value{
	{Name: "EX", Value: 0x1, Doc: "exclusive"},
	{Name: "PW", Value: 0x2, Doc: "protected write: one writer, no readers"},
	{Name: "PR", Value: 0x4, Doc: "protected read: readers share it"},
	{Name: "CW", Value: 0x8, Doc: "concurrent write"},
	{Name: "CR", Value: 0x10, Doc: "concurrent read"},
	{Name: "NL", Value: 0x20, Doc: "null: conflicts with no other mode"},
	{Name: "GROUP", Value: 0x40, Doc: "group lock: those with the same group id share it"},
	{Name: "COS", Value: 0x80, Doc: "commit on sharing, on servers"},
	{Name: "TXN", Value: 0x100, Since: "2.16", Doc: "held until its transaction is on disk, on servers"},
	{Name: "MINMODE", Value: 0x0, Doc: "no mode; gone after 2.16", Alias: true},
	{Name: "MAXMODE", Value: 0x101, Doc: "all modes; 0x81 through 2.15, gone after 2.16", Alias: true},
})

var LdlmInodebits = Bits("ldlm_inodebits", "MDS_INODELOCK_", "the parts of an inode that a lock covers", []Value{
	{Name: "NONE", Value: 0x0, Since: "2.17", Doc: "nothing"},
	{Name: "LOOKUP", Value: 0x1, Doc: "name, owner, mode and access lists"},
	{Name: "UPDATE", Value: 0x2, Doc: "attributes and the entries of a directory"},
	{Name: "OPEN", Value: 0x4, Doc: "open handles"},
	{Name: "NUMBITS", Value: 0x7, Doc: "number of bits", Alias: true},
	{Name: "LAYOUT", Value: 0x8, Doc: "where the data lies"},
	{Name: "PERM", Value: 0x10, Doc: "owner, mode and access lists, for remote parents"},
	{Name: "XATTR", Value: 0x20, Doc: "extended attributes"},
	{Name: "ELC", Value: 0x3f, Doc: "bits that early cancels look for", Alias: true},
	{Name: "DOM", Value: 0x40, Doc: "data in the MDT object"},
	{Name: "FULL", Value: 0x7f, Doc: "all bits", Alias: true},
	{Name: "64BIT", Value: 0x100000000, Since: "2.17", Doc: "forces 64 bits"},
})

// The kinds of locks, lr_type.
const (
	ldlmPlainType = 10
	ExtentLock    = 11
	FlockLock     = 12
	InodeLock     = 13
)

// lockStart is the start of an extent lock. It is declared apart because the
// end is compared with it.
var lockStart = U64("start", Size, "first byte")

var ldlmExtent = &Struct{Name: "ldlm_extent", Doc: "range of an extent lock", Fields: []*Field{
	lockStart,
	U64("end", Size, IfNot(endOverwritten), "last byte"),
	Opaque("end_overwritten", 8, Harmless, Over("end"), If(endOverwritten),
		"the start again, in place of the end: blocking callbacks do not contain it"),
	U64("gid", Harmless, "group id of a group lock"),
}}

var ldlmInodebits = &Struct{Name: "ldlm_inodebits", Doc: "parts of an inode that a lock covers", Fields: []*Field{
	U64("bits", &LdlmInodebits, "the parts; in LDLM_CONVERT those to keep"),
	U64("try_bits", &LdlmInodebits, IfNot(isBlockingCallback), "optional parts"),
	U64("cancel_bits", &LdlmInodebits, Over("try_bits"), If(isBlockingCallback), "the parts that another client requests"),
	U64("li_gid", Harmless, Since("2.15"), "group id of a group lock"),
	Pad("li_padding", 4, Since("2.16")),
	U32("li_initiator_id", Harmless, Since("2.16"), "the MDT that takes the lock, on behalf of its own namespace"),
}}

var ldlmFlockWire = &Struct{Name: "ldlm_flock_wire", Doc: "range of a flock or fcntl lock", Fields: []*Field{
	U64("lfw_start", Size, "first byte"),
	U64("lfw_end", Size, "last byte"),
	U64("lfw_owner", Cookie, "who holds it: processes on a node that share their locks"),
	Pad("lfw_padding", 4),
	U32("lfw_pid", Harmless, "process that requested it"),
}}

// ldlmWirePolicyData is union ldlm_wire_policy_data; plain locks have none.
var ldlmWirePolicyData = &Struct{Name: "ldlm_wire_policy_data",
	Doc: "what of the resource the lock covers, by the kind of lock", Fields: []*Field{
		Sub("l_extent", &ldlmExtent, "range of an extent lock", If(policyKind(ExtentLock))),
		Sub("l_flock", &ldlmFlockWire, "range of a flock", Over("l_extent"), If(policyKind(FlockLock))),
		Sub("l_inodebits", &ldlmInodebits, Over("l_extent"), If(policyKind(InodeLock)), "parts of an inode; 16 bytes in 2.12"),
	}}

// policyKind reports whether the lock around a policy is of that kind. The
// resource, with its type, is at the start of the lock. A convert leaves the
// type out; it is always about inode bits.
func policyKind(kind uint64) func(*View) bool {
	return func(v *View) bool {
		if v.Up == nil {
			return false
		}
		is := v.Up.Uint(lrType)
		if is == 0 && v.Msg != nil && v.Msg.Opcode == LDLM_CONVERT {
			is = InodeLock
		}
		return is == kind
	}
}

func isBlockingCallback(v *View) bool { return v.Msg != nil && v.Msg.Opcode == LDLM_BL_CALLBACK }

// The fields of ldlm_lock_desc, which its summary reads.
var (
	lReqMode     = U32("l_req_mode", &LdlmMode, "requested mode")
	lGrantedMode = U32("l_granted_mode", &LdlmMode, "granted mode; 0 while the lock waits")
	lPolicyData  = Sub("l_policy_data", &ldlmWirePolicyData, "range or parts, by lr_type")
)

var ldlmLockDesc = &Struct{Name: "ldlm_lock_desc", Doc: "a lock", Summarize: briefLock, Fields: []*Field{
	Sub("l_resource", &ldlmResourceDesc, "what is locked"),
	lReqMode,
	lGrantedMode,
	lPolicyData,
}}

func briefLock(v *View, dst []byte) []byte {
	l := PlainLine(dst)
	k := lockFromDesc(v.Struct, v.Big)
	k.endUnknown = isBlockingCallback(v)
	k.appendTo(&l)
	return l.Text
}

// lock reads a struct ldlm_lock_desc; what was not captured reads as zero.
type lock struct {
	b          []byte
	big        bool
	endUnknown bool // in a blocking callback: the end of the range may have been overwritten
}

func lockFromDesc(desc []byte, big bool) lock { return lock{b: desc, big: big} }

func requestLock(b []byte, big bool) lock {
	if len(b) < lockDesc.Off {
		return lock{big: big}
	}
	return lock{b: b[lockDesc.Off:], big: big}
}

func (k lock) word(f *Field) uint64 { return f.Uint(k.b, k.big) }

func (k lock) policyWord(f *Field) uint64 {
	return f.Uint(k.b[min(len(k.b), lPolicyData.Off):], k.big)
}

// name is the name of the resource, as far as it was captured.
func (k lock) name() []byte {
	at := lrName.Off
	return k.b[min(len(k.b), at):min(len(k.b), at+lrName.Size)]
}

func (k lock) nameWord(i int) uint64 {
	name := k.name()
	if len(name) < 8*i+8 {
		return 0
	}
	return ReadUint(name[8*i:8*i+8], k.big)
}

func (k lock) kind() uint64 { return k.word(lrType) }

func (k lock) requestedMode() uint64 { return k.word(lReqMode) }

func (k lock) grantedMode() uint64 { return k.word(lGrantedMode) }

// start and end are the range of an extent lock or a flock.
func (k lock) start() uint64 { return k.policyWord(lockStart) }

func (k lock) end() uint64 { return k.policyWord(ldlmFlockWire.Field("lfw_end")) }

// bits are the parts of an inode that an inode lock covers, conflict those
// that somebody else wants.
func (k lock) bits() uint64 { return k.policyWord(ldlmInodebits.Field("bits")) }

func (k lock) conflict() uint64 { return k.policyWord(ldlmInodebits.Field("cancel_bits")) }

var (
	lockGroup = ldlmExtent.Field("gid")
	groupMode = LdlmMode.Number("GROUP")
)

// fid is the FID in the name of the resource, nil when that is no FID. The
// second word of the name holds object id and version.
func (k lock) fid() []byte {
	if len(k.name()) < 16 {
		return nil
	}
	switch k.kind() {
	case InodeLock, FlockLock:
	case ExtentLock:
		if k.nameWord(1) == 0 { // an object id of the old form
			return nil
		}
	default:
		return nil
	}
	fid := k.name()[:16]
	if !k.big {
		return fid
	}
	swapped := append(make([]byte, 0, 16), fid[:8]...)
	swapped = append(swapped, fid[12:16]...)
	return append(swapped, fid[8:12]...)
}

func (k lock) isQuota() bool { return isQuotaSeq(k.nameWord(0)) }

func isQuotaSeq(seq uint64) bool { return seq == seqQuota || seq == seqQuotaGlobal }

// resource appends what the name of the resource stands for.
func (k lock) resource(l *Line) {
	name := k.name()
	if len(name) < lrName.Size {
		return
	}
	l.Text = appendResource(l.Text, name, k.kind(), k.big)
	l.Mark(Object)
}

// policy appends the range or the parts that the lock covers.
func (k lock) policy(l *Line) {
	switch k.kind() {
	case ExtentLock, FlockLock:
		l.Key("")
		if k.endUnknown && k.end() == k.start() {
			l.RangeFrom(k.start())
		} else {
			l.Range(k.start(), k.end())
		}
	case InodeLock:
		l.Key("").Flags(LdlmInodebits, k.bits())
	}
	if k.kind() == ExtentLock && k.group() {
		l.Key("gid ").Num(k.policyWord(lockGroup))
	}
}

func (k lock) group() bool { return k.requestedMode() == groupMode || k.grantedMode() == groupMode }

// endOverwritten reports whether an extent lock has no end: in blocking
// callbacks, servers since 2.12 copy the first word of the policy, the bits of
// an inode lock or the start of a range, over its second word, whatever the
// kind of lock.
func endOverwritten(v *View) bool {
	const word = 8
	return isBlockingCallback(v) && len(v.Struct) >= 2*word && v.Uint(lockStart) == ReadUint(v.Struct[word:2*word], v.Big)
}

// appendTo appends mode, kind, resource and what the lock covers.
func (k lock) appendTo(l *Line) {
	if len(k.b) < lPolicyData.Off || k.kind() == 0 {
		return
	}
	mode := k.grantedMode()
	if mode == 0 {
		mode = k.requestedMode()
	}
	k.appendWithMode(l, mode)
}

func (k lock) appendWithMode(l *Line, mode uint64) {
	if len(k.b) < lPolicyData.Off {
		return
	}
	if mode != 0 {
		l.Value(Flag, LdlmMode, mode)
	}
	switch k.kind() {
	case FlockLock:
		l.Key("flock")
	case ldlmPlainType:
		l.Key("plain")
	}
	l.Key("")
	k.resource(l)
	k.policy(l)
}
