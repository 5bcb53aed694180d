package dissect

// exchangeQueue is a queue of exchanges, oldest first. An exchange is in one
// at a time.
type exchangeQueue struct {
	head, tail *exchange
	n          int
}

// push puts an exchange at the end, as of now, and takes it out of the queue
// it was in.
func (q *exchangeQueue) push(ex *exchange, now int64) {
	if ex.queue != nil {
		ex.queue.remove(ex)
	}
	ex.queue, ex.since, ex.prev, ex.next = q, now, q.tail, nil
	if q.tail == nil {
		q.head = ex
	} else {
		q.tail.next = ex
	}
	q.tail = ex
	q.n++
}

func (q *exchangeQueue) remove(ex *exchange) {
	if ex.prev == nil {
		q.head = ex.next
	} else {
		ex.prev.next = ex.next
	}
	if ex.next == nil {
		q.tail = ex.prev
	} else {
		ex.next.prev = ex.prev
	}
	ex.queue, ex.prev, ex.next = nil, nil, nil
	q.n--
}
