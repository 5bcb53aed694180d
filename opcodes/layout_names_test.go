package opcodes

import (
	"slices"
	"strings"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"
)

// layoutDiffers are formats of layout.c whose buffers are not those of one of our
// variants, each with the reason.
var layoutDiffers = map[string]string{
	"RQF_MDS_REINT_RENAME":  "the new name is in the buffer RMF_SYMTGT, which is target_name here",
	"RQF_MDS_REINT_MIGRATE": "the new name is in the buffer RMF_SYMTGT, which is target_name here",
	"RQF_MDS_GET_INFO":      "a key that lshark does not know may have no value in the request",
	"RQF_LDLM_INTENT":       "common to all intents, until the kind of intent is known",
	"RQF_LDLM_INTENT_BASIC": "common to all intents, until the kind of intent is known",
}

// TestLayoutNames compares the names of layout.c, and the buffers that its formats
// have, with the declarations.
func TestLayoutNames(t *testing.T) {
	all := readFacts(t)
	buffers := make(map[string]string)
	for _, b := range Protocol.FormatBuffers {
		buffers[b.Name] = b.Buffer
	}
	ours := make(map[string]string) // by RMF name
	for _, row := range all.Buffers {
		want := strings.TrimPrefix(row[2], "-")
		if got, ok := buffers[row[0]]; !ok || got != want {
			t.Errorf("%s is %q, not %q", row[0], got, want)
		}
		ours[row[0]] = want
	}
	if len(all.Buffers) != len(buffers) || len(all.Formats) != len(Protocol.Formats) {
		t.Errorf("%d and %d names in the facts, %d and %d are declared", len(all.Buffers), len(all.Formats), len(buffers), len(Protocol.Formats))
	}
	index := NewIndex()
	for _, b := range Protocol.FormatBuffers {
		if topics := index.Topics(b.Name); b.Buffer != "" && (len(topics) != 1 || len(topics[0].Places) == 0) {
			t.Errorf("%s: no message has the buffer %s", b.Name, b.Buffer)
		}
	}
	for _, f := range Protocol.Formats {
		i := slices.IndexFunc(all.Formats, func(row []string) bool { return row[0] == f.Name })
		if i < 0 {
			t.Errorf("%s is not in the facts", f.Name)
			continue
		}
		row := all.Formats[i]
		for _, u := range Protocol.Uses(f) {
			if !slices.Contains(strings.Fields(row[1]), u.RPC.Name) {
				t.Errorf("%s is not of %s", f.Name, u.RPC.Name)
			}
			if len(u.Variants) == 0 {
				t.Errorf("%s: %s has no variant %q", f.Name, u.RPC.Name, f.Variants)
			}
			for _, v := range u.Variants {
				request, reply := unlike(v.Request, row[3], ours), unlike(v.Reply, row[4], ours)
				if request+reply != "" && layoutDiffers[f.Name] == "" {
					t.Errorf("%s, %s %q: request %s, reply %s", f.Name, u.RPC.Name, v.Name, request, reply)
				}
			}
		}
	}
}

// unlike returns the buffers of a format that are not those of the message, empty if
// all are.
func unlike(message []*Field, format string, ours map[string]string) string {
	var differ []string
	for i, name := range strings.Fields(format) {
		if i >= len(message) || message[i].Name != ours[name] {
			differ = append(differ, name)
		}
	}
	return strings.Join(differ, " ")
}
