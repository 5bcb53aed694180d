package hostile

import (
	"bytes"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestOperations: hostile text is also in what no declaration has, in bytes, and behind another text.
func TestOperations(t *testing.T) {
	for _, length := range []int{50, 16 << 10} {
		seen := make(map[string]bool)
		var tree dissect.Tree
		wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
			tree.Build(m)
			for i := range tree.Nodes {
				n := &tree.Nodes[i]
				text := tree.Bytes(n)
				if n.Is(dissect.Missing) || !bytes.Contains(text, []byte(Text[:10])) {
					continue
				}
				seen[n.Field.Name] = true
				if m.Kind == lnet.Reply {
					seen["reply "+n.Field.Name] = true
				}
				if n.Field.Kind == schema.Strings && bytes.Contains(bytes.TrimRight(text, "\x00"), []byte{0}) {
					seen["two texts"] = true
				}
			}
		}}), Operations(t, length))
		for _, want := range []string{"buffer_4", "reply buffer_4", "_tail", "reply _tail", "two texts",
			"file_secctx_name", "hus_extended_info", "getinfo_key", "getinfo_val", "generic_data"} {
			assert.That(t, seen[want], "%d: no text in %s", length, want)
		}
	}
}
