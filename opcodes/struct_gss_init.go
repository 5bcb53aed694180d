package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// Setting up a GSS context: what the client sends behind its SEC_CTX_INIT, and
// the tokens of the shared-key mechanism both ways.

// gssCtxInitPayload is struct gss_ctx_init_payload.
var gssCtxInitPayload = Define("gss_ctx_init_payload",
	Little,
	"first step of setting up a security context",
	U32("lustre_svc", Hex, Remark(remarkGssTarget), "kind of target, in the low half"),
	U32("target_uuid_len", Size, "bytes of the name, NUL included"),
	Str("target_uuid", 0, CountBy("target_uuid_len"), "the target"),
	Pad("target_uuid_pad", 0, CountOf(fillTo4), "fills the name up to a multiple of 4 bytes"),
	U32("rvs_handle_len", Size, "8"),
	U64("rvs_handle", Cookie, "context for the other direction, on the client"),
	U32("token_len", Size, "bytes of the token"),
	OneOf("token", chooseInitToken, []*Field{skInitToken, gssOpaqueToken}, "first token of the security mechanism").Rest(),
)

// gssReplyToken is what a server answers to a context set-up with.
var gssReplyToken = OneOf("token", chooseReplyToken, []*Field{skReplyToken, gssOpaqueToken}, "answer of the security mechanism").Rest()

// gssOpaqueToken is a token of Kerberos or of a mechanism that is not known.
var gssOpaqueToken = Opaque("token", 0, CountOf(tokenLength), "token of the security mechanism")

var (
	skInitToken  = Records("token", stepInitToken, skInitParts, "token of the shared-key mechanism, a chain of strings with their length in front")
	skReplyToken = Records("token", stepReplyToken, skReplyParts, "token of the shared-key mechanism, a chain of strings with their length in front")
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
	return Sub("", NewStruct("sk_netstring", doc,
		Str("length", 0, CountOf(func(v *View) int { return digits(v.Struct) }), "number of bytes, in decimal digits"),
		punctuation("colon"),
		content(name, 0, doc, CountOf(func(v *View) int { return netstringLen(v.Struct) })),
		punctuation("comma"),
	))
}

func stepInitToken(v *View) (*Field, int)  { return stepToken(v, skInitParts) }
func stepReplyToken(v *View) (*Field, int) { return stepToken(v, skReplyParts) }

func stepToken(v *View, parts []*Field) (*Field, int) {
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

// fillTo4 is the number of bytes up to a multiple of 4 in the struct.
func fillTo4(v *View) int { return -(len(v.Struct) - len(v.Rest)) & 3 }

// tokenLength is the length that stands before the token of an init payload;
// in a reply the token fills its buffer.
func tokenLength(v *View) int {
	at := len(v.Struct) - len(v.Rest)
	if at < 4 {
		return -1
	}
	return int(ReadUint(v.Struct[at-4:at], v.Big) & 0xffffff)
}

func remarkGssTarget(v *View, dst []byte) []byte {
	if len(v.Rest) < 4 {
		return dst
	}
	return append(dst, GssTarget.Name(ReadUint(v.Rest[:4], v.Big)&0xffff)...)
}
