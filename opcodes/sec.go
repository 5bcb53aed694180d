package opcodes

import (
	"slices"

	. "github.com/lshark/lshark/opcodes/schema"
)

var SptlrpcService = Enum("sptlrpc_service", "SPTLRPC_SVC_", "how messages are protected, bits 8-11 of a flavour", []Value{
	{Name: "NULL", Value: 0x0, Doc: "no protection"},
	{Name: "AUTH", Value: 0x1, Doc: "the header is signed"},
	{Name: "INTG", Value: 0x2, Doc: "the whole message is signed"},
	{Name: "PRIV", Value: 0x3, Doc: "the message is encrypted"},
	{Name: "MAX", Value: 0x4, Doc: "number of services"},
})

var SptlrpcBulkType = Enum("sptlrpc_bulk_type", "SPTLRPC_BULK_",
	"how bulk data are protected under the plain policy, bits 12-15 of a flavour", []Value{
		{Name: "DEFAULT", Value: 0x0, Doc: "as the policy does it"},
		{Name: "HASH", Value: 0x1, Doc: "by a hash that the plain policy computes"},
		{Name: "MAX", Value: 0x2, Doc: "number of types"},
	})

var SptlrpcBulkService = Enum("sptlrpc_bulk_service", "SPTLRPC_BULK_SVC_", "how bulk data are protected, bits 16-19 of a flavour", []Value{
	{Name: "NULL", Value: 0x0, Doc: "no protection"},
	{Name: "AUTH", Value: 0x1, Doc: "authenticated"},
	{Name: "INTG", Value: 0x2, Doc: "signed"},
	{Name: "PRIV", Value: 0x3, Doc: "encrypted"},
	{Name: "MAX", Value: 0x4, Doc: "number of services"},
})

var SptlrpcFlavor = Enum("sptlrpc_flavor", "SPTLRPC_FLVR_", "security flavour: policy, mechanism and services together", []Value{
	{Name: "NULL", Value: 0x0, Doc: "no protection"},
	{Name: "DEFAULT", Value: 0x0, Alias: true},
	{Name: "GSSNULL", Value: 0x2, Doc: "GSS without protection, for tests"},
	{Name: "KRB5N", Value: 0x12, Doc: "Kerberos, authentication at set-up only"},
	{Name: "SKN", Value: 0x22, Doc: "shared key, authentication at set-up only"},
	{Name: "KRB5A", Value: 0x112, Doc: "Kerberos, headers signed"},
	{Name: "SKA", Value: 0x122, Doc: "shared key, headers signed"},
	{Name: "KRB5I", Value: 0x20212, Doc: "Kerberos, messages signed"},
	{Name: "SKI", Value: 0x20222, Doc: "shared key, messages signed"},
	{Name: "PLAIN", Value: 0x21001, Doc: "user descriptors and a hash over bulk data"},
	{Name: "KRB5P", Value: 0x30312, Doc: "Kerberos, messages encrypted"},
	{Name: "SKPI", Value: 0x30322, Doc: "shared key, messages encrypted"},
	{Name: "ANY", Value: 0xfff00000, Doc: "a rule that fits any flavour"},
	{Name: "INVALID", Value: 0xffffffff, Doc: "no flavour"},
}).WithMask(0xfff)

var SptlrpcBulkHash = Enum("sptlrpc_bulk_hash", "BULK_HASH_ALG_", "hash over bulk data under the plain policy", []Value{
	{Name: "NULL", Value: 0x0, Doc: "none"},
	{Name: "ADLER32", Value: 0x1, Doc: "Adler-32"},
	{Name: "CRC32", Value: 0x2, Doc: "CRC-32"},
	{Name: "MD5", Value: 0x3},
	{Name: "SHA1", Value: 0x4},
	{Name: "SHA256", Value: 0x5},
	{Name: "SHA384", Value: 0x6},
	{Name: "SHA512", Value: 0x7},
	{Name: "MAX", Value: 0x8, Doc: "number of hashes"},
})

var SptlrpcBsdFlags = Bits("sptlrpc_bsd_flags", "", "flags of a bulk descriptor", []Value{
	{Name: "BSD_FL_ERR", Value: 0x1, Doc: "the server failed to protect or check the data"},
})

var SptlrpcSecPart = Enum("sptlrpc_sec_part", "LUSTRE_SP_", "kind of node", []Value{
	{Name: "CLI", Value: 0x0, Doc: "client"},
	{Name: "MDT", Value: 0x1, Doc: "metadata target"},
	{Name: "OST", Value: 0x2, Doc: "object storage target"},
	{Name: "MGC", Value: 0x3, Doc: "client of the MGS"},
	{Name: "MGS", Value: 0x4, Doc: "management server"},
	{Name: "ANY", Value: 0xff, Doc: "any"},
})

var PlainFlags = Bits("plain_flags", "PLAIN_FL_", "what a message under the plain policy carries besides itself", []Value{
	{Name: "USER", Value: 0x1, Doc: "a user descriptor"},
	{Name: "BULK", Value: 0x2, Doc: "a bulk descriptor"},
})

var PlainHeader = &Struct{Name: "plain_header", Doc: "first buffer of a message under the plain policy", Fields: []*Field{
	U8("ph_ver", Harmless, "0"),
	U8("ph_flags", &PlainFlags, "which further parts the message has"),
	U8("ph_sp", &SptlrpcSecPart, "kind of node that sends it"),
	U8("ph_bulk_hash_alg", &SptlrpcBulkHash, "hash over the bulk data"),
	Pad("ph_pad", 4),
}}

var plainBulkToken = &Struct{Name: "plain_bulk_token", Doc: "proof that bulk data arrived unchanged", Fields: []*Field{
	Opaque("pbt_hash", 8, "hash over the data"),
}}

var UserDesc = &Struct{Name: "ptlrpc_user_desc", Doc: "the user for whom the request is made", Fields: []*Field{
	U32("pud_uid", UserID, "user"),
	U32("pud_gid", UserID, "group"),
	U32("pud_fsuid", UserID, "user for file access"),
	U32("pud_fsgid", UserID, "group for file access"),
	U32("pud_cap", Harmless, Hex, "capabilities, a bit mask"),
	U32("pud_ngroups", Harmless, "number of further groups"),
	Arr("pud_groups", -1, U32(""), UserID, CountBy("pud_ngroups"), "further groups"),
}}

var BulkSecDesc = &Struct{Name: "ptlrpc_bulk_sec_desc", Doc: "how the bulk data of the RPC are protected", Fields: []*Field{
	U8("bsd_version", Harmless, "0"),
	U8("bsd_type", &SptlrpcBulkType, "kind of token"),
	U8("bsd_svc", &SptlrpcBulkService, "how the data are protected"),
	U8("bsd_flags", &SptlrpcBsdFlags, "whether the server failed"),
	U32("bsd_nob", Size, "bytes of bulk data"),
	Opaque("bsd_data", 0, "token over the data: a hash, or a signature"),
}}

// remarkFlavor takes a flavour apart that has no name of its own. Under the null policy
// the top byte is the kind of node that sent the message.
func remarkFlavor(v *View, dst []byte) []byte {
	word := v.Value
	const policyBits, rpcBits, bulkShift, senderShift = 0xf, 0xfff, 16, 24
	switch {
	case SptlrpcFlavor.Name(word) != "":
		return dst
	case word&policyBits == 0:
		dst = append(dst, "NULL, no protection"...)
		if part, ok := SptlrpcSecPart.Find(SptlrpcSecPart.Name(word >> senderShift)); ok {
			dst = append(append(dst, "; sender: "...), part.Name...)
			dst = append(append(dst, ", "...), part.Doc...)
		}
		return dst
	}
	for _, f := range SptlrpcFlavor.Values {
		if f.Value != 0 && f.Value&rpcBits == word&rpcBits {
			dst = append(append(dst, f.Name...), ", bulk "...)
			return append(dst, SptlrpcBulkService.Name(word>>bulkShift&policyBits)...)
		}
	}
	return dst
}

// Parts of lm_secflvr that decide what the buffers of a wrapped message are.
const (
	policyPlain = 1
	serviceNull = 0
)

var (
	bufPlainHeader = Sub("plain_header", &PlainHeader)
	bufUserDesc    = Sub("user_desc", &UserDesc)
	bufBulkDesc    = Sub("bulk_desc", &BulkSecDesc)
	bufCipher      = Opaque("cipher", 0, "the encrypted message")
	bufSignature   = Opaque("signature", 0, "proof that the message was not changed")
)

// Wrapping declares the buffers that a security policy puts around a message;
// nil stands for the message itself, and for what cannot be determined from the
// bytes that are there.
func Wrapping(flavor uint32, bufs [][]byte, big, reply, encrypted bool) []*Field {
	if flavor&0xf == policyPlain {
		return Bufs(bufPlainHeader, nil, bufUserDesc, bufBulkDesc)
	}
	var head []byte
	if len(bufs) > 0 {
		head = bufs[0]
	}
	if reply && len(head) < ghProc.Off+ghProc.Size {
		return nil
	}
	proc, flags := ghProc.Uint(head, big), GSSHeader.Field("gh_flags").Uint(head, big)
	if encrypted {
		return Bufs(gssHeaderField(proc, reply, false), sealed(flavor))
	}
	init := proc == gssProcInit || proc == gssProcCont || reply && proc == gssProcError && len(bufs) > 2
	list := Bufs(gssHeaderField(proc, reply, init), nil)
	if flags&GssHeaderFlags.Bit("USER") != 0 && !init {
		list = append(list, bufUserDesc)
	}
	if flags&GssHeaderFlags.Bit("BULK") != 0 {
		list = append(list, bufBulkDesc)
	}
	switch {
	case init && reply:
		return append(list, gssReplyToken)
	case init:
		if len(bufs) > len(list)+1 {
			list = append(list, bufUserDesc)
		}
		return append(list, bufGSSInit)
	case flavor>>8&0xf != serviceNull:
		return append(list, signature(flavor))
	}
	return list
}

// wrappingPlaces lists the buffers that Wrapping declares, and the parts of the
// tokens in them.
func wrappingPlaces() (list []Place) {
	add := func(in string, fields ...*Field) {
		for _, f := range fields {
			list = append(list, Place{Field: f, In: in})
		}
	}
	add("plain", bufPlainHeader, bufUserDesc, bufBulkDesc)
	add("gss", bufGSSHeader, bufGSSReply, bufGSSError, bufGSSInit, bufUserDesc, bufBulkDesc, gssReplyToken,
		bufCipher, bufKrb5Cipher, bufSKCipher, bufSignature, bufKrb5Signature)
	for _, part := range slices.Concat(skInitParts, skReplyParts) {
		add("token", part.Resolve().Type.Fields...)
	}
	return list
}

// sealed is the buffer of an encrypted message, by the mechanism.
func sealed(flavor uint32) *Field {
	switch flavor >> 4 & 0xf {
	case mechKrb5:
		return bufKrb5Cipher
	case mechSK:
		return bufSKCipher
	}
	return bufCipher
}

// signature is the last buffer of a message that is signed.
func signature(flavor uint32) *Field {
	if flavor>>4&0xf == mechKrb5 {
		return bufKrb5Signature
	}
	return bufSignature
}
