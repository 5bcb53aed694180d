package protobuf

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/internal/assert"
)

// TestBytes compares fields with their encodings by protoc.
func TestBytes(t *testing.T) {
	long, start := Begin(nil, 3)
	long = End(AppendString(long, 1, strings.Repeat("x", 200)), start)
	for _, c := range []struct {
		name      string
		got, want []byte
	}{
		{"uint", AppendUint(nil, 1, 300), []byte{0x08, 0xac, 0x02}},
		{"sint", AppendSint(nil, 2, -3), []byte{0x10, 0x05}},
		{"fixed64", AppendFixed64(nil, 1, 2), []byte{0x09, 2, 0, 0, 0, 0, 0, 0, 0}},
		{"fixed32", AppendFixed32(nil, 16, 2), []byte{0x85, 0x01, 2, 0, 0, 0}},
		{"double", AppendDouble(nil, 1, 1), []byte{0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{"bytes", AppendBytes(nil, 1, []byte{0xff}), []byte{0x0a, 1, 0xff}},
		{"string", AppendString(nil, 1, "a\xff"), []byte("\x0a\x05a\\xff")},
		{"message", long, append([]byte{0x1a, 0xcb, 0x01, 0x0a, 0xc8, 0x01}, strings.Repeat("x", 200)...)},
	} {
		assert.That(t, bytes.Equal(c.got, c.want), "%s: %x, want %x", c.name, c.got, c.want)
	}
}

// FuzzString checks that strings are read as they were written, and become valid UTF-8.
func FuzzString(f *testing.F) {
	f.Add("plain")
	f.Add("ü\xffx")
	f.Add("\xf0\x9f\x98")
	f.Fuzz(func(t *testing.T, text string) {
		found, _, ok, err := Find(AppendString(nil, 1, text), 1)
		if err != nil || !ok || !utf8.Valid(found) || utf8.ValidString(text) && string(found) != text {
			t.Errorf("%q became %q", text, found)
		}
	})
}
