package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// SptlrpcPolicy is the group sptlrpc_policy.
var SptlrpcPolicy = Enum("sptlrpc_policy", "SPTLRPC_POLICY_", "security policy, bits 0-3 of a flavour", []Value{
	{Name: "NULL", Value: 0x0, Doc: "no protection"},
	{Name: "PLAIN", Value: 0x1, Doc: "a user descriptor and a hash over bulk data, no authentication"},
	{Name: "GSS", Value: 0x2, Doc: "authenticated by a GSS mechanism"},
	{Name: "MAX", Value: 0x3, Doc: "number of policies"},
})

// SptlrpcMechGss is the group sptlrpc_mech_gss.
var SptlrpcMechGss = Enum("sptlrpc_mech_gss", "SPTLRPC_MECH_GSS_", "GSS mechanism, bits 4-7 of a flavour", []Value{
	{Name: "NULL", Value: 0x0, Doc: "no protection, for tests"},
	{Name: "KRB5", Value: 0x1, Doc: "Kerberos 5"},
	{Name: "SK", Value: 0x2, Doc: "shared key"},
	{Name: "MAX", Value: 0x3, Doc: "number of mechanisms"},
})

// SptlrpcService is the group sptlrpc_service.
var SptlrpcService = Enum("sptlrpc_service", "SPTLRPC_SVC_", "how messages are protected, bits 8-11 of a flavour", []Value{
	{Name: "NULL", Value: 0x0, Doc: "no protection"},
	{Name: "AUTH", Value: 0x1, Doc: "the header is signed"},
	{Name: "INTG", Value: 0x2, Doc: "the whole message is signed"},
	{Name: "PRIV", Value: 0x3, Doc: "the message is encrypted"},
	{Name: "MAX", Value: 0x4, Doc: "number of services"},
})

// SptlrpcBulkType is the group sptlrpc_bulk_type.
var SptlrpcBulkType = Enum("sptlrpc_bulk_type", "SPTLRPC_BULK_", "how bulk data are protected under the plain policy, bits 12-15 of a flavour", []Value{
	{Name: "DEFAULT", Value: 0x0, Doc: "as the policy does it"},
	{Name: "HASH", Value: 0x1, Doc: "by a hash that the plain policy computes"},
	{Name: "MAX", Value: 0x2, Doc: "number of types"},
})

// SptlrpcBulkService is the group sptlrpc_bulk_service.
var SptlrpcBulkService = Enum("sptlrpc_bulk_service", "SPTLRPC_BULK_SVC_", "how bulk data are protected, bits 16-19 of a flavour", []Value{
	{Name: "NULL", Value: 0x0, Doc: "no protection"},
	{Name: "AUTH", Value: 0x1, Doc: "authenticated"},
	{Name: "INTG", Value: 0x2, Doc: "signed"},
	{Name: "PRIV", Value: 0x3, Doc: "encrypted"},
	{Name: "MAX", Value: 0x4, Doc: "number of services"},
})

// SptlrpcFlavor is the group sptlrpc_flavor.
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

// SptlrpcSubflavor is the group sptlrpc_subflavor.
var SptlrpcSubflavor = Enum("sptlrpc_subflavor", "SPTLRPC_SUBFLVR_", "GSS mechanism and service, the part of a flavour that GSS itself knows", []Value{
	{Name: "GSSNULL", Value: 0x0, Doc: "no protection"},
	{Name: "KRB5N", Value: 0x1, Doc: "Kerberos, no service"},
	{Name: "SKN", Value: 0x2, Doc: "shared key, no service"},
	{Name: "KRB5A", Value: 0x11, Doc: "Kerberos, headers signed"},
	{Name: "SKA", Value: 0x12, Doc: "shared key, headers signed"},
	{Name: "KRB5I", Value: 0x21, Doc: "Kerberos, messages signed"},
	{Name: "SKI", Value: 0x22, Doc: "shared key, messages signed"},
	{Name: "KRB5P", Value: 0x31, Doc: "Kerberos, encrypted"},
	{Name: "SKPI", Value: 0x32, Doc: "shared key, encrypted"},
})

// SptlrpcFlavorShift is the group sptlrpc_flavor_shift.
var SptlrpcFlavorShift = Enum("sptlrpc_flavor_shift", "FLVR_", "where the parts of a flavour begin, in bits", []Value{
	{Name: "POLICY_OFFSET", Value: 0x0},
	{Name: "MECH_OFFSET", Value: 0x4},
	{Name: "SVC_OFFSET", Value: 0x8},
	{Name: "BULK_TYPE_OFFSET", Value: 0xc},
	{Name: "BULK_SVC_OFFSET", Value: 0x10},
})

// SptlrpcBulkHash is the group sptlrpc_bulk_hash.
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

// SptlrpcBsdFlags is the group sptlrpc_bsd_flags.
var SptlrpcBsdFlags = Bits("sptlrpc_bsd_flags", "", "flags of a bulk descriptor", []Value{
	{Name: "BSD_FL_ERR", Value: 0x1, Doc: "the server failed to protect or check the data"},
})

// SptlrpcPlain is the group sptlrpc_plain.
var SptlrpcPlain = Enum("sptlrpc_plain", "PLAIN_", "flags and buffer numbers of the plain policy", []Value{
	{Name: "PACK_HDR_OFF", Value: 0x0},
	{Name: "PACK_MSG_OFF", Value: 0x1},
	{Name: "FL_USER", Value: 0x1, Alias: true},
	{Name: "FL_BULK", Value: 0x2},
	{Name: "PACK_USER_OFF", Value: 0x2, Alias: true},
	{Name: "PACK_BULK_OFF", Value: 0x3},
	{Name: "PACK_SEGMENTS", Value: 0x4},
})

// SptlrpcSecPart is the group sptlrpc_sec_part.
var SptlrpcSecPart = Enum("sptlrpc_sec_part", "LUSTRE_SP_", "kind of node", []Value{
	{Name: "CLI", Value: 0x0, Doc: "client"},
	{Name: "MDT", Value: 0x1, Doc: "metadata target"},
	{Name: "OST", Value: 0x2, Doc: "object storage target"},
	{Name: "MGC", Value: 0x3, Doc: "client of the MGS"},
	{Name: "MGS", Value: 0x4, Doc: "management server"},
	{Name: "ANY", Value: 0xff, Doc: "any"},
})

// GssProc is the group gss_proc.
var GssProc = Enum("gss_proc", "PTLRPC_GSS_PROC_", "what a message does in its security context", []Value{
	{Name: "DATA", Value: 0x0, Doc: "carries an RPC"},
	{Name: "INIT", Value: 0x1, Doc: "begins to set a context up"},
	{Name: "CONTINUE_INIT", Value: 0x2, Doc: "goes on with the set-up"},
	{Name: "DESTROY", Value: 0x3, Doc: "takes the context down"},
	{Name: "ERR", Value: 0x4, Doc: "refusal, or answer to a set-up"},
})

// GssTarget is the group gss_target.
var GssTarget = Enum("gss_target", "LUSTRE_GSS_TGT_", "kind of target that a security context is for", []Value{
	{Name: "MGS", Value: 0x0, Doc: "management server"},
	{Name: "MDS", Value: 0x1, Doc: "metadata server"},
	{Name: "OSS", Value: 0x2, Doc: "object storage server"},
})

// GssHeaderFlags is the group gss_header_flags.
var GssHeaderFlags = Bits("gss_header_flags", "LUSTRE_GSS_PACK_", "what a message under GSS carries besides itself", []Value{
	{Name: "BULK", Value: 0x1, Doc: "a bulk descriptor"},
	{Name: "USER", Value: 0x2, Doc: "a user descriptor"},
	{Name: "KCSUM", Value: 0x4, Doc: "the mechanism computes checksums over bulk pages in the kernel"},
})

// GssKrb5 is the group gss_krb5.
var GssKrb5 = Enum("gss_krb5", "KG_", "Kerberos key usages and kinds of token", []Value{
	{Name: "USAGE_ACCEPTOR_SEAL", Value: 0x16, Doc: "key usage: server encrypts"},
	{Name: "USAGE_ACCEPTOR_SIGN", Value: 0x17, Doc: "key usage: server signs"},
	{Name: "USAGE_INITIATOR_SEAL", Value: 0x18, Doc: "key usage: client encrypts"},
	{Name: "USAGE_INITIATOR_SIGN", Value: 0x19, Doc: "key usage: client signs"},
	{Name: "TOK_MIC_MSG", Value: 0x404, Doc: "token with a signature"},
	{Name: "TOK_WRAP_MSG", Value: 0x504, Doc: "token with encrypted data"},
})

// GssSk is the group gss_sk.
var GssSk = Enum("gss_sk", "SK_", "limits and algorithms of the shared-key mechanism", []Value{
	{Name: "MSG_VERSION", Value: 0x1, Doc: "version of the header"},
	{Name: "INTERFACE_VERSION", Value: 0x1, Alias: true},
	{Name: "MIN_SIZE", Value: 0x8, Doc: "shortest token"},
	{Name: "IV_SIZE", Value: 0x10, Doc: "bytes of an initialisation vector"},
	{Name: "MAX_KEYLEN_BYTES", Value: 0x80, Since: "2.18", Doc: "longest key"},
	{Name: "MAX_P_BYTES", Value: 0x800, Since: "2.18", Doc: "longest modulus"},
	{Name: "CRYPT_EMPTY", Value: 0x0, Doc: "no cipher"},
	{Name: "CRYPT_AES256_CTR", Value: 0x1, Doc: "AES-256 in counter mode", Alias: true},
	{Name: "CRYPT_INVALID", Value: 0xffff, Doc: "value changed: <=2.12=0xffffffffffffffff, 2.15=0xffffffffffffffff, 2.16=0xffff, 2.17=0xffff, 2.18=0xffff"},
	{Name: "HMAC_EMPTY", Value: 0x0, Doc: "no HMAC", Alias: true},
	{Name: "HMAC_SHA256", Value: 0x1, Doc: "HMAC with SHA-256", Alias: true},
	{Name: "HMAC_SHA512", Value: 0x2, Doc: "HMAC with SHA-512"},
	{Name: "HMAC_INVALID", Value: 0xffff, Doc: "value changed: <=2.12=0xffffffffffffffff, 2.15=0xffffffffffffffff, 2.16=0xffff, 2.17=0xffff, 2.18=0xffff", Alias: true},
})

// SecFlavorWire is the group sec_flavor_wire.
var SecFlavorWire = Enum("sec_flavor_wire", "", "parts of lm_secflvr", []Value{
	{Name: "WIRE_FLVR_MASK", Value: 0xfffff, Doc: "low 20 bits of lm_secflvr are the flavour; bits 24-31 carry the sender part under the null policy"},
})

// PlainFlags are the flags among the numbers of sptlrpc_plain.
var PlainFlags = Bits("plain_flags", "PLAIN_FL_", "what a message under the plain policy carries besides itself", []Value{
	{Name: "USER", Value: 0x1, Doc: "a user descriptor"},
	{Name: "BULK", Value: 0x2, Doc: "a bulk descriptor"},
})
