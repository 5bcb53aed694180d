package schema_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestEscapes: nothing that a terminal acts upon gets through.
func TestEscapes(t *testing.T) {
	for _, c := range []struct{ wire, text, json string }{
		{"plain name", "plain name", `"plain name"`},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `"\u001b[31mred\u001b[0m"`},
		{"a\nb\tc\r", `a\x0ab\x09c\x0d`, `"a\u000ab\u0009c\u000d"`},
		{"bell\a", `bell\x07`, `"bell\u0007"`},
		{"\x7f", `\x7f`, `"\u007f"`},
		{"\u009b31m", `\xc2\x9b31m`, `"\u009b31m"`},
		{"\u202egnp.exe", `\xe2\x80\xaegnp.exe`, `"\u202egnp.exe"`},
		{"naïve — 日本", "naïve — 日本", `"naïve — 日本"`},
		{"bad\xff\xc3", `bad\xff\xc3`, `"bad\\xff\\xc3"`},
		{`C:\dir`, `C:\dir`, `"C:\\dir"`},
		{`\xff`, `\x5cxff`, `"\\x5cxff"`},
		{`say "hi"`, `say "hi"`, `"say \"hi\""`},
		{"", "", `""`},
	} {
		assert.Equal(t, string(schema.AppendText(nil, []byte(c.wire))), c.text, "text", c.wire)
		assert.Equal(t, string(schema.AppendJSONString(nil, []byte(c.wire))), c.json, "JSON", c.wire)
	}
}

var escaped = regexp.MustCompile(`\\x[0-9a-f]{2}`)

func unescape(b []byte) []byte {
	return escaped.ReplaceAllFunc(b, func(m []byte) []byte {
		c, err := hex.DecodeString(string(m[2:]))
		if err != nil {
			panic(err) // the expression allows nothing else
		}
		return c
	})
}

// TestBytesComeBack: escapes can be undone, whatever was on the wire.
func TestBytesComeBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	alphabet := []byte("\\x5cfab\xff\xc3\xa9\x1b\"n0 ")
	for range 2000 {
		wire := make([]byte, rnd.IntN(12))
		for i := range wire {
			wire[i] = alphabet[rnd.IntN(len(alphabet))]
		}
		text := schema.AppendText(nil, wire)
		must.That(t, bytes.Equal(unescape(text), wire), "%q became %s", wire, text)
		object := schema.AppendJSONString(nil, wire)
		var s string
		if err := json.Unmarshal(object, &s); err != nil || !utf8.Valid(object) {
			t.Fatalf("%q became %s: %v", wire, object, err)
		}
		must.That(t, bytes.Equal(unescape([]byte(s)), wire), "%q became %s", wire, object)
	}
}

// TestLabelsAreEscaped: names come from strangers, and a line goes to a terminal.
func TestLabelsAreEscaped(t *testing.T) {
	for wire, want := range map[string]string{
		"plain":               "plain",
		"a\u202egpj":          `a\xe2\x80\xaegpj`,
		"\u2066x\u2028\ufeff": `\xe2\x81\xa6x\xe2\x80\xa8\xef\xbb\xbf`,
		"\x1b[31m\u009b":      `\x1b[31m\xc2\x9b`,
		"\xff\\xff":           `\xff\x5cxff`,
		"é":                   "é",
		"up to NUL\x00no":     "up to NUL",
	} {
		var l schema.Line
		l.Label(schema.Name, []byte(wire))
		assert.Equal(t, string(l.Text), want, wire)
	}
	l := schema.PlainLine(nil)
	l.Label(schema.Name, []byte("\u202e"))
	assert.Equal(t, string(l.Text), "\u202e", "text for a renderer is escaped twice")
}

func TestNearest(t *testing.T) {
	names := []string{"lu_fid", "lustre_fid", "mbo_size", "mbo_valid", "mbo_nlink", "obd_connect_flags", "obd_connect_data", "V1", "V2", "ACL", "DEL",
		"IT_GETATTR", "MDS_GETATTR", "LDLM_ENQUEUE", "RQF_LDLM_ENQUEUE", "latency", "LCK_PR", "layout_intent"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"lu_fd", []string{"lu_fid"}},
		{"obdconnectflags", []string{"obd_connect_flags"}},
		{"obd_conect_flags", []string{"obd_connect_flags"}},
		{"mbo_siz", []string{"mbo_size"}},
		{"latenci", []string{"latency"}},
		{"MDS_GETATR", []string{"MDS_GETATTR"}},
		{"intent_layout", []string{"layout_intent"}},
		{"LVB", nil},
		{"zzzzzzzz", nil},
		{"", nil},
	} {
		assert.Slice(t, schema.Nearest(c.name, names, 2), c.want, c.name)
	}
}
