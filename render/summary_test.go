package render

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/opcodes"
)

// TestContentInSummary: the line of the part that completes a bulk says what
// came.
func TestContentInSummary(t *testing.T) {
	s := NewSummary(SummaryOptions{Colors: NewColors(false)})
	pages := 0
	for _, b := range contents(t) {
		line := string(s.Append(nil, b.message(b.answer), Moment{}))
		names := strings.Count(line, " names\n")
		if pages += names; names > 0 && b.opcode != opcodes.MDS_READPAGE {
			t.Errorf("%s: %s", b.name, line)
		}
	}
	if pages == 0 {
		t.Error("no directory pages")
	}
}
