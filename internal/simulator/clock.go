package simulator

// Durations of virtual time, in nanoseconds.
const (
	microsecond = int64(1e3)
	millisecond = int64(1e6)
	second      = int64(1e9)
)

// clock is virtual time, with what will happen in it. What is due at the same time happens in
// the order in which it was planned.
type clock struct {
	now     int64
	planned uint64
	heap    []event
}

type event struct {
	at    int64
	order uint64
	do    func()
}

func (e *event) before(f *event) bool { return e.at < f.at || e.at == f.at && e.order < f.order }

// at plans something for a time, at once if that has passed.
func (c *clock) at(time int64, do func()) {
	c.planned++
	c.heap = append(c.heap, event{max(time, c.now), c.planned, do})
	for i := len(c.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !c.heap[i].before(&c.heap[up]) {
			return
		}
		c.heap[i], c.heap[up] = c.heap[up], c.heap[i]
		i = up
	}
}

// run lets time pass until the end.
func (c *clock) run(end int64) {
	for len(c.heap) > 0 && c.heap[0].at <= end {
		e := c.heap[0]
		last := len(c.heap) - 1
		c.heap[0] = c.heap[last]
		c.heap[last] = event{}
		c.heap = c.heap[:last]
		c.siftDown()
		c.now = e.at
		e.do()
	}
	c.now = end
}

func (c *clock) siftDown() {
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(c.heap) {
			return
		}
		if down+1 < len(c.heap) && c.heap[down+1].before(&c.heap[down]) {
			down++
		}
		if !c.heap[down].before(&c.heap[i]) {
			return
		}
		c.heap[i], c.heap[down] = c.heap[down], c.heap[i]
		i = down
	}
}
