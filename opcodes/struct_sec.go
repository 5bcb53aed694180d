package opcodes

// netobjS is struct netobj_s.
var netobjS = Define("netobj_s",
	U32("len"),
	Opaque("data", 0),
)

// gssHeader is struct gss_header.
var gssHeader = Define("gss_header",
	U8("gh_version"),
	U8("gh_sp"),
	Pad("gh_pad0", 2),
	U32("gh_flags"),
	U32("gh_proc"),
	U32("gh_seq"),
	U32("gh_svc"),
	Pad("gh_pad1", 4),
	Pad("gh_pad2", 4),
	Pad("gh_pad3", 4),
	Sub("gh_handle", netobjS, "u32 length then bytes (8)"),
)

// gssRepHeader is struct gss_rep_header.
var gssRepHeader = Define("gss_rep_header",
	U8("gh_version"),
	U8("gh_sp"),
	Pad("gh_pad0", 2),
	U32("gh_flags"),
	U32("gh_proc"),
	U32("gh_major"),
	U32("gh_minor"),
	U32("gh_seqwin"),
	Pad("gh_pad2", 4),
	Pad("gh_pad3", 4),
	Sub("gh_handle", netobjS),
)

// gssErrHeader is struct gss_err_header.
var gssErrHeader = Define("gss_err_header",
	U8("gh_version"),
	U8("gh_sp"),
	Pad("gh_pad0", 2),
	U32("gh_flags"),
	U32("gh_proc"),
	U32("gh_major"),
	U32("gh_minor"),
	Pad("gh_pad1", 4),
	Pad("gh_pad2", 4),
	Pad("gh_pad3", 4),
	Sub("gh_handle", netobjS),
)

// ptlrpcBulkSecDesc is struct ptlrpc_bulk_sec_desc.
var ptlrpcBulkSecDesc = Define("ptlrpc_bulk_sec_desc",
	U8("bsd_version"),
	U8("bsd_type"),
	U8("bsd_svc"),
	U8("bsd_flags"),
	U32("bsd_nob"),
	Opaque("bsd_data", 0),
)

// ptlrpcUserDesc is struct ptlrpc_user_desc.
var ptlrpcUserDesc = Define("ptlrpc_user_desc",
	U32("pud_uid"),
	U32("pud_gid"),
	U32("pud_fsuid"),
	U32("pud_fsgid"),
	U32("pud_cap"),
	U32("pud_ngroups"),
	Arr("pud_groups", -1, U32("")),
)

// plainHeader is struct plain_header.
var plainHeader = Define("plain_header",
	U8("ph_ver"),
	U8("ph_flags"),
	U8("ph_sp"),
	U8("ph_bulk_hash_alg"),
	Opaque("ph_pad", 4),
)

// plainBulkToken is struct plain_bulk_token.
var plainBulkToken = Define("plain_bulk_token",
	Opaque("pbt_hash", 8),
)

// krb5Header is struct krb5_header.
var krb5Header = Define("krb5_header",
	Big,
	U16("kh_tok_id"),
	U8("kh_flags"),
	U8("kh_filler"),
	U16("kh_ec"),
	U16("kh_rrc"),
	U64("kh_seq"),
	Opaque("kh_cksum", 0),
)

// skHdr is struct sk_hdr.
var skHdr = Define("sk_hdr",
	Big,
	U64("skh_version"),
	U64("skh_iv"),
)

// gssCtxInitPayload is struct gss_ctx_init_payload.
var gssCtxInitPayload = Define("gss_ctx_init_payload",
	U32("lustre_svc", "LUSTRE_GSS_TGT_*"),
	U32("target_uuid_len", "includes NUL"),
	Str("target_uuid", -1, "padded to 4"),
	U32("rvs_handle_len", "8"),
	U64("rvs_handle", "reverse context handle"),
	U32("token_len"),
	Opaque("token", -1, "GSS initial token"),
)
