package dissect

import (
	"testing"

	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestBuffersInTrees checks that a tree for people has a node of each buffer
// with bytes, and that one for programs leaves out only those of zeros.
func TestBuffersInTrees(t *testing.T) {
	people, programs := &Tree{Remarks: true}, &Tree{}
	zeros := 0
	for _, path := range wiretest.Samples(t) {
		eachMessage(t, path, func(m *Message) {
			if !m.RPC.HasOpcode || m.Msg == nil {
				return
			}
			people.Build(m)
			programs.Build(m)
			p := &people.rpc
			for k := 1; k < len(p.starts); k++ {
				n, other := bufferNode(people, p.starts[k]), bufferNode(programs, p.starts[k])
				isZero := other == nil && p.lens[k] > 0
				switch {
				case p.lens[k] == 0 || len(p.Bufs[k]) < p.lens[k]:
				case n == nil || n.Is(Zeros) != isZero || isZero && (int(n.Len) != p.lens[k] || !allZero(people.Bytes(n))):
					t.Errorf("%s: frame %d: buffer %d of %d bytes is %+v", path, m.Frame, k, p.lens[k], n)
				case isZero:
					zeros++
				}
			}
		})
	}
	if zeros == 0 {
		t.Error("no buffer of zeros")
	}
}

// bufferNode returns the node of the buffer at an offset.
func bufferNode(t *Tree, off int) *Node {
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Depth == 1 && n.Src == InMessage && int(n.Off) == off && n.Field.Kind != schema.Virtual {
			return n
		}
	}
	return nil
}

// TestExtraBufferOfZeros checks that a buffer behind the declared ones, of
// zeros, is treated as one of those.
func TestExtraBufferOfZeros(t *testing.T) {
	for _, remarks := range []bool{true, false} {
		tree := Tree{Remarks: remarks}
		data := make([]byte, 24)
		m := &Message{}
		m.Data, m.Size = data, len(data)
		tree.walker.reset(&tree, m)
		tree.src[InMessage] = data
		p := &rpcMsg{starts: []int{0, 8}, lens: []int{8, 16}}
		tree.extraBuffer(1, p, len(data))
		if n := len(tree.Nodes); n != 0 && !remarks || n != 1 && remarks || len(tree.Notes) != 0 {
			t.Errorf("for people %v: %d nodes, notes %v", remarks, n, tree.Notes)
		}
		data[20] = 1
		tree.extraBuffer(1, p, len(data))
		if n := len(tree.Nodes); len(tree.Notes) != 1 || !tree.Nodes[n-1].Is(Undecoded) {
			t.Errorf("for people %v: %d nodes, notes %v", remarks, n, tree.Notes)
		}
	}
}
