package capture

// before reports whether a is read before b: files are ordered by the time of
// their next frame, then as in the arguments.
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

// siftDown restores the heap after the time of element i has increased.
func (r *Reader) siftDown(i int) {
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

// capturePoint is where one file, or several rotated files, were captured: an
// interface of a node.
type capturePoint struct {
	name    string // of the latest file
	reading bool   // the latest file has not ended
}

// joinPoint returns the index of the capture point of a file whose first frame
// is next. Files that overlap in time were captured at different points. A file
// that begins after another has ended continues it, as rotated captures do; if
// several have ended, it continues the one whose name has the longest common
// prefix.
func (r *Reader) joinPoint(name string) int {
	best, most := -1, -1
	for i, s := range r.points {
		if n := commonPrefix(s.name, name); !s.reading && n > most {
			best, most = i, n
		}
	}
	if best < 0 {
		best = len(r.points)
		r.points = append(r.points, capturePoint{})
	}
	r.points[best] = capturePoint{name, true}
	return best
}

// commonPrefix returns the length in bytes of the common prefix.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
