package lnet

// gapHeap holds the streams with segments behind a gap, and the queue pairs with such
// packets: a heap by the frame of the first of these, as the earliest is needed for every
// message.
type gapHeap []*gapEntry

// gapEntry is the place of a stream in a gapHeap.
type gapEntry struct {
	since int64      // order of the frame of its first held segment
	place int        // in the heap, from 1; 0: not there
	pair  *queuePair // with these packets; nil for a TCP stream
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
func (g *gapHeap) update(r *gapEntry, first int64) {
	switch {
	case first == 0 && r.place == 0:
		return
	case first == 0:
		g.remove(r)
		return
	case r.place == 0:
		*g = append(*g, r)
		r.place = len(*g)
	case r.since == first:
		return
	}
	r.since = first
	g.move(r)
}

func (g *gapHeap) remove(r *gapEntry) {
	last := (*g)[len(*g)-1]
	(*g)[len(*g)-1] = nil
	*g = (*g)[:len(*g)-1]
	if last != r {
		(*g)[r.place-1], last.place = last, r.place
		g.move(last)
	}
	r.place = 0
}

// move restores the heap after the key of a stream has changed.
func (g gapHeap) move(r *gapEntry) {
	i := r.place - 1
	for i > 0 && r.since < g[(i-1)/2].since {
		g.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	for {
		down := 2*i + 1
		if down+1 < len(g) && g[down+1].since < g[down].since {
			down++
		}
		if down >= len(g) || r.since <= g[down].since {
			return
		}
		g.swap(i, down)
		i = down
	}
}

func (g gapHeap) swap(i, j int) {
	g[i], g[j] = g[j], g[i]
	g[i].place, g[j].place = i+1, j+1
}
