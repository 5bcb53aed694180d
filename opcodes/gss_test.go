package opcodes

import (
	"strings"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"
)

func TestNetstrings(t *testing.T) {
	for text, want := range map[string]int{"4:abcd,": 4, "128:": 128, "0:,": 0, "1234567:": -1, ":x": -1, "12": -1, "": -1, "x4:": -1} {
		got := -1
		if isNetstring([]byte(text)) {
			got = netstringLen([]byte(text))
		}
		if got != want {
			t.Errorf("%q: length %d, not %d", text, got, want)
		}
	}
}

func TestTokenParts(t *testing.T) {
	v := &View{Rest: []byte("4:\x00\x00\x00\x01,")}
	for i, part := range skInitParts {
		v.Index = i
		if got, _ := nextInitTokenPart(v); got != part {
			t.Errorf("part %d is another one", i)
		}
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
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, not %s", c.name, text, c.want)
		}
	}
}

func TestFlavorRemark(t *testing.T) {
	for word, want := range map[uint32]string{0: "", 0x20222: "", 0x20022: "SKN, bulk INTG", 0x3000000: "NULL, no protection; sender: MGC, client of the MGS",
		0x7000000: "NULL, no protection", 0x99: ""} {
		raw := []byte{byte(word), byte(word >> 8), byte(word >> 16), byte(word >> 24)}
		if got := string(remarkFlavor(&View{Rest: raw}, nil)); got != want {
			t.Errorf("%#x: %q, not %q", word, got, want)
		}
	}
}
