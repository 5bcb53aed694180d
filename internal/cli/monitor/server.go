package monitor

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"

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
	closeTimeout      = time.Second
)

type server struct {
	listener net.Listener
	http     http.Server
}

func listen(address string) (*server, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, exit.Usagef("--listen %s: must be HOST:PORT or :PORT", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &server{listener: netutil.LimitListener(l, maxConnections)}, nil
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
	s.http = http.Server{Handler: mux,
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       log.New(io.Discard, "", 0)} // peers could fill the log
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
