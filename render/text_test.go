package render

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/opcodes/schema"
)

func TestWidth(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"abc", 3},
		{"\x1b[31mabc\x1b[0m", 3},
		{"äöü", 3},
		{"サーバー", 8},
		{"e\u0301a", 2},
		{"a😀b", 4},
		{"한국어", 6},
		{"\xff\xfe", 2},
	} {
		if got := Width([]byte(tt.text)); got != tt.want {
			t.Errorf("Width(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}

// TestTruncate checks that no text is wider than it may be, wherever its wide and
// combining characters are.
func TestTruncate(t *testing.T) {
	c := NewColors(false)
	for _, text := range []string{"abcdef", "サーバー", "aサbーc", "e\u0301e\u0301e\u0301", "a\u0301サ\u0301b"} {
		whole := Width([]byte(text))
		for columns := 1; columns <= whole+1; columns++ {
			for first := range len(text) + 1 {
				parts := []schema.Part{{End: first, Role: schema.Name}, {End: len(text), Role: schema.Dim}}
				if !isBoundary(text, first) {
					continue
				}
				got := string(c.AppendParts(nil, []byte(text), parts, columns, false))
				if Width([]byte(got)) > columns || columns >= whole && got != text || columns < whole && !strings.HasSuffix(got, "…") {
					t.Errorf("%q in %d columns, parts from %d: %q", text, columns, first, got)
				}
			}
		}
	}
}

// isBoundary reports whether a character begins at an index of text, or ends there.
func isBoundary(text string, i int) bool { return i == len(text) || text[i]&0xc0 != 0x80 }
