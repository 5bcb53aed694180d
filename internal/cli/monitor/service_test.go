package monitor

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/must"
)

// TestService checks the messages to systemd, over a socket with a path and over an abstract
// one.
func TestService(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "notify"), "@lshark-test-" + strconv.Itoa(int(ids.Add(1))) + filepath.Base(t.TempDir())} {
		conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
		if err != nil {
			t.Skip(err)
		}
		defer conn.Close()
		s := newService(func(key string) string {
			return map[string]string{"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "2000"}[key]
		})
		next := func() string {
			t.Helper()
			b := make([]byte, 200)
			n, err := conn.Read(b)
			must.NoError(t, err)
			return string(b[:n])
		}
		s.ready(func() bool { return true })
		if got := next(); got != "READY=1\n" {
			t.Errorf("%q", got)
		}
		if got := next(); got != "WATCHDOG=1\n" {
			t.Errorf("%q", got)
		}
		s.reloading()
		got := next()
		for got == "WATCHDOG=1\n" {
			got = next()
		}
		us, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(got, "RELOADING=1\nMONOTONIC_USEC="), "\n"), 10, 64)
		if err != nil || us <= 0 {
			t.Errorf("%q", got)
		}
		s.stopping()
		for got = next(); got == "WATCHDOG=1\n"; got = next() {
		}
		if got != "STOPPING=1\n" {
			t.Errorf("%q", got)
		}
	}
	s := newService(func(string) string { return "" })
	s.ready(func() bool { return true })
	s.stopping()
}

var ids atomic.Int64

// TestServer checks the pages of the server.
func TestServer(t *testing.T) {
	s, err := listen("127.0.0.1:0")
	must.NoError(t, err)
	var alive atomic.Bool
	alive.Store(true)
	s.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "metrics") }), alive.Load)
	get := func(path string) (int, string) {
		t.Helper()
		r, err := http.Get("http://" + s.address() + path)
		must.NoError(t, err)
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		must.NoError(t, err)
		return r.StatusCode, string(b)
	}
	for path, want := range map[string]int{"/metrics": 200, "/healthz": 200, "/-/healthy": 200, "/": 200, "/x": 404} {
		if code, text := get(path); code != want {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	alive.Store(false)
	if code, _ := get("/healthz"); code != http.StatusServiceUnavailable {
		t.Errorf("%d when the capture hangs", code)
	}
	r, err := http.Post("http://"+s.address()+"/metrics", "text/plain", strings.NewReader("x"))
	if err != nil || r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("%v, %v", r, err)
	}
	r.Body.Close()
	s.close()
	if _, err := http.Get("http://" + s.address() + "/"); err == nil {
		t.Error("the server answers after close")
	}
	if _, err := listen("9988"); err == nil {
		t.Error("an address without a host was taken")
	}
}

// TestServiceFull checks that a notify socket that nobody reads does not hold up the capture.
func TestServiceFull(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Skip(err)
	}
	defer conn.Close()
	s := newService(func(key string) string { return map[string]string{"NOTIFY_SOCKET": name}[key] })
	defer s.close()
	for full := false; !full; {
		s.conn.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
		_, err := s.conn.Write([]byte("STATUS=\n"))
		full = errors.Is(err, os.ErrDeadlineExceeded)
	}
	s.conn.SetWriteDeadline(time.Time{})
	done := make(chan struct{})
	go func() {
		s.stopping()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(100 * notifyTimeout):
		t.Error("stopping waits for systemd")
	}
}

// TestServerBusy checks that connections without a request do not keep others away.
func TestServerBusy(t *testing.T) {
	s, err := listen("127.0.0.1:0")
	must.NoError(t, err)
	s.serve(http.NotFoundHandler(), func() bool { return true })
	defer s.close()
	for i := range 10 * maxConnections {
		conn, err := net.Dial("tcp", s.address())
		must.NoError(t, err)
		defer conn.Close()
		if i%2 == 0 {
			conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost:")) // it may be closed already
		}
	}
	client := http.Client{Timeout: 10 * readHeaderTimeout}
	resp, err := client.Get("http://" + s.address() + "/healthz")
	must.NoError(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s", resp.Status)
	}
}
