package opcodes

// kibConnparams is struct kib_connparams.
var kibConnparams = Define("kib_connparams",
	U16("ibcp_queue_depth"),
	U16("ibcp_max_frags"),
	U32("ibcp_max_msg_size"),
)

// kibImmediateMsg is struct kib_immediate_msg.
var kibImmediateMsg = Define("kib_immediate_msg",
	Sub("ibim_hdr", lnetHdrNid4),
	Str("ibim_payload", 0),
)

// kibRdmaFrag is struct kib_rdma_frag.
var kibRdmaFrag = Define("kib_rdma_frag",
	U32("rf_nob"),
	U64("rf_addr"),
)

// kibRdmaDesc is struct kib_rdma_desc.
var kibRdmaDesc = Define("kib_rdma_desc",
	U32("rd_key"),
	U32("rd_nfrags"),
	Arr("rd_frags", -1, Sub("", kibRdmaFrag)),
)

// kibPutreqMsg is struct kib_putreq_msg.
var kibPutreqMsg = Define("kib_putreq_msg",
	Sub("ibprm_hdr", lnetHdrNid4),
	U64("ibprm_cookie"),
)

// kibPutackMsg is struct kib_putack_msg.
var kibPutackMsg = Define("kib_putack_msg",
	U64("ibpam_src_cookie"),
	U64("ibpam_dst_cookie"),
	Sub("ibpam_rd", kibRdmaDesc),
)

// kibGetMsg is struct kib_get_msg.
var kibGetMsg = Define("kib_get_msg",
	Sub("ibgm_hdr", lnetHdrNid4),
	U64("ibgm_cookie"),
	Sub("ibgm_rd", kibRdmaDesc),
)

// kibCompletionMsg is struct kib_completion_msg.
var kibCompletionMsg = Define("kib_completion_msg",
	U64("ibcm_cookie"),
	S32("ibcm_status"),
)

// kibMsg is struct kib_msg.
var kibMsg = Define("kib_msg",
	U32("ibm_magic"),
	U16("ibm_version"),
	U8("ibm_type", "IBLND_MSG_*"),
	U8("ibm_credits"),
	U32("ibm_nob", "total message bytes"),
	U32("ibm_cksum"),
	U64("ibm_srcnid"),
	U64("ibm_srcstamp"),
	U64("ibm_dstnid"),
	U64("ibm_dststamp"),
	Sub("ibm_u.connparams", kibConnparams),
	Sub("ibm_u.immediate", kibImmediateMsg, Over("ibm_u.connparams")),
	Sub("ibm_u.putreq", kibPutreqMsg, Over("ibm_u.connparams")),
	Sub("ibm_u.putack", kibPutackMsg, Over("ibm_u.connparams")),
	Sub("ibm_u.get", kibGetMsg, Over("ibm_u.connparams")),
	Sub("ibm_u.completion", kibCompletionMsg, Over("ibm_u.connparams")),
)

// kibRej is struct kib_rej.
var kibRej = Define("kib_rej",
	U32("ibr_magic"),
	U16("ibr_version"),
	U8("ibr_why", "IBLND_REJECT_*"),
	Pad("ibr_padding", 1),
	U64("ibr_incarnation"),
	Sub("ibr_cp", kibConnparams),
)
