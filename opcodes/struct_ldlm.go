package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// ldlmResId is struct ldlm_res_id.
var ldlmResId = Define("ldlm_res_id", "name of what is locked",
	Arr("name", 4, U64("", Cookie)),
	Says("text", resourceText, "what the name stands for: FID, object, quota id or configuration log"),
)

// lrType says what the policy and the name of a lock mean.
var lrType = U32("lr_type", LdlmType, "kind of lock")

// ldlmResourceDesc is struct ldlm_resource_desc.
var ldlmResourceDesc = Define("ldlm_resource_desc", "what is locked",
	lrType,
	Pad("lr_pad", 4),
	Sub("lr_name", ldlmResId, "name of the resource"),
)

// ldlmExtent is struct ldlm_extent.
var ldlmExtent = Define("ldlm_extent", "range of an extent lock",
	U64("start", Size, "first byte"),
	U64("end", Size, Remark(endLost), "last byte; blocking callbacks have the start there again"),
	U64("gid", "group id of a group lock"),
)

// ldlmInodebits is struct ldlm_inodebits.
var ldlmInodebits = Define("ldlm_inodebits", "parts of an inode that a lock covers",
	U64("bits", LdlmInodebits, "the parts; in LDLM_CONVERT those to keep"),
	U64("try_bits", LdlmInodebits, If(notBlocking), "parts that are welcome but not asked for"),
	U64("cancel_bits", LdlmInodebits, Over("try_bits"), If(blocking), "the parts that somebody else wants"),
	U64("li_gid", Since("2.15"), "group id of a group lock"),
	Pad("li_padding", 4, Since("2.16")),
	U32("li_initiator_id", Since("2.16"), "the MDT that takes the lock, on behalf of its own namespace"),
)

// ldlmFlockWire is struct ldlm_flock_wire.
var ldlmFlockWire = Define("ldlm_flock_wire", "range of a flock or fcntl lock",
	U64("lfw_start", Size, "first byte"),
	U64("lfw_end", Size, "last byte"),
	U64("lfw_owner", Cookie, "who holds it: processes on a node that share their locks"),
	Pad("lfw_padding", 4),
	U32("lfw_pid", "process that asked"),
)

// ldlmWirePolicyData is union ldlm_wire_policy_data; plain locks have none.
var ldlmWirePolicyData = Define("ldlm_wire_policy_data", "what of the resource the lock covers, by the kind of lock",
	Sub("l_extent", ldlmExtent, "range of an extent lock", If(policyOf(ldlmExtentType))),
	Sub("l_flock", ldlmFlockWire, "range of a flock", Over("l_extent"), If(policyOf(ldlmFlockType))),
	Sub("l_inodebits", ldlmInodebits, Over("l_extent"), If(policyOf(ldlmIbitsType)), "parts of an inode; 16 bytes in 2.12"),
)

// ldlmLockDesc is struct ldlm_lock_desc.
var ldlmLockDesc = Define("ldlm_lock_desc", "a lock",
	Sub("l_resource", ldlmResourceDesc, "what is locked"),
	U32("l_req_mode", LdlmMode, "mode asked for"),
	U32("l_granted_mode", LdlmMode, "mode granted; 0 while the lock waits"),
	Sub("l_policy_data", ldlmWirePolicyData, "range or parts, by lr_type"),
	Brief(func(v *View, dst []byte) []byte {
		l := PlainLine(dst)
		k := lockIn(v.Struct, v.Big)
		k.wild = blocking(v)
		k.say(&l)
		return l.Text
	}),
)

// ldlmRequest is struct ldlm_request.
var ldlmRequest = Define("ldlm_request", "a lock to take, convert or cancel, or that a callback is about",
	U32("lock_flags", LdlmFlags, "lower half of the lock flags"),
	U32("lock_count", "handles that count in lock_handle; 0 means 1 in a cancel"),
	Sub("lock_desc", ldlmLockDesc, "the lock; in a blocking callback the lock that is in conflict"),
	Arr("lock_handle", -1, Sub("", lustreHandle),
		"an enqueue: [0] the client's cookie of the new lock, behind it locks to cancel; a callback: [0] the client's cookie, [1] the server's; a cancel: server cookies"),
)

// ldlmReply is struct ldlm_reply.
var ldlmReply = Define("ldlm_reply", "the lock that was granted or waits",
	U32("lock_flags", LdlmFlags, "how the lock was granted, or why it waits"),
	Pad("lock_padding", 4),
	Sub("lock_desc", ldlmLockDesc, "the lock as the server has it"),
	Sub("lock_handle", lustreHandle, "the server's cookie of the lock; in a convert the client's"),
	U64("lock_policy_res1", Disposition, "how far the intent got"),
	S64("lock_policy_res2", Errno, Remark(positiveErrno), "result of the intent; the lower half is the errno, some senders extend its sign"),
)

// ldlmIntent is struct ldlm_intent.
var ldlmIntent = Define("ldlm_intent", "what to do along with the lock",
	U64("opc", LdlmIntent, "the intent"),
)

// ostLvbV1 is struct ost_lvb_v1.
var ostLvbV1 = Define("ost_lvb_v1", "size and times of an object, as old peers send them",
	U64("lvb_size", Size, "size of the object"),
	S64("lvb_mtime", Seconds, "modification time"),
	S64("lvb_atime", Seconds, "access time"),
	S64("lvb_ctime", Seconds, "change time"),
	lvbBlocks(),
)

// ostLvb is struct ost_lvb.
var ostLvb = Define("ost_lvb", "size and times of an object, as an OST or the holder of its lock knows them",
	U64("lvb_size", Size, "size of the object"),
	S64("lvb_mtime", Seconds, "modification time"),
	S64("lvb_atime", Seconds, "access time"),
	S64("lvb_ctime", Seconds, "change time"),
	lvbBlocks(),
	U32("lvb_mtime_ns", "nanoseconds of lvb_mtime"),
	U32("lvb_atime_ns", "nanoseconds of lvb_atime"),
	U32("lvb_ctime_ns", "nanoseconds of lvb_ctime"),
	Pad("lvb_padding", 4),
)

// barrierLvb is struct barrier_lvb.
var barrierLvb = Define("barrier_lvb", "state of an MDT's write barrier",
	U32("lvb_status", BarrierStatus, "state of the barrier"),
	U32("lvb_index", "index of the MDT"),
	Pad("lvb_padding", 8),
)

// ldlmGlBarrierDesc is struct ldlm_gl_barrier_desc.
var ldlmGlBarrierDesc = Define("ldlm_gl_barrier_desc", "what the MGS tells an MDT about its write barrier",
	U32("lgbd_status", BarrierStatus, "state to go to"),
	U32("lgbd_timeout", Duration, "seconds after which the barrier gives way"),
	Pad("lgbd_padding", 8),
)

// ldlmGlDesc is union ldlm_gl_desc.
var _ = Define("ldlm_gl_desc", "what a glimpse callback tells",
	Sub("lquota_desc", ldlmGlLquotaDesc),
	Sub("barrier_desc", ldlmGlBarrierDesc, Over("lquota_desc"), If(never)),
)

// positiveErrno names an errno without its sign.
func positiveErrno(v *View, dst []byte) []byte {
	if len(v.Rest) < 8 {
		return dst
	}
	if n := ErrnoValue(ReadUint(v.Rest[:8], v.Big)); n > 0 {
		return append(dst, Errnos.Name(uint64(n))...)
	}
	return dst
}

func never(*View) bool { return false }
