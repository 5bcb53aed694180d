package capture

// before orders the queue: by time, then as the files were given.
func before(a, b *file) bool {
	if a.frame.Time != b.frame.Time {
		return a.frame.Time < b.frame.Time
	}
	return a.index < b.index
}

func (r *Reader) push(f *file) {
	r.queue = append(r.queue, f)
	for i := len(r.queue) - 1; i > 0; {
		up := (i - 1) / 2
		if !before(r.queue[i], r.queue[up]) {
			return
		}
		r.queue[i], r.queue[up] = r.queue[up], r.queue[i]
		i = up
	}
}

// sink puts an element of the queue that has become later into its place.
func (r *Reader) sink(i int) {
	for {
		down := 2*i + 1
		if down >= len(r.queue) {
			return
		}
		if down+1 < len(r.queue) && before(r.queue[down+1], r.queue[down]) {
			down++
		}
		if !before(r.queue[down], r.queue[i]) {
			return
		}
		r.queue[i], r.queue[down] = r.queue[down], r.queue[i]
		i = down
	}
}

// source is a capture point: one or more files, one after the other.
type source struct {
	name string // of its newest file
	busy bool   // that file has not ended
}

// join finds the capture point of a file that begins now. Files that run at
// the same time were captured at different points; one that begins when
// another has ended is taken for its continuation, as rotated captures are. Of
// several that have ended it is the one of the most similar name.
func (r *Reader) join(name string) int {
	best, most := -1, -1
	for i, s := range r.sources {
		if n := samePrefix(s.name, name); !s.busy && n > most {
			best, most = i, n
		}
	}
	if best < 0 {
		best = len(r.sources)
		r.sources = append(r.sources, source{})
	}
	r.sources[best] = source{name, true}
	return best
}

func samePrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
