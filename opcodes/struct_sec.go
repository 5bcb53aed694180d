package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// netobjS is struct netobj_s.
var netobjS = Define("netobj_s",
	"bytes with their length",
	U32("len", Size, "number of bytes"),
	Opaque("data", 0, CountBy("len"), "the bytes"),
)

// gssHeader is struct gss_header.
var gssHeader = Define("gss_header",
	"first buffer of a request under GSS: which security context protects it",
	U8("gh_version", "1"),
	U8("gh_sp", SptlrpcSecPart, "kind of node that sends it"),
	Pad("gh_pad0", 2),
	U32("gh_flags", GssHeaderFlags, "which further parts the message has"),
	U32("gh_proc", GssProc, "data, or a step of setting the context up or taking it down"),
	U32("gh_seq", "number of the message in its context, against replays"),
	U32("gh_svc", SptlrpcService, "how the message is protected"),
	Pad("gh_pad1", 4),
	Pad("gh_pad2", 4),
	Pad("gh_pad3", 4),
	Sub("gh_handle", netobjS, "context on the server; empty while it is being set up"),
)

// gssRepHeader is struct gss_rep_header.
var gssRepHeader = Define("gss_rep_header",
	"first buffer of a reply under GSS",
	U8("gh_version", "1"),
	U8("gh_sp", SptlrpcSecPart, "kind of node that sends it"),
	Pad("gh_pad0", 2),
	U32("gh_flags", GssHeaderFlags, "which further parts the message has"),
	U32("gh_proc", GssProc, "as in the request; ERR in the answer to a context set-up, also a good one"),
	U32("gh_major", Hex, "GSS result, 0 when all is well"),
	U32("gh_minor", Hex, "the mechanism's own result"),
	U32("gh_seqwin", "how far out of order messages of the context may come"),
	Pad("gh_pad2", 4),
	Pad("gh_pad3", 4),
	Sub("gh_handle", netobjS, "the new context on the server"),
)

// gssErrHeader is struct gss_err_header.
var gssErrHeader = Define("gss_err_header",
	"first buffer of a message that refuses a request under GSS",
	U8("gh_version", "1"),
	U8("gh_sp", SptlrpcSecPart, "kind of node that sends it"),
	Pad("gh_pad0", 2),
	U32("gh_flags", GssHeaderFlags, "which further parts the message has"),
	U32("gh_proc", GssProc, "ERR"),
	U32("gh_major", Hex, "GSS result: why, for example that the context is gone"),
	U32("gh_minor", Hex, "the mechanism's own result"),
	Pad("gh_pad1", 4),
	Pad("gh_pad2", 4),
	Pad("gh_pad3", 4),
	Sub("gh_handle", netobjS, "the context that was refused"),
)

// ptlrpcBulkSecDesc is struct ptlrpc_bulk_sec_desc.
var ptlrpcBulkSecDesc = Define("ptlrpc_bulk_sec_desc",
	"how the bulk data of the RPC are protected",
	U8("bsd_version", "0"),
	U8("bsd_type", SptlrpcBulkType, "kind of token"),
	U8("bsd_svc", SptlrpcBulkService, "how the data are protected"),
	U8("bsd_flags", SptlrpcBsdFlags, "whether the server failed"),
	U32("bsd_nob", Size, "bytes of bulk data"),
	Opaque("bsd_data", 0, "token over the data: a hash, or a signature"),
)

// ptlrpcUserDesc is struct ptlrpc_user_desc.
var ptlrpcUserDesc = Define("ptlrpc_user_desc",
	"the user for whom the request is made",
	U32("pud_uid", "user"),
	U32("pud_gid", "group"),
	U32("pud_fsuid", "user for file access"),
	U32("pud_fsgid", "group for file access"),
	U32("pud_cap", Hex, "capabilities, a bit mask"),
	U32("pud_ngroups", "number of further groups"),
	Arr("pud_groups", -1, U32(""), CountBy("pud_ngroups"), "further groups"),
)

// plainHeader is struct plain_header.
var plainHeader = Define("plain_header",
	"first buffer of a message under the plain policy",
	U8("ph_ver", "0"),
	U8("ph_flags", PlainFlags, "which further parts the message has"),
	U8("ph_sp", SptlrpcSecPart, "kind of node that sends it"),
	U8("ph_bulk_hash_alg", SptlrpcBulkHash, "hash over the bulk data"),
	Pad("ph_pad", 4),
)

var _ = Define("plain_bulk_token",
	"proof that bulk data arrived unchanged",
	Opaque("pbt_hash", 8, "hash over the data"),
)

// krb5Header is struct krb5_header.
var krb5Header = Define("krb5_header",
	Big,
	"begins a Kerberos token",
	U16("kh_tok_id", Hex, GssKrb5, "signature or encrypted data"),
	U8("kh_flags", Hex, "bit 0: from the accepting side; bit 1: encrypted; bit 2: made with the acceptor's key"),
	U8("kh_filler", Hex, "0xff"),
	U16("kh_ec", "bytes of padding behind the data"),
	U16("kh_rrc", "by how many bytes the data are rotated"),
	U64("kh_seq", ID, "number of the message in its context"),
	Opaque("kh_cksum", 0, "cipher text and checksum"),
)

// skHdr is struct sk_hdr.
var skHdr = Define("sk_hdr",
	Big,
	"begins what is encrypted with a shared key",
	U64("skh_version", Cookie, "1"),
	U64("skh_iv", Cookie, "initialisation vector: a counter, not to be used twice with one key"),
)

// skSealed is a message that is encrypted with a shared key.
var skSealed = Define("sk_sealed",
	"a message that is encrypted with a shared key",
	Sub("sk_hdr", skHdr, "what the cipher needs to know"),
	Opaque("data", 0, "cipher text, and an HMAC at its end"),
)
