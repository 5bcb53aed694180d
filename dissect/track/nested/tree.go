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

	parent *Node
}

// Trees collects trees of nested RPCs.
type Trees struct {
	// Dropped is the number of trees that were not kept because there were too many.
	Dropped int

	tracker *Tracker
	isRoot  func(*track.RPC) bool
	recent  *fifo.Map[uint64, *Node] // that may be nested in an RPC that has not ended
	missing map[uint64]*Node         // that are in a tree and have not ended
	roots   []*Node
	slowest track.Top[*Node] // in place of roots, with a limit
}

// The bounds of what Trees holds.
const (
	maxRecent = 1 << 14
	maxInTree = 1 << 16 // RPCs that have not ended
	maxRoots  = 1 << 14
)

// NewTrees makes a Trees of the RPCs that isRoot selects. t must get all RPCs before. slowest is
// how many trees are kept, those of the RPCs that took longest; 0: the first ones.
func NewTrees(t *Tracker, slowest int, isRoot func(*track.RPC) bool) *Trees {
	return &Trees{tracker: t, isRoot: isRoot, recent: fifo.NewMap[uint64, *Node](maxRecent), missing: make(map[uint64]*Node),
		slowest: track.Top[*Node]{Limit: slowest}}
}

// Done takes an RPC that has ended.
func (t *Trees) Done(r *track.RPC) {
	number, calls := t.tracker.Number(r), t.tracker.Calls(r)
	n := t.missing[number]
	root := t.isRoot(r) && t.hasRoom(r)
	if n == nil {
		if !root && !t.tracker.MayBeNested(r) {
			return
		}
		n = &Node{}
		fifo.Put(t.recent, number, n)
	}
	delete(t.missing, number)
	n.RPC = r.Clone()
	for _, c := range calls {
		child, ok := fifo.Get(t.recent, c.Number)
		if !ok {
			if child = new(Node); len(t.missing) < maxInTree {
				t.missing[c.Number] = child
			}
		}
		n.attach(child, c.Link)
	}
	if around, ok := t.tracker.Around(r); ok {
		if parent, ok := fifo.Get(t.recent, around); ok {
			parent.addLate(n)
		}
	}
	switch {
	case !root:
	case t.slowest.Limit > 0:
		t.slowest.Add(waited(r), n, nil)
	default:
		t.roots = append(t.roots, n)
	}
}

// attach adds a nested RPC. A proof replaces a link without one.
func (n *Node) attach(child *Node, link Link) {
	if old := child.parent; old != nil {
		if link == ByTime {
			return
		}
		old.Children = slices.DeleteFunc(old.Children, func(c *Node) bool { return c == child })
	}
	child.Link, child.parent = link, n
	n.Children = append(n.Children, child)
}

// addLate adds a nested RPC that ended after the one around it.
func (n *Node) addLate(child *Node) {
	if child.parent == n {
		return
	}
	if n.attach(child, ByThread); n.RPC == nil {
		return
	}
	ns, _ := child.RPC.Latency()
	latency, _ := n.RPC.Latency()
	n.RPC.Nested.Count++
	n.RPC.Nested.Time = min(latency, n.RPC.Nested.Time+ns)
}

// hasRoom reports whether the tree of an RPC is to be kept.
func (t *Trees) hasRoom(r *track.RPC) bool {
	switch {
	case t.slowest.Limit > 0:
		return t.slowest.Takes(waited(r))
	case len(t.roots) == maxRoots:
		t.Dropped++
		return false
	}
	return true
}

func waited(r *track.RPC) int64 {
	ns, _ := r.Waited()
	return ns
}

// Roots returns the trees in the order of time, or the slowest first. An RPC that is nested in
// another one has no tree of its own.
func (t *Trees) Roots() []*Node {
	roots := t.roots
	if t.slowest.Limit > 0 {
		roots = t.slowest.List()
	}
	inTree := make(map[*Node]bool)
	for _, n := range roots {
		n.prune()
		n.walk(func(child *Node) { inTree[child] = true })
	}
	roots = slices.DeleteFunc(roots, func(n *Node) bool { return inTree[n] })
	if t.slowest.Limit == 0 {
		slices.SortStableFunc(roots, func(a, b *Node) int { return cmp.Compare(a.RPC.Begin(), b.RPC.Begin()) })
	}
	return roots
}

func (n *Node) walk(f func(*Node)) {
	for _, c := range n.Children {
		f(c)
		c.walk(f)
	}
}

func (n *Node) prune() {
	n.Children = slices.DeleteFunc(n.Children, func(c *Node) bool { return c.RPC == nil })
	for _, c := range n.Children {
		c.prune()
	}
}
