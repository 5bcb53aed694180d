package opcodes

import (
	"encoding/binary"
	"testing"
)

func TestGSSErrors(t *testing.T) {
	for major, want := range map[uint32]string{0: "", 1: "", 0xd0000: "GSS_S_FAILURE", 0x80001: "GSS_S_NO_CONTEXT",
		0x1000000: "GSS_S_CALL_INACCESSIBLE_READ", 0x3060000: "GSS_S_BAD_SIG", 0xc80000: "GSS_S_0xc80000"} {
		errno := GSSErrno(major)
		if got := GSSErrorName(errno); got != want || errno > 0 || errno < -1<<15 {
			t.Errorf("gh_major %#x: %d is %q, want %q", major, errno, got, want)
		}
	}
	for _, errno := range []int32{0, -2, -116, -524, -1 << 15, 301} {
		if got := GSSErrorName(errno); got != "" {
			t.Errorf("%d is %q", errno, got)
		}
	}
}

func TestReadGSSSetup(t *testing.T) {
	const target = "lustre-MDT0000_UUID\x00"
	b := binary.LittleEndian.AppendUint32(nil, 0x20001)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(target)))
	b = append(b, target...)
	b = binary.LittleEndian.AppendUint32(b, 8)
	b = binary.LittleEndian.AppendUint64(b, 0xc0de)
	s, ok := ReadGSSSetup(b)
	if !ok || string(s.Target) != target[:len(target)-1] || s.Reverse != 0xc0de || string(s.AppendService(nil)) != "MDS SK" {
		t.Errorf("got %+v %v", s, ok)
	}
	for n := range 8 + len(target) {
		if _, ok := ReadGSSSetup(b[:n]); ok {
			t.Errorf("%d bytes are enough", n)
		}
	}
}

func TestGSSMinor(t *testing.T) {
	for minor, want := range map[uint32]string{
		0:          "GSS_S_FAILURE",
		0xffffff92: "GSS_S_FAILURE minor ETIMEDOUT",       // -110, of the kernel
		0x96c73a25: "GSS_S_FAILURE minor KRB_AP_ERR_SKEW", // -1765328347
		0x96c73a3d: "GSS_S_FAILURE minor KRB_ERR_FIELD_TOOLONG",
		0x96c73a00: "GSS_S_FAILURE minor 0x96c73a00", // no error of Kerberos
		0x96c73a3e: "GSS_S_FAILURE minor 0x96c73a3e",
		13:         "GSS_S_FAILURE minor 0xd", // an errno or a number of the mechanism
		0x25ea100:  "GSS_S_FAILURE minor 0x25ea100",
	} {
		h := GSSHead{Major: 0xd0000, Minor: minor}
		if got := string(h.AppendError(nil)); got != want {
			t.Errorf("gh_minor %#x: %q, want %q", minor, got, want)
		}
	}
	if h := (GSSHead{Major: 1, Minor: 5}); len(h.AppendError(nil)) != 0 {
		t.Error("a call without an error has one")
	}
}
