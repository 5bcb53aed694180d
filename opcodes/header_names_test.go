package opcodes

import "testing"

// TestHeaderNames: a name of header_names.tsv is not also declared, and has one meaning. Fields with a place fill their struct.
func TestHeaderNames(t *testing.T) {
	index, seen := FieldIndex(), make(map[string]bool)
	for _, h := range headerNames() {
		topics := index.Topics(h.Name)
		if h.Alias {
			if len(topics) < 2 || topics[0].Header != h {
				t.Errorf("%s is another name of %s: one is declared, the other is not", h.Name, h.Value)
			}
			continue
		}
		for _, topic := range topics {
			if topic.Header == nil && topic.Field == "" && !h.Struct {
				t.Errorf("%s is declared: remove it from header_names.tsv", h.Name)
			}
		}
		end := 0
		for _, f := range h.Fields {
			if f.Doc != "" && (f.Size == 0 || f.Offset != end) {
				t.Errorf("%s.%s is at %d+%d, not behind %d", h.Name, f.Name, f.Offset, f.Size, end)
			}
			end = f.Offset + f.Size
		}
		if size := map[string]int{"lr_server_data": 512, "lustre_disk_data": 12288, "scrub_file": 400, "gss_wire_ctx": 32}[h.Name]; size != 0 && end != size {
			t.Errorf("%s has %d bytes, not %d", h.Name, end, size)
		}
		if key := h.Header + h.Of + h.Name; seen[key] {
			t.Errorf("%s is twice in header_names.tsv", key)
		} else {
			seen[key] = true
		}
	}
}
