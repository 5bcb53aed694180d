package render_test

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render"
)

// TestContentInSummary: the line of the part that completes a bulk says what
// came.
func TestContentInSummary(t *testing.T) {
	s := render.NewSummary(render.SummaryOptions{Colors: render.NewColors(false)})
	pages := 0
	for _, b := range contents(t) {
		line := string(s.Append(nil, b.message(b.answer), render.Moment{}))
		names := strings.Count(line, " names\n")
		if pages += names; names > 0 && b.opcode != opcodes.MDS_READPAGE {
			t.Errorf("%s: %s", b.name, line)
		}
	}
	if pages == 0 {
		t.Error("no directory pages")
	}
}
