package opcodes

// SptlrpcPolicy is the group sptlrpc_policy.
var SptlrpcPolicy = Enum("sptlrpc_policy", "SPTLRPC_POLICY_", "", []Value{
	{Name: "NULL", Value: 0x0, Doc: "low 4 bits of flavour"},
	{Name: "PLAIN", Value: 0x1},
	{Name: "GSS", Value: 0x2},
	{Name: "MAX", Value: 0x3},
})

// SptlrpcMechGss is the group sptlrpc_mech_gss.
var SptlrpcMechGss = Enum("sptlrpc_mech_gss", "SPTLRPC_MECH_GSS_", "", []Value{
	{Name: "NULL", Value: 0x0},
	{Name: "KRB5", Value: 0x1},
	{Name: "SK", Value: 0x2},
	{Name: "MAX", Value: 0x3},
})

// SptlrpcService is the group sptlrpc_service.
var SptlrpcService = Enum("sptlrpc_service", "SPTLRPC_SVC_", "", []Value{
	{Name: "NULL", Value: 0x0},
	{Name: "AUTH", Value: 0x1},
	{Name: "INTG", Value: 0x2},
	{Name: "PRIV", Value: 0x3},
	{Name: "MAX", Value: 0x4},
})

// SptlrpcBulkType is the group sptlrpc_bulk_type.
var SptlrpcBulkType = Enum("sptlrpc_bulk_type", "SPTLRPC_BULK_", "", []Value{
	{Name: "DEFAULT", Value: 0x0},
	{Name: "HASH", Value: 0x1},
	{Name: "MAX", Value: 0x2},
})

// SptlrpcBulkService is the group sptlrpc_bulk_service.
var SptlrpcBulkService = Enum("sptlrpc_bulk_service", "SPTLRPC_BULK_SVC_", "", []Value{
	{Name: "NULL", Value: 0x0},
	{Name: "AUTH", Value: 0x1},
	{Name: "INTG", Value: 0x2},
	{Name: "PRIV", Value: 0x3},
	{Name: "MAX", Value: 0x4},
})

// SptlrpcFlavor is the group sptlrpc_flavor.
var SptlrpcFlavor = Enum("sptlrpc_flavor", "SPTLRPC_FLVR_", "", []Value{
	{Name: "NULL", Value: 0x0},
	{Name: "DEFAULT", Value: 0x0, Alias: true},
	{Name: "GSSNULL", Value: 0x2},
	{Name: "KRB5N", Value: 0x12},
	{Name: "SKN", Value: 0x22},
	{Name: "KRB5A", Value: 0x112},
	{Name: "SKA", Value: 0x122},
	{Name: "KRB5I", Value: 0x20212},
	{Name: "SKI", Value: 0x20222},
	{Name: "PLAIN", Value: 0x21001},
	{Name: "KRB5P", Value: 0x30312},
	{Name: "SKPI", Value: 0x30322},
	{Name: "ANY", Value: 0xfff00000},
	{Name: "INVALID", Value: 0xffffffff},
})

// SptlrpcSubflavor is the group sptlrpc_subflavor.
var SptlrpcSubflavor = Enum("sptlrpc_subflavor", "SPTLRPC_SUBFLVR_", "", []Value{
	{Name: "GSSNULL", Value: 0x0},
	{Name: "KRB5N", Value: 0x1},
	{Name: "SKN", Value: 0x2},
	{Name: "KRB5A", Value: 0x11},
	{Name: "SKA", Value: 0x12},
	{Name: "KRB5I", Value: 0x21},
	{Name: "SKI", Value: 0x22},
	{Name: "KRB5P", Value: 0x31},
	{Name: "SKPI", Value: 0x32},
})

// SptlrpcFlavorShift is the group sptlrpc_flavor_shift.
var SptlrpcFlavorShift = Enum("sptlrpc_flavor_shift", "FLVR_", "", []Value{
	{Name: "POLICY_OFFSET", Value: 0x0},
	{Name: "MECH_OFFSET", Value: 0x4},
	{Name: "SVC_OFFSET", Value: 0x8},
	{Name: "BULK_TYPE_OFFSET", Value: 0xc},
	{Name: "BULK_SVC_OFFSET", Value: 0x10},
})

// SptlrpcBulkHash is the group sptlrpc_bulk_hash.
var SptlrpcBulkHash = Enum("sptlrpc_bulk_hash", "BULK_HASH_ALG_", "", []Value{
	{Name: "NULL", Value: 0x0},
	{Name: "ADLER32", Value: 0x1},
	{Name: "CRC32", Value: 0x2},
	{Name: "MD5", Value: 0x3},
	{Name: "SHA1", Value: 0x4},
	{Name: "SHA256", Value: 0x5},
	{Name: "SHA384", Value: 0x6},
	{Name: "SHA512", Value: 0x7},
	{Name: "MAX", Value: 0x8},
})

// SptlrpcBsdFlags is the group sptlrpc_bsd_flags.
var SptlrpcBsdFlags = Bits("sptlrpc_bsd_flags", "", "", []Value{
	{Name: "BSD_FL_ERR", Value: 0x1, Doc: "bulk token: server hit an error"},
})

// SptlrpcPlain is the group sptlrpc_plain.
var SptlrpcPlain = Enum("sptlrpc_plain", "PLAIN_", "", []Value{
	{Name: "PACK_HDR_OFF", Value: 0x0},
	{Name: "PACK_MSG_OFF", Value: 0x1},
	{Name: "FL_USER", Value: 0x1, Alias: true},
	{Name: "FL_BULK", Value: 0x2},
	{Name: "PACK_USER_OFF", Value: 0x2, Alias: true},
	{Name: "PACK_BULK_OFF", Value: 0x3},
	{Name: "PACK_SEGMENTS", Value: 0x4},
})

// SptlrpcSecPart is the group sptlrpc_sec_part.
var SptlrpcSecPart = Enum("sptlrpc_sec_part", "LUSTRE_SP_", "", []Value{
	{Name: "CLI", Value: 0x0},
	{Name: "MDT", Value: 0x1},
	{Name: "OST", Value: 0x2},
	{Name: "MGC", Value: 0x3},
	{Name: "MGS", Value: 0x4},
	{Name: "ANY", Value: 0xff},
})

// GssProc is the group gss_proc.
var GssProc = Enum("gss_proc", "PTLRPC_GSS_PROC_", "", []Value{
	{Name: "DATA", Value: 0x0},
	{Name: "INIT", Value: 0x1},
	{Name: "CONTINUE_INIT", Value: 0x2},
	{Name: "DESTROY", Value: 0x3},
	{Name: "ERR", Value: 0x4},
})

// GssTarget is the group gss_target.
var GssTarget = Enum("gss_target", "LUSTRE_GSS_TGT_", "", []Value{
	{Name: "MGS", Value: 0x0},
	{Name: "MDS", Value: 0x1},
	{Name: "OSS", Value: 0x2},
})

// GssHeaderFlags is the group gss_header_flags.
var GssHeaderFlags = Bits("gss_header_flags", "LUSTRE_GSS_PACK_", "", []Value{
	{Name: "BULK", Value: 0x1},
	{Name: "USER", Value: 0x2},
	{Name: "KCSUM", Value: 0x4},
})

// GssKrb5 is the group gss_krb5.
var GssKrb5 = Enum("gss_krb5", "KG_", "", []Value{
	{Name: "USAGE_ACCEPTOR_SEAL", Value: 0x16},
	{Name: "USAGE_ACCEPTOR_SIGN", Value: 0x17},
	{Name: "USAGE_INITIATOR_SEAL", Value: 0x18},
	{Name: "USAGE_INITIATOR_SIGN", Value: 0x19},
	{Name: "TOK_MIC_MSG", Value: 0x404},
	{Name: "TOK_WRAP_MSG", Value: 0x504},
})

// GssSk is the group gss_sk.
var GssSk = Enum("gss_sk", "SK_", "", []Value{
	{Name: "MSG_VERSION", Value: 0x1},
	{Name: "INTERFACE_VERSION", Value: 0x1, Alias: true},
	{Name: "MIN_SIZE", Value: 0x8},
	{Name: "IV_SIZE", Value: 0x10},
	{Name: "MAX_KEYLEN_BYTES", Value: 0x80, Since: "2.18"},
	{Name: "MAX_P_BYTES", Value: 0x800, Since: "2.18"},
	{Name: "CRYPT_EMPTY", Value: 0x0},
	{Name: "CRYPT_AES256_CTR", Value: 0x1, Alias: true},
	{Name: "CRYPT_INVALID", Value: 0xffff, Doc: "value changed: <=2.12=0xffffffffffffffff, 2.15=0xffffffffffffffff, 2.16=0xffff, 2.17=0xffff, 2.18=0xffff"},
	{Name: "HMAC_EMPTY", Value: 0x0, Alias: true},
	{Name: "HMAC_SHA256", Value: 0x1, Alias: true},
	{Name: "HMAC_SHA512", Value: 0x2},
	{Name: "HMAC_INVALID", Value: 0xffff, Doc: "value changed: <=2.12=0xffffffffffffffff, 2.15=0xffffffffffffffff, 2.16=0xffff, 2.17=0xffff, 2.18=0xffff", Alias: true},
})

// SecFlavorWire is the group sec_flavor_wire.
var SecFlavorWire = Enum("sec_flavor_wire", "", "", []Value{
	{Name: "WIRE_FLVR_MASK", Value: 0xfffff, Doc: "low 20 bits of lm_secflvr are the flavour; bits 24-31 carry the sender part under the null policy"},
})
