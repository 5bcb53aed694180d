package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

const (
	SEC_CTX_INIT      = 801
	SEC_CTX_INIT_CONT = 802
	SEC_CTX_FINI      = 803
)

var GssProc = Enum("gss_proc", "PTLRPC_GSS_PROC_", "what a message does in its security context", []Value{
	{Name: "DATA", Value: gssProcData, Doc: "carries an RPC"},
	{Name: "INIT", Value: gssProcInit, Doc: "starts the set-up of a context"},
	{Name: "CONTINUE_INIT", Value: 0x2, Doc: "continues the set-up"},
	{Name: "DESTROY", Value: gssProcDestroy, Doc: "ends the context"},
	{Name: "ERR", Value: 0x4, Doc: "an error reply, or any reply to a set-up"},
})

var GssTarget = Enum("gss_target", "LUSTRE_GSS_TGT_", "kind of target that a security context is for", []Value{
	{Name: "MGS", Value: 0x0, Doc: "management server"},
	{Name: "MDS", Value: 0x1, Doc: "metadata server"},
	{Name: "OSS", Value: 0x2, Doc: "object storage server"},
})

var GssHeaderFlags = Bits("gss_header_flags", "LUSTRE_GSS_PACK_", "parts that a message under GSS has besides the RPC", []Value{
	{Name: "BULK", Value: 0x1, Doc: "a bulk descriptor"},
	{Name: "USER", Value: 0x2, Doc: "a user descriptor"},
	{Name: "KCSUM", Value: 0x4, Doc: "the mechanism computes checksums over bulk pages in the kernel"},
})

var GssKrb5 = Enum("gss_krb5", "KG_", "Kerberos key usages and kinds of token", []Value{
	{Name: "USAGE_ACCEPTOR_SEAL", Value: 0x16, Doc: "key usage: server encrypts"},
	{Name: "USAGE_ACCEPTOR_SIGN", Value: 0x17, Doc: "key usage: server signs"},
	{Name: "USAGE_INITIATOR_SEAL", Value: 0x18, Doc: "key usage: client encrypts"},
	{Name: "USAGE_INITIATOR_SIGN", Value: 0x19, Doc: "key usage: client signs"},
	{Name: "TOK_MIC_MSG", Value: 0x404, Doc: "token with a signature"},
	{Name: "TOK_WRAP_MSG", Value: 0x504, Doc: "token with encrypted data"},
})

// GssMajor is the group gss_major: errors of a routine, or of its caller.
var GssMajor = Enum("gss_major", "", "result of a GSS call, without its supplementary bits", []Value{
	{Name: "GSS_S_CALL_INACCESSIBLE_READ", Value: 0x1000000, Doc: "calling error: an input could not be read"},
	{Name: "GSS_S_CALL_INACCESSIBLE_WRITE", Value: 0x2000000, Doc: "calling error: an output could not be written"},
	{Name: "GSS_S_CALL_BAD_STRUCTURE", Value: 0x3000000, Doc: "calling error: a parameter was malformed"},
	{Name: "GSS_S_COMPLETE", Value: 0x0, Doc: "success"},
	{Name: "GSS_S_BAD_MECH", Value: 0x10000, Doc: "unsupported mechanism"},
	{Name: "GSS_S_BAD_NAME", Value: 0x20000, Doc: "invalid name"},
	{Name: "GSS_S_BAD_NAMETYPE", Value: 0x30000, Doc: "unsupported type of name"},
	{Name: "GSS_S_BAD_BINDINGS", Value: 0x40000, Doc: "wrong channel bindings"},
	{Name: "GSS_S_BAD_STATUS", Value: 0x50000, Doc: "invalid status code"},
	{Name: "GSS_S_BAD_SIG", Value: 0x60000, Doc: "invalid signature; the client makes a new context and sends again"},
	{Name: "GSS_S_NO_CRED", Value: 0x70000, Doc: "no credentials or not accessible"},
	{Name: "GSS_S_NO_CONTEXT", Value: 0x80000, Doc: "no such context, or the target of SEC_CTX_INIT is not there or not set up; the client " +
		"makes a new context and sends again"},
	{Name: "GSS_S_DEFECTIVE_TOKEN", Value: 0x90000, Doc: "invalid token"},
	{Name: "GSS_S_DEFECTIVE_CREDENTIAL", Value: 0xa0000, Doc: "invalid credential"},
	{Name: "GSS_S_CREDENTIALS_EXPIRED", Value: 0xb0000, Doc: "the credentials have expired"},
	{Name: "GSS_S_CONTEXT_EXPIRED", Value: 0xc0000, Doc: "the context has expired"},
	{Name: "GSS_S_FAILURE", Value: 0xd0000, Doc: "mechanism failure, see gh_minor"},
	{Name: "GSS_S_BAD_QOP", Value: 0xe0000, Doc: "unsupported quality of protection"},
	{Name: "GSS_S_UNAUTHORIZED", Value: 0xf0000, Doc: "not authorized by policy"},
	{Name: "GSS_S_UNAVAILABLE", Value: 0x100000, Doc: "operation not available"},
	{Name: "GSS_S_DUPLICATE_ELEMENT", Value: 0x110000, Doc: "credential element exists already"},
	{Name: "GSS_S_NAME_NOT_MN", Value: 0x120000, Doc: "name is not a mechanism name"},
})

var GssMech = Enum("gss_lgss_mech", "LGSS_MECH_", "security mechanism that a context set-up names", []Value{
	{Name: "KRB5", Value: 0x0, Doc: "Kerberos"},
	{Name: "NULL", Value: 0x1, Doc: "none"},
	{Name: "SK", Value: 0x2, Doc: "shared key"},
})

var netobjS = &Struct{Name: "netobj_s", Doc: "bytes with their length", Fields: []*Field{
	U32("len", Size, "number of bytes"),
	Opaque("data", 0, ContextHandle, CountBy("len"), Remark(remarkGSSHandle), "the bytes; of a handle, those of a little-endian number"),
}}

var GSSHeader = &Struct{Name: "gss_header",
	Doc: "first buffer of a request under GSS: which security context protects it", Fields: []*Field{
		U8("gh_version", Harmless, "1"),
		U8("gh_sp", &SptlrpcSecPart, "kind of node that sends it"),
		Pad("gh_pad0", 2),
		U32("gh_flags", &GssHeaderFlags, "which optional parts the message has"),
		U32("gh_proc", &GssProc, "data, or a step of the set-up or the end of the context"),
		U32("gh_seq", Harmless, "number of the message in its context: the server drops a number that it has had"),
		U32("gh_svc", &SptlrpcService, "how the message is protected"),
		Padding("gh_pad", 1, 4, 4, 4),
		Sub("gh_handle", &netobjS, "context on the server; empty while it is being set up"),
	}}

var GSSRepHeader = &Struct{Name: "gss_rep_header", Doc: "first buffer of a reply under GSS", Fields: []*Field{
	U8("gh_version", Harmless, "1"),
	U8("gh_sp", &SptlrpcSecPart, "kind of node that sends it"),
	Pad("gh_pad0", 2),
	U32("gh_flags", &GssHeaderFlags, "which optional parts the message has"),
	U32("gh_proc", &GssProc, "as in the request; ERR in every reply to a context set-up, also when it succeeded"),
	U32("gh_major", Hex, &GssMajor, "GSS result, 0 for success"),
	U32("gh_minor", Harmless, Hex, Remark(remarkGSSMinor), "the mechanism's own result: an errno of the kernel, or a number of Kerberos"),
	U32("gh_seqwin", Harmless, "how many numbers a message may lag behind the highest one in its context"),
	Padding("gh_pad", 2, 4, 4),
	Sub("gh_handle", &netobjS, "the new context on the server"),
}}

var GSSErrHeader = &Struct{Name: "gss_err_header", Doc: "first buffer of an error reply to a request under GSS", Fields: []*Field{
	U8("gh_version", Harmless, "1"),
	U8("gh_sp", &SptlrpcSecPart, "kind of node that sends it"),
	Pad("gh_pad0", 2),
	U32("gh_flags", &GssHeaderFlags, "which optional parts the message has"),
	U32("gh_proc", &GssProc, "ERR"),
	U32("gh_major", Hex, &GssMajor, "GSS result: the reason, such as GSS_S_NO_CONTEXT"),
	U32("gh_minor", Harmless, Hex, Remark(remarkGSSMinor), "the mechanism's own result: an errno of the kernel, or a number of Kerberos"),
	Padding("gh_pad", 1, 4, 4, 4),
	Sub("gh_handle", &netobjS, "the context that was refused"),
}}

var Krb5Header = &Struct{Name: "krb5_header", Order: Big, Doc: "header of a Kerberos token", Fields: []*Field{
	U16("kh_tok_id", Hex, &GssKrb5, "signature or encrypted data"),
	U8("kh_flags", Harmless, Hex, "bit 0: from the accepting side; bit 1: encrypted; bit 2: made with the acceptor's key"),
	U8("kh_filler", Harmless, Hex, "0xff"),
	U16("kh_ec", Harmless, "bytes of padding behind the data"),
	U16("kh_rrc", Harmless, "by how many bytes the data are rotated"),
	U64("kh_seq", ID, "number of the message in its context"),
	Opaque("kh_cksum", 0, "cipher text and checksum"),
}}

var SKHeader = &Struct{Name: "sk_hdr", Order: Big, Doc: "header of data that are encrypted with a shared key", Fields: []*Field{
	U64("skh_version", Cookie, "1"),
	U64("skh_iv", Cookie, "initialisation vector: a counter, not to be used twice with one key"),
}}

var skSealed = &Struct{Name: "sk_sealed", Doc: "a message that is encrypted with a shared key", Fields: []*Field{
	Sub("sk_hdr", &SKHeader, "version, and initialisation vector of the cipher"),
	Opaque("data", 0, "cipher text, and an HMAC at its end"),
}}

// Setting up a GSS context: what the client sends behind its SEC_CTX_INIT, and
// the tokens of the shared-key mechanism both ways.

var GSSInit = &Struct{Name: "gss_ctx_init_payload", Order: Little, Doc: "first step of setting up a security context", Fields: []*Field{
	U32("lustre_svc", Harmless, Hex, Remark(func(v *View, dst []byte) []byte {
		s := GSSSetup{Service: uint32(v.Value)}
		return s.AppendService(dst)
	}), "kind of target in the low half, security mechanism in the high half"),
	U32("target_uuid_len", Size, "bytes of the name, NUL included"),
	Str("target_uuid", 0, TargetName, CountBy("target_uuid_len"), "the target"),
	Pad("target_uuid_pad", 0, CountOf(func(v *View) int { return -(len(v.Struct) - len(v.Rest)) & 3 }), "fills the name up to a multiple of 4 bytes"),
	U32("rvs_handle_len", Size, "8"),
	U64("rvs_handle", Cookie, "handle of the reverse context, in which the server sends callbacks"),
	U32("token_len", Size, "bytes of the token"),
	OneOf("token", chooseInitToken, []*Field{skInitToken, gssOpaqueToken}, "first token of the security mechanism"),
}}

// gssReplyToken is what a server answers to a context set-up with.
var gssReplyToken = OneOf("token", chooseReplyToken, []*Field{skReplyToken, gssOpaqueToken}, "answer of the security mechanism")

// gssOpaqueToken is a token of Kerberos or of a mechanism that is not known. Its length stands before it in an init payload; in a reply it fills its
// buffer.
var gssOpaqueToken = Opaque("token", 0, CountOf(func(v *View) int {
	at := len(v.Struct) - len(v.Rest)
	if at < 4 {
		return -1
	}
	return int(ReadUint(v.Struct[at-4:at], v.Big) & 0xffffff)
}), "token of the security mechanism")

var (
	skInitToken = Records("token", nextInitTokenPart, skInitParts, "token of the shared-key mechanism, a chain of strings with their "+
		"length in front")
	skReplyToken = Records("token", nextReplyTokenPart, skReplyParts, "token of the shared-key mechanism, a chain of strings with their "+
		"length in front")
)

// The parts of shared-key tokens, in their order.
var (
	skInitParts = []*Field{
		netstring("version", Opaque, "version of the token"),
		netstring("random", Opaque, "random number of the client"),
		netstring("prime", Opaque, "modulus of the key exchange"),
		netstring("public_key", Opaque, "public key of the client"),
		netstring("target", Str, "the client's device for the target"),
		netstring("nodemap_hash", Opaque, "hash over the name of the nodemap"),
		netstring("flags", Opaque, "options"),
		netstring("hmac", Opaque, "signature over the parts before"),
	}
	skReplyParts = []*Field{
		netstring("version", Opaque, "version of the token"),
		netstring("random", Opaque, "random number of the server"),
		netstring("public_key", Opaque, "public key of the server"),
		netstring("hmac", Opaque, "signature over the parts before"),
	}
)

// netstring declares one part of a shared-key token: a decimal length, a colon,
// the content and a comma.
func netstring(name string, content func(name string, size int, opts ...any) *Field, doc string) *Field {
	s := &Struct{Name: "sk_netstring", Form: true, Doc: doc, Fields: []*Field{
		Str("length", 0, Removed, CountOf(func(v *View) int { return digits(v.Struct) }), "number of bytes, in decimal digits"),
		punctuation("colon"),
		content(name, 0, Removed, doc, CountOf(func(v *View) int { return netstringLen(v.Struct) })),
		punctuation("comma"),
	}}
	return Sub("", &s)
}

func nextInitTokenPart(v *View) (*Field, int) { return nextTokenPart(v, skInitParts) }

func nextReplyTokenPart(v *View) (*Field, int) { return nextTokenPart(v, skReplyParts) }

func nextTokenPart(v *View, parts []*Field) (*Field, int) {
	if v.Index >= len(parts) || !isNetstring(v.Rest) {
		return nil, 0
	}
	return parts[v.Index], 0
}

func chooseInitToken(v *View) *Field {
	if isNetstring(v.Rest) {
		return skInitToken
	}
	return gssOpaqueToken
}

func chooseReplyToken(v *View) *Field {
	if isNetstring(v.Rest) {
		return skReplyToken
	}
	return gssOpaqueToken
}

func isNetstring(b []byte) bool {
	n := digits(b)
	return n > 0 && n < len(b) && b[n] == ':'
}

// digits is the number of decimal digits at the start of b, six at most.
func digits(b []byte) int {
	n := 0
	for n < len(b) && n < 6 && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}

func netstringLen(b []byte) int {
	length := 0
	for _, c := range b[:digits(b)] {
		length = 10*length + int(c-'0')
	}
	return length
}

// punctuation is a character that is never shown: padding of kind Text.
func punctuation(name string) *Field {
	f := Str(name, 1)
	f.Pad = true
	return f
}

// remarkGSSHandle writes the handle of a context as the kernel prints it.
func remarkGSSHandle(v *View, dst []byte) []byte {
	const handleBytes = 8
	if len(v.Struct) < 4+handleBytes || ReadUint(v.Struct[:4], v.Big) != handleBytes {
		return dst
	}
	return AppendHex(dst, ReadUint(v.Struct[4:4+handleBytes], false))
}

func remarkGSSMinor(v *View, dst []byte) []byte {
	return append(dst, gssMinorName(uint32(v.Value))...)
}

var _ = DefineRPC(&RPC{Opcode: SEC_CTX_INIT, Name: "SEC_CTX_INIT", Does: SetsUpContext,
	Doc: "Starts the set-up of a security context under GSS for one target. Target, mechanism and the first token of the mechanism " +
		"are in the last buffer of the message's wrapping; the handle of the new context is in that of the reply.",
	Variants: bodyOnly})

var _ = DefineRPC(&RPC{Opcode: SEC_CTX_INIT_CONT, Name: "SEC_CTX_INIT_CONT", Does: SetsUpContext,
	Doc:      "Continues the set-up of a security context, for mechanisms that need more than one exchange.",
	Variants: bodyOnly})

var _ = DefineRPC(&RPC{Opcode: SEC_CTX_FINI, Name: "SEC_CTX_FINI", Does: SetsUpContext, OneWay: true,
	Doc:      "Ends a security context. It has no reply.",
	Variants: bodyOnly})

const (
	mechKrb5       = 1
	mechSK         = 2
	gssProcData    = 0
	gssProcInit    = 1
	gssProcCont    = 2
	gssProcDestroy = 3
	gssProcError   = 4
)

var (
	ghProc           = GSSHeader.Field("gh_proc")
	bufGSSHeader     = Sub("gss_header", &GSSHeader)
	bufGSSReply      = Sub("gss_rep_header", &GSSRepHeader)
	bufGSSError      = Sub("gss_err_header", &GSSErrHeader)
	bufGSSInit       = Sub("gss_ctx_init_payload", &GSSInit)
	bufKrb5Cipher    = Sub("cipher", &Krb5Header, "the encrypted message")
	bufSKCipher      = Sub("cipher", &skSealed, "the encrypted message")
	bufKrb5Signature = Sub("signature", &Krb5Header, "proof that the message was not changed")
)

// gssHeaderField is the header that a buffer 0 has. Replies that carry data have the
// header of requests, with the number and the service of the request.
func gssHeaderField(proc uint64, reply, init bool) *Field {
	switch {
	case !reply || proc == gssProcData:
		return bufGSSHeader
	case proc == gssProcError && !init:
		return bufGSSError
	}
	return bufGSSReply
}
