package track

import (
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
)

// Viewpoints finds the nodes on which captures were made: a node that takes part in all messages
// of a capture point.
type Viewpoints struct {
	nodes [][]lnet.NID // that took part in all messages of each point; nil: there were none
}

const maxViewpoints = 1 << 8

// See takes a message between two nodes that a capture point has seen.
func (l *Viewpoints) See(source int, from, to lnet.NID) {
	if source >= maxViewpoints {
		return
	}
	for len(l.nodes) <= source {
		l.nodes = append(l.nodes, nil)
	}
	v := &l.nodes[source]
	if *v == nil {
		*v = []lnet.NID{from, to}
	}
	*v = slices.DeleteFunc(*v, func(n lnet.NID) bool { return n != from && n != to })
}

// IsAt reports whether a capture was made on a node.
func (l *Viewpoints) IsAt(node lnet.NID) bool { return l.At(node) >= 0 }

// At returns the number of the capture point at a node, -1 if no capture was made there.
func (l *Viewpoints) At(node lnet.NID) int {
	return slices.IndexFunc(l.nodes, func(v []lnet.NID) bool { return len(v) == 1 && v[0] == node })
}
