package dissect

import (
	"slices"
	"testing"

	"github.com/lshark/lshark/opcodes"
)

// TestSectionNames compares the sections of trees with those that the index of
// the protocol has.
func TestSectionNames(t *testing.T) {
	found := 0
	for _, f := range slices.Concat(TransportSections(), MessageSections()) {
		structs := opcodes.Protocol.Sections[f.Name]
		if len(structs) == 0 {
			continue
		}
		found++
		if !slices.Contains(structs, f.Type) {
			t.Errorf("section %s is a struct %s, which opcodes does not have under that name", f.Name, f.Type.Name)
		}
	}
	if found != len(opcodes.Protocol.Sections) {
		t.Errorf("opcodes has %d sections, trees have %d of them", len(opcodes.Protocol.Sections), found)
	}
}
