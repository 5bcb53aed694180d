package dissect

import (
	"path/filepath"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
)

// eachMessage runs a capture through a Dissector.
func eachMessage(t testing.TB, path string, handle func(*Message)) {
	t.Helper()
	wiretest.Play(New(Options{Handle: handle}), wiretest.ReadSample(t, path))
}

// TestSamplesAreReadWhole: no message of an intact capture has unknown bytes, a tail, or
// a field outside its buffer.
func TestSamplesAreReadWhole(t *testing.T) {
	for _, path := range wiretest.Samples(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var tree Tree
			messages := 0
			eachMessage(t, path, func(m *Message) {
				messages++
				tree.Remarks = true
				tree.Build(m)
				if m.Kind == lnet.Unknown {
					t.Errorf("frame %d: a message of unknown kind", m.Frame)
				}
				for _, n := range tree.Notes {
					switch n.Code {
					case "tail", "unknown", "short":
						t.Errorf("frame %d %s opcode %d: %s: %s", m.Frame, m.Kind, m.RPC.Opcode, n.Code, n.Text)
					}
				}
				checkNodes(t, m, &tree)
			})
			if messages == 0 {
				t.Error("no messages")
			}
		})
	}
}

// checkNodes checks the shape of a tree: descendants follow their node and are one level
// deeper.
func checkNodes(t *testing.T, m *Message, tree *Tree) {
	t.Helper()
	for i, n := range tree.Nodes {
		if int(n.End) <= i || int(n.End) > len(tree.Nodes) {
			t.Fatalf("frame %d: node %d %s ends at %d of %d", m.Frame, i, n.Name(), n.End, len(tree.Nodes))
		}
		if i > 0 && n.Depth > tree.Nodes[i-1].Depth+1 {
			t.Fatalf("frame %d: node %d %s is %d deep behind %d", m.Frame, i, n.Name(), n.Depth, tree.Nodes[i-1].Depth)
		}
	}
}
