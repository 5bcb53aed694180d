package track

import (
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
)

// Viewpoints finds the nodes on which captures were made: a node that takes part in all messages
// of a capture point.
type Viewpoints struct{ points []viewpoint }

type viewpoint struct {
	begun bool
	nodes [2]lnet.NID // that took part in all messages
	n     int
}

const maxViewpoints = 1 << 8

// See takes a message between two nodes that a capture point has seen.
func (l *Viewpoints) See(source int, from, to lnet.NID) {
	if source >= maxViewpoints {
		return
	}
	for len(l.points) <= source {
		l.points = append(l.points, viewpoint{})
	}
	v := &l.points[source]
	if !v.begun {
		*v = viewpoint{true, [2]lnet.NID{from, to}, 2}
		return
	}
	n := 0
	for _, node := range v.nodes[:v.n] {
		if node == from || node == to {
			v.nodes[n] = node
			n++
		}
	}
	v.n = n
}

// IsAt reports whether a capture was made on a node.
func (l *Viewpoints) IsAt(node lnet.NID) bool { return l.At(node) >= 0 }

// At returns the number of the capture point at a node, -1 if no capture was made there.
func (l *Viewpoints) At(node lnet.NID) int {
	return slices.IndexFunc(l.points, func(v viewpoint) bool { return v.n == 1 && v.nodes[0] == node })
}
