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
		h.Major, h.Minor = uint32(ghMajor.Uint(b, big)), uint32(ghMinor.Uint(b, big))
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
