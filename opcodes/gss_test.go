package opcodes

import (
	"encoding/binary"
	"strings"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"

	"github.com/lshark/lshark/internal/assert"
)

func TestNetstrings(t *testing.T) {
	for text, want := range map[string]int{"4:abcd,": 4, "128:": 128, "0:,": 0, "1234567:": -1, ":x": -1, "12": -1, "": -1, "x4:": -1} {
		got := -1
		if isNetstring([]byte(text)) {
			got = netstringLen([]byte(text))
		}
		assert.Equal(t, got, want, text, "length")
	}
}

func TestTokenParts(t *testing.T) {
	v := &View{Rest: []byte("4:\x00\x00\x00\x01,")}
	for i, part := range skInitParts {
		v.Index = i
		got, _ := nextInitTokenPart(v)
		assert.That(t, got == part, "part %d is another one", i)
	}
	if v.Index++; v.Index != 8 {
		t.Errorf("%d parts", v.Index)
	}
	if got, _ := nextInitTokenPart(v); got != nil {
		t.Error("there is a part behind the last one")
	}
	v.Index, v.Rest = 1, []byte{0}
	if got, _ := nextReplyTokenPart(v); got != nil {
		t.Error("a NUL is a part")
	}
}

// TestWrapping holds which buffers a security policy puts around a message.
func TestWrapping(t *testing.T) {
	const plain, ski, skpi, skn, krb5i = 0x21001, 0x20222, 0x30322, 0x20022, 0x20212
	head := func(flags, proc byte) []byte {
		b := make([]byte, 44)
		b[4], b[8] = flags, proc
		return b
	}
	none := []byte{}
	for _, c := range []struct {
		name      string
		flavor    uint32
		bufs      [][]byte
		reply     bool
		encrypted bool
		want      string
	}{
		{"plain", plain, [][]byte{make([]byte, 8), none, none, none}, false, false, "plain_header - user_desc bulk_desc"},
		{"signed request", ski, [][]byte{head(2, 0), none, none, none}, false, false, "gss_header - user_desc signature"},
		{"signed bulk", ski, [][]byte{head(3, 0), none, none, none, none}, false, false, "gss_header - user_desc bulk_desc signature"},
		{"signed reply", krb5i, [][]byte{head(0, 0), none, none}, true, false, "gss_header - signature"},
		{"encrypted", skpi, [][]byte{head(2, 0), none}, false, true, "gss_header cipher"},
		{"set-up", skn, [][]byte{head(4, 1), none, none}, false, false, "gss_header - gss_ctx_init_payload"},
		{"set-up with user", skn, [][]byte{head(6, 1), none, none, none}, false, false, "gss_header - user_desc gss_ctx_init_payload"},
		{"answer to a set-up", skn, [][]byte{head(0, 4), none, none}, true, false, "gss_rep_header - token"},
		{"refusal", ski, [][]byte{head(0, 4), none}, true, false, "gss_err_header - signature"},
	} {
		var got []string
		for _, f := range Wrapping(c.flavor, c.bufs, false, c.reply, c.encrypted) {
			if f == nil {
				got = append(got, "-")
				continue
			}
			got = append(got, f.Name)
		}
		assert.Equal(t, strings.Join(got, " "), c.want, c.name)
	}
}

func TestFlavorRemark(t *testing.T) {
	for word, want := range map[uint64]string{0: "", 0x20222: "", 0x20022: "SKN, bulk INTG", 0x3000000: "NULL, no protection; sender: MGC, client of the MGS",
		0x7000000: "NULL, no protection", 0x99: ""} {
		assert.Equal(t, string(remarkFlavor(&View{Value: word}, nil)), want, word)
	}
}

func TestGSSErrors(t *testing.T) {
	for major, want := range map[uint32]string{0: "", 1: "", 0xd0000: "GSS_S_FAILURE", 0x80001: "GSS_S_NO_CONTEXT",
		0x1000000: "GSS_S_CALL_INACCESSIBLE_READ", 0x3060000: "GSS_S_BAD_SIG", 0xc80000: "GSS_S_0xc80000"} {
		errno := GSSErrno(major)
		got := GSSErrorName(errno)
		assert.That(t, got == want && errno <= 0 && errno >= -1<<15, "gh_major %#x: %d is %q, want %q", major, errno, got, want)
	}
	for _, errno := range []int32{0, -2, -116, -524, -1 << 15, 301} {
		assert.Equal(t, GSSErrorName(errno), "", errno)
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
		got := string(h.AppendError(nil))
		assert.That(t, got == want, "gh_minor %#x: %q, want %q", minor, got, want)
	}
	if h := (GSSHead{Major: 1, Minor: 5}); len(h.AppendError(nil)) != 0 {
		t.Error("a call without an error has one")
	}
}
