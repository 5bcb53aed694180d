package otlp

import (
	"slices"
	"sync"
	"time"
)

// queue holds the batches of one signal until they are sent: spans in the order
// in which they came, or the newest snapshot of metrics. No method waits for
// the network.
type queue struct {
	envelope *envelope
	maxBatch int // bytes at which a batch of spans is full
	maxBytes int // of all batches
	delay    time.Duration
	wake     chan struct{} // something may have become due
	stopping chan struct{} // closed by close

	mu       sync.Mutex
	current  *batch    // spans are being added; nil if there are none
	since    time.Time // when the first span was added to current
	waiting  []*batch  // oldest first
	sending  *batch
	free     []*batch
	bytes    int // capacity of current, waiting and sending
	snapshot uint64
	closed   bool
	stats    SignalStats
}

// maxFree is the number of empty batches that are kept for reuse.
const maxFree = 2

func newQueue(e *envelope, maxBatch, maxBytes int, delay time.Duration) *queue {
	return &queue{
		envelope: e, maxBatch: maxBatch, maxBytes: maxBytes, delay: delay,
		wake: make(chan struct{}, 1), stopping: make(chan struct{}),
	}
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// emptyLocked returns a batch without items. The caller holds q.mu.
func (q *queue) emptyLocked() *batch {
	b := &batch{}
	if n := len(q.free); n > 0 {
		b = q.free[n-1]
		q.free = q.free[:n-1]
	}
	q.envelope.reset(b)
	return b
}

func (q *queue) release(b *batch) {
	q.bytes -= cap(b.data)
	if len(q.free) < maxFree {
		q.free = append(q.free, b)
	}
}

func (q *queue) add(s *Span) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stats.Accepted++
	if q.closed {
		q.stats.Dropped++
		return
	}
	if q.current == nil {
		q.current = q.emptyLocked()
		q.bytes += cap(q.current.data)
		q.since = time.Now()
		q.signal()
	}
	b := q.current
	before := b.data
	b.data = s.append(b.data, scopeItems)
	q.bytes += cap(b.data) - cap(before)
	if len(b.data)-len(before) > maxSpanBytes {
		b.data = b.data[:len(before)]
		q.stats.Dropped++
		return
	}
	b.items++
	if len(b.data) >= q.maxBatch {
		q.finishCurrent()
		q.signal()
	}
	q.dropOldest()
}

func (q *queue) finishCurrent() {
	q.envelope.seal(q.current)
	q.waiting = append(q.waiting, q.current)
	q.current = nil
}

// dropOldest keeps the memory within its bound.
func (q *queue) dropOldest() {
	for q.bytes > q.maxBytes && len(q.waiting) > 0 {
		q.dropFirst()
	}
}

func (q *queue) dropFirst() {
	b := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	q.stats.Dropped += b.items
	q.release(b)
}

// emptyBatch returns a batch without items.
func (q *queue) emptyBatch() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.emptyLocked()
}

// replace replaces the batches that wait by those of a newer snapshot.
func (q *queue) replace(batches []*batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) > 0 {
		q.dropFirst()
	}
	q.snapshot++
	for _, b := range batches {
		b.snapshot = q.snapshot
		q.bytes += cap(b.data)
		q.stats.Accepted += b.items
		q.waiting = append(q.waiting, b)
	}
	for q.closed && len(q.waiting) > 0 {
		q.dropFirst()
	}
	q.signal()
}

// take returns the next batch to send, once one is due. It returns nil if the
// queue is closed and empty.
func (q *queue) take() *batch {
	timer := time.NewTimer(q.delay)
	defer timer.Stop()
	for {
		b, wait := q.next()
		if b != nil || wait == 0 {
			return b
		}
		timer.Reset(wait)
		select {
		case <-q.wake:
		case <-timer.C:
		case <-q.stopping:
		}
	}
}

// next returns the next batch to send or, if none is due, how long to wait. Both
// are zero if the queue is closed and empty.
func (q *queue) next() (b *batch, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	wait = q.delay
	if len(q.waiting) == 0 && q.current != nil {
		wait -= time.Since(q.since)
		if wait <= 0 || q.closed {
			q.finishCurrent()
		}
	}
	if len(q.waiting) > 0 {
		b = q.waiting[0]
		q.waiting = slices.Delete(q.waiting, 0, 1)
		q.sending = b
		return b, 0
	}
	if q.closed {
		return nil, 0
	}
	return nil, wait
}

// sent ends the sending of a batch that the receiver has accepted, apart from
// some of its items.
func (q *queue) sent(b *batch, refused uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	refused = min(refused, b.items)
	q.stats.Refused += refused
	q.stats.Sent += b.items - refused
	q.sending = nil
	q.release(b)
}

// refused ends the sending of a batch that is not to be sent again.
func (q *queue) refused(b *batch, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stats.Refused += b.items
	q.stats.LastError = err.Error()
	q.sending = nil
	q.release(b)
}

// putBack makes a batch the next to send, unless it is out of date or the queue
// is closed: then it is dropped.
func (q *queue) putBack(b *batch, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stats.Failures++
	q.stats.LastError = err.Error()
	q.sending = nil
	if q.closed || b.snapshot != q.snapshot {
		q.stats.Dropped += b.items
		q.release(b)
		return
	}
	q.waiting = slices.Insert(q.waiting, 0, b)
	q.dropOldest()
}

func (q *queue) requested(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stats.Requests++
	q.stats.SentBytes += uint64(n)
}

// close makes everything due that waits. What is added later is dropped.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		close(q.stopping)
	}
}

func (q *queue) read() SignalStats {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.stats
	count := func(b *batch) {
		s.Waiting += b.items
		s.WaitingBytes += len(b.data) - b.start
	}
	for _, b := range q.waiting {
		count(b)
	}
	if q.current != nil {
		count(q.current)
	}
	if q.sending != nil {
		count(q.sending)
	}
	return s
}
