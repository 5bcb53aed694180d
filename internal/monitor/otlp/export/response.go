package export

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/internal/monitor/protobuf"
)

// partial returns the number of items that the receiver has refused. It logs
// what it says about them, once.
func (s *stream) partial(r *http.Response, body []byte) uint64 {
	if !isProtobuf(r) {
		return 0
	}
	const partialSuccess, rejected, errorMessage = 1, 1, 2
	// A broken message has refused nothing: all fields are then zero.
	part, _ := protobuf.Find(body, partialSuccess)
	_, count := protobuf.Find(part, rejected)
	message, _ := protobuf.Find(part, errorMessage)
	refused := max(int64(count), 0)
	if !s.warnedPart && (refused > 0 || len(message) > 0) {
		s.warnedPart = true
		s.log(fmt.Sprintf("OTLP %s: %s refuses %d %s: %s", s.name, s.url.Host, refused, s.items, quote(message)))
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
		body, _ = protobuf.Find(body, statusMessage)
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
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	date, _ := http.ParseTime(text) // in the past if it is none
	return min(max(time.Until(date), 0), maxRetryAfter)
}
