package cli

import (
	"container/heap"
	"slices"
	"sort"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/cli/scan"
)

// slowestRPCs keeps the RPCs that applications waited for the longest: for the reply
// or, where that came later, for the lock.
type slowestRPCs struct {
	limit int
	heap  rpcHeap
}

// keptRPC is a copy of an RPC that has ended, with its frames for -w.
type keptRPC struct {
	rpc    *track.RPC
	frames scan.RPCFrames
}

// rpcHeap is a heap with the fastest RPC at the top.
type rpcHeap []keptRPC

func (h rpcHeap) Len() int           { return len(h) }
func (h rpcHeap) Less(i, j int) bool { return waited(h[i].rpc) < waited(h[j].rpc) }
func (h rpcHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *rpcHeap) Push(x any)        { *h = append(*h, x.(keptRPC)) }

func (h *rpcHeap) Pop() any {
	last := len(*h) - 1
	k := (*h)[last]
	*h = (*h)[:last]
	return k
}

func waited(r *track.RPC) int64 {
	ns, _ := r.Waited()
	return ns
}

func (s *slowestRPCs) add(r *track.RPC, frames scan.RPCFrames) {
	ns, ok := r.Waited()
	if !ok || len(s.heap) == s.limit && ns <= waited(s.heap[0].rpc) {
		return
	}
	if len(s.heap) == s.limit {
		heap.Pop(&s.heap)
	}
	heap.Push(&s.heap, keptRPC{r.Clone(), slices.Clone(frames)})
}

// sorted returns the RPCs, slowest first.
func (s *slowestRPCs) sorted() []keptRPC {
	sort.SliceStable(s.heap, func(i, j int) bool { return waited(s.heap[i].rpc) > waited(s.heap[j].rpc) })
	return s.heap
}
