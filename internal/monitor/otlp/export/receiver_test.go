package export

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// environment returns variables, whose names have the prefix of OTLP.
type environment map[string]string

func (e environment) get(name string) string {
	return e[strings.TrimPrefix(name, variablePrefix)]
}

// testConfig returns settings, and the environment.
func testConfig(e environment) Config {
	return Config{Service: "lshark", Release: "1.2.3", Host: "oss1", Getenv: e.get, Log: func(string) {}}
}

// receiver is an HTTP server on pipes, so that time stands still while the
// network is busy (package synctest).
type receiver struct {
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
	server  http.Server
	respond func(http.ResponseWriter, *http.Request) // nil: success

	mu       sync.Mutex
	away     bool
	requests []received
}

// received is one request.
type received struct {
	at      time.Time
	path    string
	header  http.Header
	message string
	spans   int // of numbered
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{conns: make(chan net.Conn), closed: make(chan struct{})}
	r.server.Handler = r
	go r.server.Serve(r)
	t.Cleanup(func() { r.server.Close() })
	return r
}

func (r *receiver) Accept() (net.Conn, error) {
	select {
	case c := <-r.conns:
		return c, nil
	case <-r.closed:
		return nil, net.ErrClosed
	}
}

func (r *receiver) Close() error {
	r.once.Do(func() { close(r.closed) })
	return nil
}

func (r *receiver) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (r *receiver) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		return nil, errors.New("connection refused")
	}
	client, server := net.Pipe()
	select {
	case r.conns <- server:
		return client, nil
	case <-r.closed:
		return nil, net.ErrClosed
	}
}

func (r *receiver) setAway(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = away
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var body io.Reader = q.Body
	if q.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(q.Body)
		if err != nil {
			panic(err)
		}
		body = z
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return
	}
	got := received{at: time.Now(), path: q.URL.Path, header: q.Header, message: string(data)}
	got.spans = strings.Count(got.message, "span-")
	r.mu.Lock()
	r.requests = append(r.requests, got)
	respond := r.respond
	r.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-protobuf")
	if respond != nil {
		respond(w, q)
	}
}

func (r *receiver) setRespond(f func(http.ResponseWriter, *http.Request)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.respond = f
}

// logs collects messages of Config.Log.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *logs) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// withExporter runs f with an exporter and its receiver, in a time that passes
// only while everything waits.
func withExporter(t *testing.T, env environment, f func(*testing.T, *Exporter, *receiver, *logs)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, l := newReceiver(t), &logs{}
		transport := &http.Transport{DialContext: r.dial, DisableCompression: true}
		t.Cleanup(transport.CloseIdleConnections)
		if env["ENDPOINT"] == "" {
			env = maps.Clone(env)
			if env == nil {
				env = environment{}
			}
			env["ENDPOINT"] = "http://collector.example:4318"
		}
		c := testConfig(env)
		c.transport, c.Log = transport, l.add
		e := must.Value(New(c))(t)
		f(t, e, r, l)
		// Shutdown again, or for the first time: it returns what is left.
		_ = e.Shutdown(t.Context())
		check(t, e.Stats().Spans)
		check(t, e.Stats().Points)
	})
}

// check checks that each item is counted once.
func check(t *testing.T, s SignalStats) {
	t.Helper()
	assert.Equal(t, s.Accepted, s.Sent+s.Refused+s.Dropped, "items are lost or counted twice", s)
}
