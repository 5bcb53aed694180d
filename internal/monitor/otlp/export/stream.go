package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/lshark/lshark/internal/monitor/otlp"
)

// stream sends the batches of one signal, one at a time: spans in the order in
// which they came, or the newest snapshot of metrics. No method but run waits for
// the network.
type stream struct {
	name, items string // of the signal, and of what it consists of, in messages
	full        int    // bytes at which what was added is sent at once
	limit       int    // bytes that may wait; 0: only the newest batch
	url         *url.URL
	header      http.Header
	client      *http.Client
	timeout     time.Duration
	resource    *otlp.Resource
	log         func(string)

	closing chan struct{} // closed by close
	done    chan struct{} // closed when run has returned
	flushed *time.Timer   // flushes current after spanDelay

	mu      sync.Mutex
	due     *sync.Cond // signalled when waiting is not empty, or the stream is closed
	current batch      // spans that wait for others
	waiting []batch    // oldest first
	closed  bool
	stats   SignalStats

	failures int       // attempts in a row that have failed
	since    time.Time // the first of these
	dropped  uint64    // stats.Dropped at that time
	refusing bool      // the last batch was refused

	warnedPart bool // that a receiver has refused a part of a batch; run alone uses it
}

// batch has encoded spans or metrics, for one request.
type batch struct {
	data  []byte
	items uint64 // spans, or data points
}

const (
	maxBatch  = 512 << 10       // bytes at which spans are sent at once
	maxQueue  = 8 << 20         // bytes of spans that wait
	spanDelay = 5 * time.Second // a span waits for others at most this long
)

// Times between attempts. A stream waits between 0.5 and 1.5 times as long, so
// that the sensors of a site do not all come back at once.
const (
	firstRetry    = time.Second
	maxRetry      = 30 * time.Second
	maxRetryAfter = 10 * time.Minute
)

const maxResponse = 4 << 20

// start begins to send.
func (s *stream) start(ctx context.Context) {
	s.due = sync.NewCond(&s.mu)
	s.closing, s.done = make(chan struct{}), make(chan struct{})
	s.flushed = time.AfterFunc(spanDelay, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.flush()
	})
	go s.run(ctx)
}

// add lets more add to the current batch, and sends that when it is full or out of date.
func (s *stream) add(more func(*batch)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.current.items
	more(&s.current)
	added := s.current.items - before
	s.stats.Accepted += added
	switch {
	case s.closed:
		s.stats.Dropped += added
		s.current = batch{}
	case len(s.current.data) >= s.full:
		s.flush()
	case before == 0:
		s.flushed.Reset(spanDelay)
	}
}

// flush makes the current batch due. The caller holds s.mu.
func (s *stream) flush() {
	if s.current.items == 0 {
		return
	}
	s.waiting = append(s.waiting, s.current)
	s.current = batch{}
	s.dropOldest()
	s.due.Signal()
}

// dropOldest drops what is out of date, or too much.
func (s *stream) dropOldest() {
	bytes := 0
	for _, b := range s.waiting {
		bytes += len(b.data)
	}
	for len(s.waiting) > 1 && bytes > s.limit {
		bytes -= len(s.waiting[0].data)
		s.stats.Dropped += s.waiting[0].items
		s.waiting = slices.Delete(s.waiting, 0, 1)
	}
}

// next returns the next batch, once there is one. ok is false when the stream is
// closed and empty.
func (s *stream) next() (b batch, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting) == 0 {
		if s.closed {
			return batch{}, false
		}
		s.due.Wait()
	}
	b = s.waiting[0]
	s.waiting = slices.Delete(s.waiting, 0, 1)
	return b, true
}

// close makes everything due that waits. What is added later is dropped.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.flush()
		s.closed = true
		s.due.Signal()
		s.flushed.Stop()
		close(s.closing)
	}
}

func (s *stream) read() SignalStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.stats
	now.Waiting = now.Accepted - now.Sent - now.Refused - now.Dropped
	return now
}

// run sends batches until the stream is closed and empty.
func (s *stream) run(ctx context.Context) {
	defer close(s.done)
	for {
		b, ok := s.next()
		if !ok {
			return
		}
		refused, err := s.send(ctx, b)
		remark, wait := s.settle(b, min(refused, b.items), err)
		if remark != "" {
			s.log(fmt.Sprintf("OTLP %s: %s%s", s.name, s.url.Host, remark))
		}
		select {
		case <-time.After(wait):
		case <-s.closing:
		}
	}
}

// settle counts what became of a batch, and makes it the next one again if it is to be sent again. It
// returns what is to be logged, and how long to wait for the next attempt.
func (s *stream) settle(b batch, refused uint64, err error) (remark string, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Requests++
	if err != nil {
		s.stats.LastError = err.Error()
	}
	if failed, again := errors.AsType[*retryError](err); again {
		s.stats.Failures++
		if s.failures++; s.failures == 1 {
			s.since, s.dropped = time.Now(), s.stats.Dropped
		}
		if s.closed {
			s.stats.Dropped += b.items
		} else {
			s.waiting = slices.Insert(s.waiting, 0, b)
			s.dropOldest()
		}
		// Receivers close connections that are idle, so one failure is nothing.
		if s.failures == 2 {
			remark = fmt.Sprintf(": %v; trying again", err)
		}
		if failed.after > 0 {
			return remark, failed.after + rand.N(failed.after/10+time.Millisecond)
		}
		d := min(firstRetry<<min(s.failures-1, 10), maxRetry)
		return remark, d/2 + rand.N(d)
	}
	switch {
	case err != nil:
		refused = b.items
		if !s.refusing {
			remark = fmt.Sprintf(" refuses %s: %v", s.items, err)
		}
	case s.failures >= 2:
		remark = fmt.Sprintf(" is back after %d failed requests in %v", s.failures, time.Since(s.since).Round(time.Second))
		if dropped := s.stats.Dropped - s.dropped; dropped > 0 && s.limit > 0 {
			remark += fmt.Sprintf("; %d spans were dropped", dropped)
		}
	}
	s.stats.Refused += refused
	s.stats.Sent += b.items - refused
	s.failures = 0
	s.refusing = err != nil
	return remark, 0
}

// retryError is an error after which a request may be sent again.
type retryError struct {
	error
	after time.Duration // the receiver wants this; 0 if it does not say
}

// send makes one request. It returns the number of items that the receiver has
// refused though it accepted the batch.
func (s *stream) send(ctx context.Context, b batch) (refused uint64, err error) {
	body := bytes.NewBuffer(s.resource.Wrap(b.data))
	if s.header.Get("Content-Encoding") == "gzip" {
		var zipped bytes.Buffer
		z, _ := gzip.NewWriterLevel(&zipped, gzip.BestSpeed) // the level is valid
		// Writes to a buffer cannot fail.
		_, _ = z.Write(body.Bytes())
		_ = z.Close()
		body = &zipped
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url.String(), body)
	if err != nil {
		return 0, err
	}
	request.Header = s.header
	response, err := s.client.Do(request)
	if err != nil {
		return 0, &retryError{s.reason(err), 0}
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	switch {
	case err != nil:
		return 0, &retryError{s.reason(err), 0}
	case len(answer) > maxResponse:
		return 0, fmt.Errorf("%s with more than %d bytes", status(response), maxResponse)
	case response.StatusCode/100 == 2:
		return s.partial(response, answer), nil
	}
	err = refusal(response, answer)
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return 0, &retryError{err, retryAfter(response.Header.Get("Retry-After"))}
	}
	return 0, err
}

// reason returns an error of net/http without the URL, which may have secrets.
func (s *stream) reason(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no response within %v", s.timeout)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
