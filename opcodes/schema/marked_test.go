package schema_test

import (
	"fmt"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestMarked checks where pieces end when text is cut, sliced and joined.
func TestMarked(t *testing.T) {
	var line schema.Marked
	line.Plain("at ").Add(schema.Node, "oss1").Spaces(2).Add(schema.Bad, "EIO ").Plain(" \n").Add(schema.Dim, "end")
	all := "at |0 oss1|5   |0 EIO |7  \n|0 end|1 "
	assert.Equal(t, pieces(&line), all)
	part := line.Slice(5, 11)
	assert.Equal(t, pieces(&part), "s1|5   |0 EI|7 ")
	lines := line.Lines()
	assert.Equal(t, len(lines), 2)
	assert.Equal(t, pieces(&lines[1]), "end|1 ")
	first := lines[0]
	first.TrimSpaces()
	assert.Equal(t, pieces(&first), "at |0 oss1|5   |0 EIO|7 ")
	first.Append(&part)
	assert.Equal(t, pieces(&first), "at |0 oss1|5   |0 EIO|7 s1|5   |0 EI|7 ")
	line.Cut(8)
	assert.Equal(t, pieces(&line), "at |0 oss1|5  ")
	line.Reset()
	line.Plain("a").Mark(schema.Name)
	assert.Equal(t, pieces(&line), "a|2 ")
}

// pieces returns text with the role behind each of its pieces.
func pieces(t *schema.Marked) (text string) {
	begin := 0
	for _, p := range t.Parts {
		text += fmt.Sprintf("%s|%d ", t.Text[begin:p.End], p.Role)
		begin = p.End
	}
	return text + string(t.Text[begin:])
}

// TestBreak: what is added has no role, also within a piece.
func TestBreak(t *testing.T) {
	var line schema.Marked
	line.Plain("a ").Add(schema.Node, "b c").Plain(" d").Add(schema.Bad, "e/f").Plain(" g")
	line.Break(8, 2)
	line.Break(5, 1)
	line.Break(3, 0)
	assert.Equal(t, pieces(&line), "a |0 b|5 \n|0 c|5 \n d|0 e|7 \n  |0 /f|7  g")
}
