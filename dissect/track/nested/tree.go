package nested

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// Node is an RPC with the RPCs that are nested in it.
type Node struct {
	RPC      *track.RPC // nil while it has not ended
	Link     Link       // to the RPC around it, Unlinked without one
	Children []*Node    // in the order in which they were sent

	number uint64
}

// Trees collects trees of nested RPCs.
type Trees struct {
	tracker *Tracker
	isRoot  func(*track.RPC) bool
	recent  *fifo.Map[uint64, *Node] // that may be nested in an RPC that has not ended
	missing map[uint64]*Node         // that are in a tree and have not ended
	roots   []*Node
}

// The bounds of what Trees holds.
const (
	maxRecent = 1 << 14
	maxInTree = 1 << 16 // RPCs that have not ended
	maxRoots  = 1 << 12
)

// NewTrees makes a Trees of the RPCs that isRoot selects. t must get all RPCs before.
func NewTrees(t *Tracker, isRoot func(*track.RPC) bool) *Trees {
	return &Trees{tracker: t, isRoot: isRoot, recent: fifo.NewMap[uint64, *Node](maxRecent), missing: make(map[uint64]*Node)}
}

// Done takes an RPC that has ended.
func (t *Trees) Done(r *track.RPC) {
	number, calls := t.tracker.Number(r), t.tracker.Calls(r)
	n := t.missing[number]
	root := t.isRoot(r) && len(t.roots) < maxRoots
	if n == nil {
		if !root && !t.tracker.MayBeNested(r) {
			return
		}
		n = &Node{number: number}
		t.recent.Put(number, n)
	}
	delete(t.missing, number)
	n.RPC = r.Clone()
	for _, c := range calls {
		child, ok := t.recent.Get(c.Number)
		if !ok {
			if child = (&Node{number: c.Number}); len(t.missing) < maxInTree {
				t.missing[c.Number] = child
			}
		}
		child.Link = c.Link
		n.Children = append(n.Children, child)
	}
	if root {
		t.roots = append(t.roots, n)
	}
}

// Roots returns the trees in the order of time.
func (t *Trees) Roots() []*Node {
	for _, n := range t.roots {
		n.prune()
	}
	slices.SortStableFunc(t.roots, func(a, b *Node) int { return cmp.Compare(a.RPC.Begin(), b.RPC.Begin()) })
	return t.roots
}

// prune removes RPCs that have not ended.
func (n *Node) prune() {
	n.Children = slices.DeleteFunc(n.Children, func(c *Node) bool { return c.RPC == nil })
	for _, c := range n.Children {
		c.prune()
	}
}
