package render

import (
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestWrap: lines are broken at spaces and behind FIDs, words only where they are longer than a line.
func TestWrap(t *testing.T) {
	const path = "[0x200000401:0x1:0x0]/name"
	for _, c := range []struct {
		before, text  string
		column, width int
		want          string
	}{
		{"", "short text", 0, 24, "short text"},
		{"", "a text of twenty-four co lumns", 0, 24, "a text of twenty-four co\nlumns"},
		{"", "a text of any length, for pipes", 0, 0, "a text of any length, for pipes"},
		{"", "no room for more than one line", 8, 31, "no room for more than one line"},
		{"line\nname  ", "values behind the name of a field", 6, 30, "line\nname  values behind the name\n      of a field"},
		{"a line of so many words", " that goes on", 2, 30, "a line of so many words that\n  goes on"},
		{"a line without room", " abcdefghijklmnopqrstuvwxyz", 2, 26, "a line without room\n  abcdefghijklmnopqrstuvwx\n  yz"},
		{"", "file " + path, 0, 28, "file [0x200000401:0x1:0x0]\n/name"},
	} {
		var dst schema.Marked
		dst.Plain(c.before)
		Wrap(dst.Plain(c.text), len(c.before), c.column, c.width)
		assert.Equal(t, string(dst.Text), c.want, c.text)
	}
}
