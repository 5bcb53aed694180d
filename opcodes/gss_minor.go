package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

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
