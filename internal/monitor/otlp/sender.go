package otlp

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
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/internal/monitor/protobuf"
)

// sender sends the batches of one signal, one at a time.
type sender struct {
	signal  string // tracesSignal or metricsSignal
	url     *url.URL
	header  http.Header
	client  *http.Client
	timeout time.Duration
	gzip    *gzip.Writer // nil: not compressed
	log     func(string)
	queue   *queue
	done    chan struct{} // closed when run has returned

	zipped     bytes.Buffer
	failures   int       // attempts in a row that have failed
	since      time.Time // the first of these
	dropped    uint64    // spans at that time
	refusing   bool      // the last batch was refused
	warnedPart bool      // that a receiver has refused a part of a batch
}

// Names of signals in messages.
const (
	tracesSignal  = "traces"
	metricsSignal = "metrics"
)

// Times between attempts. A sender waits between 0.5 and 1.5 times as long, so
// that the sensors of a site do not all come back at once.
const (
	firstRetry    = time.Second
	maxRetry      = 30 * time.Second
	maxRetryAfter = 10 * time.Minute
)

const maxResponse = 4 << 20

// run sends batches until the queue is closed and empty.
func (s *sender) run(ctx context.Context) {
	defer close(s.done)
	for {
		b := s.queue.take()
		if b == nil {
			return
		}
		refused, err := s.send(ctx, b)
		var failed *retryError
		switch {
		case err == nil:
			s.succeeded()
			s.queue.sent(b, refused)
		case errors.As(err, &failed):
			pause := s.failed(failed)
			s.queue.putBack(b, err)
			s.wait(pause)
		default:
			s.refused(err)
			s.queue.refused(b, err)
		}
	}
}

// wait waits before the next attempt, or until the queue is closed.
func (s *sender) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.queue.stopping:
	}
}

// failed counts a failed attempt, and returns how long to wait for the next.
func (s *sender) failed(err *retryError) time.Duration {
	if s.failures++; s.failures == 1 {
		s.since, s.dropped = time.Now(), s.queue.read().Dropped
	}
	// Receivers close connections that are idle, so one failure is nothing.
	if s.failures == 2 {
		s.log(fmt.Sprintf("OTLP %s: %s: %v; trying again", s.signal, s.url.Host, err))
	}
	if err.after > 0 {
		return err.after + rand.N(err.after/10+time.Millisecond)
	}
	d := min(firstRetry<<min(s.failures-1, 10), maxRetry)
	return d/2 + rand.N(d)
}

func (s *sender) succeeded() {
	if s.failures >= 2 {
		lost := ""
		if dropped := s.queue.read().Dropped - s.dropped; dropped > 0 && s.signal != metricsSignal {
			lost = fmt.Sprintf("; %d spans were dropped", dropped)
		}
		s.log(fmt.Sprintf("OTLP %s: %s is back after %d failed requests in %v%s",
			s.signal, s.url.Host, s.failures, time.Since(s.since).Round(time.Second), lost))
	}
	s.failures, s.refusing = 0, false
}

func (s *sender) refused(err error) {
	if !s.refusing {
		s.log(fmt.Sprintf("OTLP %s: %s refuses %s: %v", s.signal, s.url.Host, s.items(), err))
	}
	s.failures, s.refusing = 0, true
}

func (s *sender) items() string {
	if s.signal == metricsSignal {
		return "data points"
	}
	return "spans"
}

// retryError is an error after which a request may be sent again.
type retryError struct {
	err   error
	after time.Duration // the receiver wants this; 0 if it does not say
}

func (e *retryError) Error() string { return e.err.Error() }

// send makes one request. It returns the number of items that the receiver has
// refused though it accepted the batch.
func (s *sender) send(ctx context.Context, b *batch) (refused uint64, err error) {
	data := b.body()
	if s.gzip != nil {
		s.zipped.Reset()
		s.gzip.Reset(&s.zipped)
		// Writes to a buffer cannot fail.
		_, _ = s.gzip.Write(data)
		_ = s.gzip.Close()
		data = s.zipped.Bytes()
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	// net/http may go on reading a body after it has returned, and the bytes are used again.
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url.String(), bytes.NewReader(bytes.Clone(data)))
	if err != nil {
		return 0, err
	}
	request.Header = s.header
	s.queue.requested(len(data))
	response, err := s.client.Do(request)
	if err != nil {
		return 0, &retryError{err: s.reason(err)}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	switch {
	case err != nil:
		return 0, &retryError{err: s.reason(err)}
	case len(body) > maxResponse:
		return 0, fmt.Errorf("%s with more than %d bytes", status(response), maxResponse)
	case response.StatusCode/100 == 2:
		return s.partial(response, body), nil
	}
	err = refusal(response, body)
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return 0, &retryError{err, retryAfter(response.Header.Get("Retry-After"), time.Now())}
	}
	return 0, err
}

// reason returns an error of net/http without the URL, which may have secrets.
func (s *sender) reason(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no response within %v", s.timeout)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// partial returns the number of items that the receiver has refused. It logs
// what it says about them, once.
func (s *sender) partial(r *http.Response, body []byte) uint64 {
	if !isProtobuf(r) {
		return 0
	}
	const partialSuccess, rejected, errorMessage = 1, 1, 2
	part, _, ok, err := protobuf.Find(body, partialSuccess)
	if err != nil || !ok {
		return 0
	}
	// A broken message has refused nothing: both fields are then zero.
	_, count, _, _ := protobuf.Find(part, rejected)
	message, _, _, _ := protobuf.Find(part, errorMessage)
	refused := max(int64(count), 0)
	if !s.warnedPart && (refused > 0 || len(message) > 0) {
		s.warnedPart = true
		s.log(fmt.Sprintf("OTLP %s: %s refuses %d %s: %s", s.signal, s.url.Host, refused, s.items(), quote(message)))
	}
	return uint64(refused)
}

func isProtobuf(r *http.Response) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-protobuf")
}

// refusal returns what a receiver says about a request that has failed.
func refusal(r *http.Response, body []byte) error {
	if r.StatusCode/100 == 3 {
		return fmt.Errorf("%s: redirections are not followed", status(r))
	}
	if isProtobuf(r) {
		const statusMessage = 2 // of google.rpc.Status
		message, _, _, err := protobuf.Find(body, statusMessage)
		if err != nil {
			return errors.New(status(r))
		}
		body = message
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return errors.New(status(r))
	}
	return fmt.Errorf("%s: %s", status(r), quote(body))
}

// status returns the code and its standard text. The text of a response is
// anybody's.
func status(r *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("status %d %s", r.StatusCode, http.StatusText(r.StatusCode)))
}

// quote returns the beginning of a text that a receiver has sent.
func quote(text []byte) string {
	const limit = 200
	text = bytes.TrimSpace(text)
	if len(text) > limit {
		return strconv.Quote(string(text[:limit])) + "…"
	}
	return strconv.Quote(string(text))
}

// retryAfter parses the header Retry-After: seconds, or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if date, err := http.ParseTime(text); err == nil {
		return min(max(date.Sub(now), 0), maxRetryAfter)
	}
	return 0
}
