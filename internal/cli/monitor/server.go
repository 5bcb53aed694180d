package monitor

import (
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/lshark/lshark/internal/cli/exit"
)

// The bounds of the server, for peers that are slow or many.
const (
	maxConnections    = 32
	maxHeader         = 16 << 10 // bytes
	readHeaderTimeout = time.Second
	readTimeout       = 5 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 10 * time.Second
)

type server struct {
	listener    net.Listener
	http        http.Server
	connections connections
}

func listen(address string) (*server, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, exit.Usagef("--listen %s: must be HOST:PORT or :PORT", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &server{listener: l}, nil
}

func (s *server) address() string { return s.listener.Addr().String() }

// serve starts to answer requests.
func (s *server) serve(metrics http.Handler, alive func() bool) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	health := func(w http.ResponseWriter, _ *http.Request) {
		if !alive() {
			http.Error(w, "the capture loop has not run for 30 s", http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "ok\n") // an error is that of a peer that is gone
	}
	mux.HandleFunc("GET /healthz", health)
	mux.HandleFunc("GET /-/healthy", health)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "lshark monitor: /metrics, /healthz\n")
	})
	s.http = http.Server{Handler: mux, ConnState: s.connections.changed,
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       log.New(io.Discard, "", 0)} // peers could fill the log
	go s.http.Serve(s.listener)
}

// close ends the server, also where it was never started.
func (s *server) close() {
	s.http.Close()
	s.listener.Close()
}

// connections are those that are open, in the order in which their states have changed. When there
// are too many, the first without a request is closed, so that such peers keep nobody away.
type connections struct {
	mu   sync.Mutex
	open []connection
}

type connection struct {
	net.Conn
	active bool // a request is being read or answered
}

// changed follows the state of a connection, as http.Server.ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.open, func(have connection) bool { return have.Conn == conn })
	if i < 0 && state != http.StateNew {
		return // closed below
	}
	if i >= 0 {
		c.open = slices.Delete(c.open, i, i+1)
	}
	if state == http.StateClosed {
		return
	}
	if len(c.open) == maxConnections {
		first := max(0, slices.IndexFunc(c.open, func(have connection) bool { return !have.active }))
		c.open[first].Close() // an error is that of a peer that is gone
		c.open = slices.Delete(c.open, first, first+1)
	}
	c.open = append(c.open, connection{conn, state == http.StateActive})
}
