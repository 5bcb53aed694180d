package capture

import "cmp"

// frameQueue is a heap of files by the time of their next frame; of equal ones, those that are
// earlier in the arguments come first.
type frameQueue []*file

// Len, Less, Swap, Push and Pop are for package heap.
func (q frameQueue) Len() int { return len(q) }

func (q frameQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].frame.Time, q[j].frame.Time), cmp.Compare(q[i].index, q[j].index)) < 0
}

func (q frameQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *frameQueue) Push(f any)   { *q = append(*q, f.(*file)) }

func (q *frameQueue) Pop() any {
	last := len(*q) - 1
	f := (*q)[last]
	*q = (*q)[:last]
	return f
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
