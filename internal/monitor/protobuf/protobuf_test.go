package protobuf_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/monitor/protobuf"
)

// TestBytes compares fields with their encodings by protoc.
func TestBytes(t *testing.T) {
	long, start := protobuf.Begin(nil, 3)
	long = protobuf.End(protobuf.AppendString(long, 1, strings.Repeat("x", 200)), start)
	for _, c := range []struct {
		name      string
		got, want []byte
	}{
		{"uint", protobuf.AppendUint(nil, 1, 300), []byte{0x08, 0xac, 0x02}},
		{"sint", protobuf.AppendSint(nil, 2, -3), []byte{0x10, 0x05}},
		{"fixed64", protobuf.AppendFixed64(nil, 1, 2), []byte{0x09, 2, 0, 0, 0, 0, 0, 0, 0}},
		{"fixed32", protobuf.AppendFixed32(nil, 16, 2), []byte{0x85, 0x01, 2, 0, 0, 0}},
		{"double", protobuf.AppendDouble(nil, 1, 1), []byte{0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{"bytes", protobuf.AppendBytes(nil, 1, []byte{0xff}), []byte{0x0a, 1, 0xff}},
		{"string", protobuf.AppendString(nil, 1, "a\xff"), []byte("\x0a\x05a\\xff")},
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
		found, _ := protobuf.Find(protobuf.AppendString(nil, 1, text), 1)
		if !utf8.Valid(found) || utf8.ValidString(text) && string(found) != text {
			t.Errorf("%q became %q", text, found)
		}
	})
}
