package recovery

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
)

// viewpoints finds the nodes on which captures were made: a node that takes part in
// all messages of a capture point.
type viewpoints struct{ points []viewpoint }

// viewpoint is one capture point.
type viewpoint struct {
	begun bool
	nodes [2]lnet.NID // that took part in all messages
	n     int
}

const maxViewpoints = 1 << 8

// see takes a message.
func (l *viewpoints) see(m *dissect.Message) {
	if m.Source >= maxViewpoints {
		return
	}
	for len(l.points) <= m.Source {
		l.points = append(l.points, viewpoint{})
	}
	v := &l.points[m.Source]
	if !v.begun {
		*v = viewpoint{true, [2]lnet.NID{m.LNet.Src, m.LNet.Dst}, 2}
		return
	}
	n := 0
	for _, node := range v.nodes[:v.n] {
		if node == m.LNet.Src || node == m.LNet.Dst {
			v.nodes[n] = node
			n++
		}
	}
	v.n = n
}

// isAt reports whether a capture was made on a node.
func (l *viewpoints) isAt(node lnet.NID) bool {
	for i := range l.points {
		if v := &l.points[i]; v.n == 1 && v.nodes[0] == node {
			return true
		}
	}
	return false
}

// nodes are addresses that belong to the same node.
type nodes struct{ pairs [][2]lnet.NID }

const maxPairs = 1 << 10

func (n *nodes) join(a, b lnet.NID) {
	if a != (lnet.NID{}) && len(n.pairs) < maxPairs && !n.same(a, b) {
		n.pairs = append(n.pairs, [2]lnet.NID{a, b})
	}
}

// same reports whether two addresses are known to belong to the same node.
func (n *nodes) same(a, b lnet.NID) bool {
	return a == b || slices.Contains(n.pairs, [2]lnet.NID{a, b}) || slices.Contains(n.pairs, [2]lnet.NID{b, a})
}
