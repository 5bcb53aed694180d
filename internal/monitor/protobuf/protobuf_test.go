package protobuf_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/monitor/protobuf"
)

// TestBytes compares fields with their encodings by protoc, and with the JSON mapping.
func TestBytes(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct {
		name   string
		append func(*protobuf.Encoder)
		want   []byte
		json   string
	}{
		{"uint", func(e *protobuf.Encoder) { e.Uint(1, "a", 300) }, []byte{0x08, 0xac, 0x02}, `{"a":300}`},
		{"int", func(e *protobuf.Encoder) { e.Int(1, "a", -1) }, []byte{0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, `{"a":"-1"}`},
		{"sint", func(e *protobuf.Encoder) { e.Sint(2, -3) }, []byte{0x10, 0x05}, ""},
		{"fixed64", func(e *protobuf.Encoder) { e.Fixed64(1, "a", 2) }, []byte{0x09, 2, 0, 0, 0, 0, 0, 0, 0}, `{"a":"2"}`},
		{"large fixed64", func(e *protobuf.Encoder) { e.Fixed64(1, "a", 1<<63) }, []byte{0x09, 0, 0, 0, 0, 0, 0, 0, 0x80}, `{"a":"9223372036854775808"}`},
		{"fixed32", func(e *protobuf.Encoder) { e.Fixed32(16, "a", 2) }, []byte{0x85, 0x01, 2, 0, 0, 0}, `{"a":2}`},
		{"double", func(e *protobuf.Encoder) { e.Double(1, "a", 1) }, []byte{0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, `{"a":1}`},
		{"bytes", func(e *protobuf.Encoder) { e.Bytes(1, "a", []byte{0xff}) }, []byte{0x0a, 1, 0xff}, `{"a":"ff"}`},
		{"string", func(e *protobuf.Encoder) { e.String(1, "a", "a\xff") }, []byte("\x0a\x05a\\xff"), `{"a":"a\ufffd"}`},
		{"message", func(e *protobuf.Encoder) { e.Message(3, "a", func() { e.String(1, "b", long) }) },
			append([]byte{0x1a, 0xcb, 0x01, 0x0a, 0xc8, 0x01}, long...), `{"a":{"b":"` + long + `"}}`},
		{"list", func(e *protobuf.Encoder) {
			e.Uint(1, "a", 0)
			e.List("b", func() {
				e.Message(2, "", func() { e.Uint(1, "c", 0) })
				e.Message(2, "", func() {})
			})
		}, []byte{0x08, 0, 0x12, 2, 0x08, 0, 0x12, 0}, `{"a":0,"b":[{"c":0},{}]}`},
	} {
		var e protobuf.Encoder
		c.append(&e)
		assert.That(t, bytes.Equal(e.Buf, c.want), "%s: %x, want %x", c.name, e.Buf, c.want)
		if c.json != "" {
			j := protobuf.NewJSON(nil)
			c.append(&j)
			assert.Equal(t, string(j.Buf)+"}", c.json, c.name)
		}
	}
}

// FuzzString checks that strings are read as they were written, and become valid UTF-8.
func FuzzString(f *testing.F) {
	f.Add("plain")
	f.Add("ü\xffx")
	f.Add("\xf0\x9f\x98")
	f.Fuzz(func(t *testing.T, text string) {
		var e protobuf.Encoder
		e.String(1, "a", text)
		found, _ := protobuf.Find(e.Buf, 1)
		if !utf8.Valid(found) || utf8.ValidString(text) && string(found) != text {
			t.Errorf("%q became %q", text, found)
		}
	})
}
