package lnet

import "container/heap"

// gapHeap is a heap of the TCP streams and InfiniBand queue pairs that hold segments or
// packets behind a gap, by the frame of the first of these: no message that a later frame
// completed may be handed out yet.
type gapHeap []*gapEntry

// gapEntry is a stream or queue pair in a gapHeap.
type gapEntry struct {
	since  int64 // order of the frame of its first held segment
	place  int32 // in the heap, from 1; 0: not there
	listed bool  // in source.gaps
	stream
}

// stream is a direction of a TCP connection, or a queue pair.
type stream interface {
	holds() bool            // segments or packets behind a gap
	giveUpGap()             // the first one
	giveUpGaps(src *source) // those that will not be filled any more
}

// list adds a stream that holds something to those with a gap.
func (src *source) list(e *gapEntry) {
	if e.holds() && !e.listed {
		e.listed = true
		src.gaps = append(src.gaps, e)
	}
}

// first returns the frame of the earliest held segment, 0 for none.
func (g gapHeap) first() int64 {
	if len(g) == 0 {
		return 0
	}
	return g[0].since
}

// update adds, moves or removes a stream after its first held segment may have changed.
// That is of the frame first; 0 means that none is held.
func (g *gapHeap) update(e *gapEntry, first int64) {
	switch held := e.place > 0; {
	case first == 0 && held:
		heap.Remove(g, int(e.place)-1)
	case first != 0 && !held:
		e.since = first
		heap.Push(g, e)
	case first != e.since && held:
		e.since = first
		heap.Fix(g, int(e.place)-1)
	}
}

// Len, Less, Swap, Push and Pop are for package heap.
func (g gapHeap) Len() int           { return len(g) }
func (g gapHeap) Less(i, j int) bool { return g[i].since < g[j].since }

func (g gapHeap) Swap(i, j int) {
	g[i], g[j] = g[j], g[i]
	g[i].place, g[j].place = int32(i+1), int32(j+1)
}

func (g *gapHeap) Push(e any) {
	*g = append(*g, e.(*gapEntry))
	(*g)[len(*g)-1].place = int32(len(*g))
}

func (g *gapHeap) Pop() any {
	last := len(*g) - 1
	e := (*g)[last]
	(*g)[last], *g = nil, (*g)[:last]
	e.place = 0
	return e
}
