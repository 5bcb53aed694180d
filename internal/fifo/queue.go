package fifo

// Queue is a linked list of owners, oldest first. It allocates nothing: each owner
// contains its Element, and is in at most one queue at a time.
type Queue[T any] struct {
	first, last *Element[T]
	n           int
}

// Element is the place of its owner in a queue.
type Element[T any] struct {
	Owner *T
	Since int64 // time of the Push

	queue      *Queue[T]
	prev, next *Element[T]
}

// Len is the number of elements.
func (q *Queue[T]) Len() int { return q.n }

// First returns the oldest element's owner, nil when the queue is empty.
func (q *Queue[T]) First() *T {
	if q.first == nil {
		return nil
	}
	return q.first.Owner
}

// All calls f for each owner, oldest first.
func (q *Queue[T]) All(f func(*T)) {
	for e := q.first; e != nil; e = e.next {
		f(e.Owner)
	}
}

// Push removes an element from the queue that it was in, and adds it at the end
// with the time now.
func (q *Queue[T]) Push(e *Element[T], now int64) {
	e.Remove()
	e.queue, e.Since, e.prev = q, now, q.last
	if q.last == nil {
		q.first = e
	} else {
		q.last.next = e
	}
	q.last = e
	q.n++
}

// Overdue returns the owner of the oldest element when it was pushed at least
// wait before now, or when there are more than max elements; else nil.
func (q *Queue[T]) Overdue(now, wait int64, max int) *T {
	if e := q.first; e != nil && (now-e.Since >= wait || q.n > max) {
		return e.Owner
	}
	return nil
}

// Remove takes an element out of its queue, if it is in one.
func (e *Element[T]) Remove() {
	q := e.queue
	if q == nil {
		return
	}
	if e.prev == nil {
		q.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		q.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.queue, e.prev, e.next = nil, nil, nil
	q.n--
}
