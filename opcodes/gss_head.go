package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// GSSHead is what the first buffer of a message under GSS says.
type GSSHead struct {
	Proc   uint32 // gh_proc
	Major  uint32 // gh_major; 0 in requests, and in replies that carry data
	Minor  uint32 // gh_minor
	Handle uint64 // gh_handle, the security context; 0 for none
}

// ReadGSSHead reads a struct gss_header, or in replies to the set-up of a
// context and in error replies a struct gss_rep_header or gss_err_header. It
// returns false when not enough of it was captured.
func ReadGSSHead(b []byte, big, reply bool) (h GSSHead, ok bool) {
	handle := GSSHeader.Field("gh_handle").Off
	if len(b) < handle {
		return h, false
	}
	h.Proc = uint32(ghProc.Uint(b, big))
	if reply && h.Proc != gssProcData {
		h.Major, h.Minor = uint32(GSSRepHeader.Field("gh_major").Uint(b, big)), uint32(GSSRepHeader.Field("gh_minor").Uint(b, big))
	}
	const lenBytes, handleBytes = 4, 8
	if at := handle + lenBytes; len(b) >= at+handleBytes && ReadUint(b[handle:at], big) == handleBytes {
		h.Handle = ReadUint(b[at:at+handleBytes], false)
	}
	return h, true
}

// EndsContext reports whether a request takes a context down.
func (h *GSSHead) EndsContext() bool { return h.Proc == gssProcDestroy }

// AppendError appends the name of a failed GSS call, with the mechanism's own
// result where it has one; nothing without an error.
func (h *GSSHead) AppendError(dst []byte) []byte {
	errno := GSSErrno(h.Major)
	if errno == 0 {
		return dst
	}
	dst = append(dst, GSSErrorName(errno)...)
	if h.Minor == 0 {
		return dst
	}
	dst = append(dst, " minor "...)
	if name := gssMinorName(h.Minor); name != "" {
		return append(dst, name...)
	}
	return AppendHex(dst, uint64(h.Minor))
}

// CreatesContext reports whether a request sets a context up.
func (h *GSSHead) CreatesContext() bool { return h.Proc == gssProcInit || h.Proc == gssProcCont }

// GSSSetup is what a client asks for when it sets a context up.
type GSSSetup struct {
	Service uint32 // kind of target, and mechanism in the high half
	Target  []byte // UUID of the target, in the message
	Reverse uint64 // context for requests from the server
}

// ReadGSSSetup reads a struct gss_ctx_init_payload. It returns false when not
// enough of it was captured.
func ReadGSSSetup(b []byte) (s GSSSetup, ok bool) {
	const fixed, word, maxUUID = 8, 4, 256
	if len(b) < fixed {
		return s, false
	}
	s.Service = uint32(ReadUint(b[:word], false))
	n := ReadUint(b[word:fixed], false)
	if n > maxUUID || len(b) < fixed+int(n) {
		return s, false
	}
	s.Target = TrimNUL(b[fixed : fixed+int(n)])
	b = b[fixed+int(n+3)&^3:]
	if len(b) >= word+8 && ReadUint(b[:word], false) == 8 {
		s.Reverse = ReadUint(b[word:word+8], false)
	}
	return s, true
}

// AppendService appends the kind of target and the mechanism.
func (s *GSSSetup) AppendService(dst []byte) []byte {
	dst = append(dst, GssTarget.Name(uint64(s.Service&0xffff))...)
	return append(append(dst, ' '), s.Mechanism()...)
}

// Mechanism returns the name of the security mechanism, such as SK or KRB5.
func (s *GSSSetup) Mechanism() string { return GssMech.Name(uint64(s.Service >> 16)) }

// A failed GSS call stands among errnos as a negative number from here on, with
// the calling error and the routine error of gh_major in the low bytes.
const gssErrno = 0x4000

// GSSErrno returns the number that stands for a gh_major among errnos, 0
// without an error.
func GSSErrno(major uint32) int32 {
	if major>>16 == 0 {
		return 0
	}
	return -int32(gssErrno | major>>16&0x3fff)
}

// GSSErrorName returns the name of a number that GSSErrno returned, empty for
// others.
func GSSErrorName(errno int32) string {
	if errno > -gssErrno || errno <= -2*gssErrno {
		return ""
	}
	major := uint64(-errno-gssErrno) << 16
	if name := GssMajor.Name(major & 0xff0000); major&0xff0000 != 0 && name != "" {
		return name
	}
	if name := GssMajor.Name(major & 0xff000000); major&0xff000000 != 0 && name != "" {
		return name
	}
	return "GSS_S_" + string(AppendHex(nil, major))
}

// krb5Base is what the Kerberos libraries add to the error codes of the
// protocol, to make them distinct from those of others.
const krb5Base = -1765328384

// krb5Errors are the error codes of the Kerberos protocol, RFC 4120 section
// 7.5.9.
var krb5Errors = [...]string{
	1: "KDC_ERR_NAME_EXP", 2: "KDC_ERR_SERVICE_EXP", 3: "KDC_ERR_BAD_PVNO", 4: "KDC_ERR_C_OLD_MAST_KVNO",
	5: "KDC_ERR_S_OLD_MAST_KVNO", 6: "KDC_ERR_C_PRINCIPAL_UNKNOWN", 7: "KDC_ERR_S_PRINCIPAL_UNKNOWN",
	8: "KDC_ERR_PRINCIPAL_NOT_UNIQUE", 9: "KDC_ERR_NULL_KEY", 10: "KDC_ERR_CANNOT_POSTDATE",
	11: "KDC_ERR_NEVER_VALID", 12: "KDC_ERR_POLICY", 13: "KDC_ERR_BADOPTION", 14: "KDC_ERR_ETYPE_NOSUPP",
	15: "KDC_ERR_SUMTYPE_NOSUPP", 16: "KDC_ERR_PADATA_TYPE_NOSUPP", 17: "KDC_ERR_TRTYPE_NOSUPP",
	18: "KDC_ERR_CLIENT_REVOKED", 19: "KDC_ERR_SERVICE_REVOKED", 20: "KDC_ERR_TGT_REVOKED",
	21: "KDC_ERR_CLIENT_NOTYET", 22: "KDC_ERR_SERVICE_NOTYET", 23: "KDC_ERR_KEY_EXPIRED",
	24: "KDC_ERR_PREAUTH_FAILED", 25: "KDC_ERR_PREAUTH_REQUIRED", 26: "KDC_ERR_SERVER_NOMATCH",
	27: "KDC_ERR_MUST_USE_USER2USER", 28: "KDC_ERR_PATH_NOT_ACCEPTED", 29: "KDC_ERR_SVC_UNAVAILABLE",
	31: "KRB_AP_ERR_BAD_INTEGRITY", 32: "KRB_AP_ERR_TKT_EXPIRED", 33: "KRB_AP_ERR_TKT_NYV",
	34: "KRB_AP_ERR_REPEAT", 35: "KRB_AP_ERR_NOT_US", 36: "KRB_AP_ERR_BADMATCH", 37: "KRB_AP_ERR_SKEW",
	38: "KRB_AP_ERR_BADADDR", 39: "KRB_AP_ERR_BADVERSION", 40: "KRB_AP_ERR_MSG_TYPE",
	41: "KRB_AP_ERR_MODIFIED", 42: "KRB_AP_ERR_BADORDER", 44: "KRB_AP_ERR_BADKEYVER", 45: "KRB_AP_ERR_NOKEY",
	46: "KRB_AP_ERR_MUT_FAIL", 47: "KRB_AP_ERR_BADDIRECTION", 48: "KRB_AP_ERR_METHOD", 49: "KRB_AP_ERR_BADSEQ",
	50: "KRB_AP_ERR_INAPP_CKSUM", 51: "KRB_AP_PATH_NOT_ACCEPTED", 52: "KRB_ERR_RESPONSE_TOO_BIG",
	60: "KRB_ERR_GENERIC", 61: "KRB_ERR_FIELD_TOOLONG",
}

// gssMinorName returns the name of a gh_minor, empty for a number whose meaning
// only the mechanism knows. A negative errno is from the kernel.
func gssMinorName(minor uint32) string {
	const maxErrno = 4095
	n := int64(int32(minor))
	switch {
	case n < 0 && n >= -maxErrno:
		return Errnos.Name(uint64(-n))
	case n > krb5Base && n-krb5Base < int64(len(krb5Errors)):
		return krb5Errors[n-krb5Base]
	}
	return ""
}
