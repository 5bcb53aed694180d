package cli

import (
	"container/heap"
	"sort"

	"github.com/lshark/lshark/track"
)

// slowest keeps the RPCs with the greatest latencies.
type slowest struct {
	limit int
	heap  rpcHeap
}

// rpcHeap has the fastest RPC on top.
type rpcHeap []*track.RPC

func (h rpcHeap) Len() int           { return len(h) }
func (h rpcHeap) Less(i, j int) bool { return latency(h[i]) < latency(h[j]) }
func (h rpcHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *rpcHeap) Push(x any)        { *h = append(*h, x.(*track.RPC)) }

func (h *rpcHeap) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	*h = (*h)[:last]
	return r
}

func latency(r *track.RPC) int64 {
	ns, _ := r.Latency()
	return ns
}

func (s *slowest) add(r *track.RPC) {
	ns, ok := r.Latency()
	if !ok || len(s.heap) == s.limit && ns <= latency(s.heap[0]) {
		return
	}
	if len(s.heap) == s.limit {
		heap.Pop(&s.heap)
	}
	heap.Push(&s.heap, r.Clone())
}

// sorted lists them, slowest first.
func (s *slowest) sorted() []*track.RPC {
	sort.SliceStable(s.heap, func(i, j int) bool { return latency(s.heap[i]) > latency(s.heap[j]) })
	return s.heap
}
