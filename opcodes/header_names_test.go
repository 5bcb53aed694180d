package opcodes

import "testing"

// TestHeaderNames: a name of header_names.tsv is not also declared, and has one meaning.
func TestHeaderNames(t *testing.T) {
	index, seen := FieldIndex(), make(map[string]bool)
	for _, h := range headerNames() {
		for _, topic := range index.Topics(h.Name) {
			if topic.Header == nil && topic.Field == "" && !h.Struct {
				t.Errorf("%s is declared: remove it from header_names.tsv", h.Name)
			}
		}
		if key := h.Header + h.Of + h.Name; seen[key] {
			t.Errorf("%s is twice in header_names.tsv", key)
		} else {
			seen[key] = true
		}
	}
}
