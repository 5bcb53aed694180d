package monitor

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/must"
)

// TestReplaceExporter checks that an exporter stays while its receiver is the same, and that
// the last of several intervals is used.
func TestReplaceExporter(t *testing.T) {
	var mu sync.Mutex
	requests := make(map[string]int) // by the value of the header a
	first := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if len(requests) == 0 {
			close(first)
		}
		requests[r.Header.Get("a")]++
	}))
	defer server.Close()
	c := newCommand(&scan.System{IO: &iostreams.IO{Env: func(string) string { return "" }}})
	c.otlp.url = server.URL
	registry := metrics.New(time.Now())
	registry.Counter(metrics.Desc{Name: "x", Help: "x"}).With()
	registry.OnCollect(func() { c.exporter.stats() })
	replace := func(interval time.Duration, headers ...string) {
		t.Helper()
		c.otlp.headers = headers
		e, err := c.newExporter()
		must.NoError(t, err)
		c.exporter.replace(e, c.receiver(), interval, registry)
	}
	replace(time.Millisecond, "a=1")
	inUse := c.exporter.active
	<-first
	replace(time.Millisecond, "a=1")
	replace(time.Hour, "a=1")
	replace(2*time.Hour, "a=1")
	if c.exporter.active != inUse || len(c.exporter.old) != 0 {
		t.Error("an exporter to the same receiver replaced the one in use")
	}
	replace(2*time.Hour, "a=2")
	if c.exporter.active == inUse {
		t.Error("the exporter to another receiver is not used")
	}
	c.exporter.replace(nil, receiver{}, time.Hour, registry)
	c.exporter.replace(nil, receiver{}, time.Hour, registry)
	replace(time.Hour, "a=3")
	c.exporter.close(registry, t.Logf)
	server.Close() // waits for the requests
	if len(c.exporter.old) != 0 || requests["1"] == 0 || requests["3"] != 1 || len(requests) != 2 {
		t.Errorf("%d exporters are left, requests by header: %v", len(c.exporter.old), requests)
	}
	if s := c.exporter.stats(); s.Points.Sent == 0 {
		t.Errorf("%+v", s)
	}
}

// TestCloseSendsLast checks that close waits for an older snapshot that is being made.
func TestCloseSendsLast(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	c := newCommand(&scan.System{IO: &iostreams.IO{Env: func(string) string { return "" }}})
	c.otlp.url = server.URL
	registry := metrics.New(time.Now())
	registry.Counter(metrics.Desc{Name: "x", Help: "x"}).With()
	e, err := c.newExporter()
	must.NoError(t, err)
	c.exporter.replace(e, c.receiver(), time.Hour, registry)
	close(c.exporter.stop) // in place of the sender, which has not ended when close is called
	<-c.exporter.stopped
	c.exporter.stop, c.exporter.stopped = make(chan struct{}), make(chan struct{})
	closed := make(chan struct{})
	go func() {
		c.exporter.close(registry, t.Logf)
		close(closed)
	}()
	<-c.exporter.stop
	if s := e.Stats(); s.Points.Waiting+s.Points.Sent != 0 {
		t.Errorf("the last metrics are sent before the sender has ended: %+v", s)
	}
	close(c.exporter.stopped)
	<-closed
	if s := e.Stats(); s.Points.Sent == 0 {
		t.Errorf("%+v", s)
	}
}

// TestWatchdogWhileClosing checks that the watchdog gets messages until close, and that a
// reload is not reported after the end of the capture.
func TestWatchdogWhileClosing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := (&net.ListenConfig{}).ListenPacket(context.Background(), "unixgram", path)
	if err != nil {
		t.Skip(err)
	}
	defer conn.Close()
	s := newService(func(key string) string {
		return map[string]string{"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000"}[key]
	})
	next := func() string {
		t.Helper()
		b := make([]byte, 200)
		n, _, err := conn.ReadFrom(b)
		must.NoError(t, err)
		return string(b[:n])
	}
	s.ready(func() bool { return true })
	s.stopping()
	s.reloading()
	s.reloaded()
	for next() != "STOPPING=1\n" {
	}
	for range 3 {
		if got := next(); got != "WATCHDOG=1\n" {
			t.Errorf("%q after the end of the capture", got)
		}
	}
	s.close()
}
