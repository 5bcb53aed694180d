package opcodes

import "testing"

// TestTerms: terms have a text, and what they refer to exists.
func TestTerms(t *testing.T) {
	index, seen := NewIndex(), make(map[string]bool)
	for _, term := range Protocol.Terms {
		if seen[term.Name] {
			t.Errorf("%s is listed twice", term.Name)
		}
		seen[term.Name] = true
		if term.Long == "" || term.Doc == "" {
			t.Errorf("%s has no text", term.Name)
		}
		if len(term.See) == 0 {
			t.Errorf("%s refers to nothing in the protocol", term.Name)
		}
		for _, name := range term.See {
			if index.Topics(name) == nil {
				t.Errorf("%s refers to %s, which does not exist", term.Name, name)
			}
		}
	}
}
