package opcodes

// ostLvbV1 is struct ost_lvb_v1.
var ostLvbV1 = Define("ost_lvb_v1",
	U64("lvb_size"),
	S64("lvb_mtime"),
	S64("lvb_atime"),
	S64("lvb_ctime"),
	U64("lvb_blocks"),
)

// ostLvb is struct ost_lvb.
var ostLvb = Define("ost_lvb",
	U64("lvb_size"),
	S64("lvb_mtime"),
	S64("lvb_atime"),
	S64("lvb_ctime"),
	U64("lvb_blocks", "0xffbadbad top half = error code in the low half"),
	U32("lvb_mtime_ns"),
	U32("lvb_atime_ns"),
	U32("lvb_ctime_ns"),
	Pad("lvb_padding", 4),
)

// ldlmResId is struct ldlm_res_id.
var ldlmResId = Define("ldlm_res_id",
	Arr("name", 4, U64("")),
)

// ldlmExtent is struct ldlm_extent.
var ldlmExtent = Define("ldlm_extent",
	U64("start"),
	U64("end"),
	U64("gid"),
)

// ldlmInodebits is struct ldlm_inodebits.
var ldlmInodebits = Define("ldlm_inodebits",
	U64("bits", LdlmInodebits, "MDS_INODELOCK_*; LDLM_CONVERT request: bits to keep"),
	U64("try_bits", LdlmInodebits, "enqueue: optional bits (try_bits); blocking callback: conflicting bits (cancel_bits); 0 in LDLM_CONVERT"),
	U64("cancel_bits", LdlmInodebits, Over("try_bits")),
	U64("li_gid", Since("2.15")),
	Pad("li_padding", 4, Since("2.16")),
	U32("li_initiator_id", Since("2.16")),
)

// ldlmFlockWire is struct ldlm_flock_wire.
var ldlmFlockWire = Define("ldlm_flock_wire",
	U64("lfw_start"),
	U64("lfw_end"),
	U64("lfw_owner"),
	Pad("lfw_padding", 4),
	U32("lfw_pid"),
)

// ldlmWirePolicyData is union ldlm_wire_policy_data.
var ldlmWirePolicyData = Define("ldlm_wire_policy_data",
	Sub("l_extent", ldlmExtent),
	Sub("l_flock", ldlmFlockWire, Over("l_extent")),
	Sub("l_inodebits", ldlmInodebits, Over("l_extent"), "size 16 in <=2.12"),
)

// barrierLvb is struct barrier_lvb.
var barrierLvb = Define("barrier_lvb",
	U32("lvb_status"),
	U32("lvb_index"),
	Pad("lvb_padding", 8),
)

// ldlmGlBarrierDesc is struct ldlm_gl_barrier_desc.
var ldlmGlBarrierDesc = Define("ldlm_gl_barrier_desc",
	U32("lgbd_status"),
	U32("lgbd_timeout"),
	Pad("lgbd_padding", 8),
)

// ldlmGlDesc is union ldlm_gl_desc.
var ldlmGlDesc = Define("ldlm_gl_desc",
	Sub("lquota_desc", ldlmGlLquotaDesc),
	Sub("barrier_desc", ldlmGlBarrierDesc, Over("lquota_desc")),
)

// ldlmIntent is struct ldlm_intent.
var ldlmIntent = Define("ldlm_intent",
	U64("opc", "IT_*"),
)

// ldlmResourceDesc is struct ldlm_resource_desc.
var ldlmResourceDesc = Define("ldlm_resource_desc",
	U32("lr_type", LdlmType, "LDLM_*"),
	Pad("lr_pad", 4),
	Sub("lr_name", ldlmResId),
)

// ldlmLockDesc is struct ldlm_lock_desc.
var ldlmLockDesc = Define("ldlm_lock_desc",
	Sub("l_resource", ldlmResourceDesc),
	U32("l_req_mode", LdlmMode),
	U32("l_granted_mode", LdlmMode),
	Sub("l_policy_data", ldlmWirePolicyData, "32 bytes; meaning by l_resource.lr_type"),
)

// ldlmRequest is struct ldlm_request.
var ldlmRequest = Define("ldlm_request",
	U32("lock_flags", "low 32 bits of LDLM_FL_*"),
	U32("lock_count", "handles in lock_handle[]; 0 or 1 for an enqueue, plus ELC"),
	Sub("lock_desc", ldlmLockDesc),
	Arr("lock_handle", -1, Sub("", lustreHandle), "[0] lock of this request (client cookie at enqueue, server cookie at cancel/callback as received), [1..] early cancels; size 16 in <=2.12"),
)

// ldlmReply is struct ldlm_reply.
var ldlmReply = Define("ldlm_reply",
	U32("lock_flags"),
	Pad("lock_padding", 4),
	Sub("lock_desc", ldlmLockDesc),
	Sub("lock_handle", lustreHandle, "server cookie of the new lock"),
	U64("lock_policy_res1", "DISP_* of the intent"),
	U64("lock_policy_res2", "intent result, errno encoded"),
)
