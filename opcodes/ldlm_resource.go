package opcodes

import (
	"strconv"
	"strings"

	. "github.com/lshark/lshark/opcodes/schema"
)

var ldlmResId = &Struct{Name: "ldlm_res_id", Doc: "name of what is locked", Fields: []*Field{
	Arr("name", 4, U64("", Cookie)),
	Derived("text", func(v *View, dst []byte) []byte {
		if len(v.Struct) < 32 {
			return dst
		}
		var kind uint64
		if v.Up != nil {
			kind = v.Up.Uint(lrType)
		}
		return appendResource(dst, v.Struct, kind, v.Big)
	}, "what the name stands for: FID, object, quota id or configuration log"),
}}

// lrType selects what the policy and the name of a lock mean.
var (
	lrType = U32("lr_type", &LdlmType, "kind of lock")
	lrName = Sub("lr_name", &ldlmResId, "name of the resource")
)

var ldlmResourceDesc = &Struct{Name: "ldlm_resource_desc", Doc: "what is locked", Fields: []*Field{
	lrType,
	Pad("lr_pad", 4),
	lrName,
}}

// Sequences of FIDs that name quota indexes.
const (
	seqQuota       = 0x200000005
	seqQuotaGlobal = 0x200000006
)

// configLogs are the kinds of configuration that the second word of an MGS
// resource name tells apart. Logs of targets and clients are 0.
var configLogs = [...]string{0: "config", 2: "recover", 3: "params", 4: "nodemap", 5: "barrier"}

// appendResource appends what the 32 bytes of a resource name stand for in a
// lock of that kind.
func appendResource(dst, b []byte, kind uint64, big bool) []byte {
	var name [4]uint64
	for i := range name {
		name[i] = ReadUint(b[8*i:8*i+8], big)
	}
	return appendResourceName(dst, name, kind)
}

func appendResourceName(dst []byte, name [4]uint64, kind uint64) []byte {
	switch {
	case name == [4]uint64{}:
		return dst
	case isQuotaSeq(name[0]):
		return appendQuotaResource(dst, name)
	case (kind == ldlmPlainType || kind == 0) && isLogName(name):
		return appendLogResource(dst, name)
	case kind == ExtentLock && name[1] == 0:
		// the old form of object ids, sequence 0
		return strconv.AppendUint(append(dst, "0x0:"...), name[0], 10)
	}
	dst = appendResourceFID(dst, name[0], name[1])
	if name[3] != 0 && kind != FlockLock { // there it is the kind of the lock
		dst = AppendHex(append(dst, " name hash "...), name[3])
	}
	return dst
}

func appendResourceFID(dst []byte, seq, rest uint64) []byte {
	return AppendFID(dst, seq, uint32(rest), uint32(rest>>32))
}

// isLogName reports whether the name belongs to a configuration log: its first
// word is the name of a file system, the first character in the lowest byte.
func isLogName(name [4]uint64) bool {
	if name[2] != 0 || name[3] != 0 || name[1] >= uint64(len(configLogs)) {
		return false
	}
	var room [8]byte
	text := appendLogName(room[:0], name[0])
	if len(text) == 0 {
		return false
	}
	for _, c := range text {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return len(text) == 8 || name[0]>>(8*len(text)) == 0
}

func appendLogName(dst []byte, word uint64) []byte {
	for ; word&0xff != 0; word >>= 8 {
		dst = append(dst, byte(word))
	}
	return dst
}

func appendLogResource(dst []byte, name [4]uint64) []byte {
	at := len(dst)
	dst = appendLogName(dst, name[0])
	log := configLogs[name[1]]
	if log == "" {
		return strconv.AppendUint(append(dst, ' '), name[1], 10)
	}
	if string(dst[at:]) == log { // the params and nodemap logs belong to no file system
		return dst
	}
	return append(append(dst, ' '), log...)
}

// appendQuotaResource appends the FID of a quota index, and behind it the id
// for which the lock is, if it is not for the whole index.
func appendQuotaResource(dst []byte, name [4]uint64) []byte {
	dst = appendResourceFID(dst, name[0], name[1])
	switch {
	case name[2] == 0 && name[3] == 0:
		return append(append(dst, ' '), quotaIndexName(name[1])...)
	case name[3] != 0:
		return appendResourceFID(append(dst, ' '), name[2], name[3])
	}
	dst = append(append(dst, ' '), quotaIDKind(name[1])...)
	return strconv.AppendUint(append(dst, ' '), name[2], 10)
}

// The object id of a quota index: type in the top byte, resource in the next,
// pool in the lower half.

func quotaIDKind(oid uint64) string { return quotaTypeName(oid >> 24 & 0xff) }

func quotaIndexName(oid uint64) string {
	kinds := map[string]string{"uid": "usr", "gid": "grp", "projid": "prj"}
	return strings.TrimSuffix(kinds[quotaIDKind(oid)]+" "+quotaResource(oid), " ")
}

func quotaResource(oid uint64) string {
	resources := [...]string{1: "inodes", 2: "blocks", 3: ""}
	return resources[min(oid>>16&0xff, 3)]
}

// Lock is a lock as the messages have it that grant it: the name of its
// resource, its mode and its range.
type Lock struct {
	desc [keptOfLock]byte // the struct ldlm_lock_desc up to the range
	big  bool
}

const keptOfLock = 48 + 24 // up to l_policy_data, and a struct ldlm_extent

var replyHandle = ldlmReply.Field("lock_handle")

// GrantedLock returns the lock of a reply to LDLM_ENQUEUE, or of a completion
// callback, and the server's cookie by which later messages refer to the lock.
func GrantedLock(m *Msg) (cookie uint64, k Lock, ok bool) {
	b, handle := m.Buf(1), 0
	switch {
	case m.Opcode == LDLM_ENQUEUE && m.Reply:
		handle = replyHandle.Off
	case m.Opcode == LDLM_CP_CALLBACK && !m.Reply:
		handle = LockHandles.Off + 8
	}
	if handle == 0 || len(b) < max(handle+8, lockDesc.Off+keptOfLock) {
		return 0, k, false
	}
	cookie = ReadUint(b[handle:handle+8], false)
	k.big = m.Big
	copy(k.desc[:], b[lockDesc.Off:])
	return cookie, k, cookie != 0
}

// AppendResource appends the resource as summary lines show it.
func (k *Lock) AppendResource(dst []byte) []byte {
	desc := lockFromDesc(k.desc[:], k.big)
	return appendResource(dst, desc.name(), desc.kind(), k.big)
}

// AppendRange appends mode and range of an extent lock, nothing when it is not
// granted or of another kind.
func (k *Lock) AppendRange(dst []byte) []byte {
	desc := lockFromDesc(k.desc[:], k.big)
	if desc.kind() != ExtentLock || desc.grantedMode() == 0 {
		return dst
	}
	l := PlainLine(dst)
	l.Value(Flag, LdlmMode, desc.grantedMode())
	desc.policy(&l)
	return l.Text
}
