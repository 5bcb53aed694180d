package monitor

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/lshark/lshark/internal/cli/exit"
)

// The bounds of the server, for peers that are slow or many.
const (
	maxConnections = 32
	maxHeader      = 16 << 10 // bytes
	readTimeout    = 5 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = 10 * time.Second // idle connections take the place of others
	closeTimeout   = time.Second
)

// server serves metrics over HTTP.
type server struct {
	listener net.Listener
	http     http.Server
}

// listen opens an address for a server.
func listen(address string) (*server, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, exit.Usagef("--listen %s: must be HOST:PORT or :PORT", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &server{listener: &limited{Listener: l, free: make(chan struct{}, maxConnections)}}, nil
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
	s.http = http.Server{Handler: mux, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(io.Discard, "", 0)} // peers could fill the log
	go s.http.Serve(s.listener)
}

// close ends the server when requests are answered, or after closeTimeout.
func (s *server) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		s.http.Close()
	}
	s.listener.Close()
}

// limited is a listener with a limit of connections at a time; others wait.
type limited struct {
	net.Listener
	free chan struct{}
}

func (l *limited) Accept() (net.Conn, error) {
	l.free <- struct{}{}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &limitedConn{Conn: conn, closed: sync.OnceFunc(func() { <-l.free })}, nil
}

type limitedConn struct {
	net.Conn
	closed func()
}

func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.closed()
	return err
}
