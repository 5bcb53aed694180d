package monitor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/monitor"
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
			n := must.Value(conn.Read(b))(t)
			return string(b[:n])
		}
		s.ready(func() bool { return true })
		assert.Equal(t, next(), "READY=1\n")
		assert.Equal(t, next(), "WATCHDOG=1\n")
		s.reloading()
		got := next()
		for got == "WATCHDOG=1\n" {
			got = next()
		}
		us, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(got, "RELOADING=1\nMONOTONIC_USEC="), "\n"), 10, 64)
		assert.That(t, err == nil && us > 0, "%q", got)
		s.stopping()
		for got = next(); got == "WATCHDOG=1\n"; got = next() {
		}
		assert.Equal(t, got, "STOPPING=1\n")
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
		r := must.Value(http.Get("http://" + s.address() + path))(t)
		defer r.Body.Close()
		b := must.Value(io.ReadAll(r.Body))(t)
		return r.StatusCode, string(b)
	}
	for path, want := range map[string]int{"/metrics": 200, "/healthz": 200, "/-/healthy": 200, "/": 200, "/x": 404} {
		code, text := get(path)
		assert.That(t, code == want, "%s: %d %s", path, code, text)
	}
	alive.Store(false)
	if code, _ := get("/healthz"); code != http.StatusServiceUnavailable {
		t.Errorf("%d when the capture hangs", code)
	}
	r, err := http.Post("http://"+s.address()+"/metrics", "text/plain", strings.NewReader("x"))
	assert.That(t, err == nil && r.StatusCode == http.StatusMethodNotAllowed, "%v, %v", r, err)
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
		conn := must.Value(net.Dial("tcp", s.address()))(t)
		defer conn.Close()
		if i%2 == 0 {
			conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost:")) // it may be closed already
		}
	}
	client := http.Client{Timeout: 10 * readHeaderTimeout}
	resp := must.Value(client.Get("http://" + s.address() + "/healthz"))(t)
	resp.Body.Close()
	assert.Equal(t, resp.StatusCode, http.StatusOK, resp.Status)
}

// TestServerAnswers checks that a request that is being answered is not ended by connections
// without one.
func TestServerAnswers(t *testing.T) {
	s, err := listen("127.0.0.1:0")
	must.NoError(t, err)
	begun, end := make(chan struct{}), make(chan struct{})
	s.serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(begun)
		<-end
	}), func() bool { return true })
	defer s.close()
	answered := make(chan error)
	go func() {
		_, err := http.Get("http://" + s.address() + "/metrics")
		answered <- err
	}()
	<-begun
	for range 2 * maxConnections {
		conn := must.Value(net.Dial("tcp", s.address()))(t)
		defer conn.Close()
	}
	_, err = http.Get("http://" + s.address() + "/healthz") // all others have been accepted
	assert.NoError(t, err)
	close(end)
	assert.NoError(t, <-answered)
}

// TestHasReceiver: the variables of OpenTelemetry have an effect on live captures only, in
// which they make -Y possible.
func TestHasReceiver(t *testing.T) {
	for _, tt := range []struct {
		url, iface, endpoint string
		want                 bool
	}{
		{"", "lo", "", false},
		{"", "lo", "http://collector:4318", true},
		{"", "", "http://collector:4318", false},
		{"http://collector:4318", "", "", true},
	} {
		env := func(name string) string {
			if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
				return tt.endpoint
			}
			return ""
		}
		c := newCommand(&scan.System{IO: &iostreams.IO{Env: env}}, nil)
		c.cobra()
		c.otlp.url, c.display = tt.url, "rpc.error"
		if tt.iface != "" {
			c.input.Interfaces = []string{tt.iface}
		}
		var err error
		if c.in, err = c.input.Check(nil, false); err != nil {
			t.Fatal(err)
		}
		_, err = c.check()
		got := c.hasReceiver()
		assert.That(t, got == tt.want && (err == nil) == tt.want, "%+v: %v, %v", tt, got, err)
	}
}

// TestUnit checks the unit of systemd by its own tool, and that its settings are valid.
func TestUnit(t *testing.T) {
	unit := must.ReadFile(t, "../../../contrib/systemd/lshark-monitor.service")
	conf := must.ReadFile(t, "../../../contrib/systemd/monitor.conf")
	// All settings in the file are valid, also those that are commented out.
	all := strings.ReplaceAll(string(conf), "\n#", "\n")
	var lines []string
	for line := range strings.Lines(all) {
		if name, _, ok := strings.Cut(line, " = "); ok && !strings.Contains(name, " ") {
			lines = append(lines, line)
		}
	}
	path := filepath.Join(t.TempDir(), "monitor.conf")
	must.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	c := newTestCommand()
	if err := readConfig(c.flags, path); err != nil || len(lines) < 8 {
		t.Errorf("%d settings: %v", len(lines), err)
	}
	if p, err := c.check(); err != nil || p.Sample != 1000 || p.Filter == nil || !c.hasReceiver() {
		t.Errorf("%+v, %v", p, err)
	}

	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: apt-get install systemd")
	}
	self := must.Value(os.Executable())(t)
	unit = bytes.ReplaceAll(unit, []byte("/usr/bin/lshark"), []byte(self))
	path = filepath.Join(t.TempDir(), "lshark-monitor.service")
	must.NoError(t, os.WriteFile(path, unit, 0o600))
	if out, err := exec.Command(tool, "verify", "--man=no", path).CombinedOutput(); err != nil || bytes.Contains(out, []byte("lshark-monitor.service:")) {
		t.Errorf("%v: %s", err, out)
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
		assert.Equal(t, next(), "WATCHDOG=1\n", "after the end of the capture")
	}
	s.close()
}

// TestStoppingComesFirst checks that systemd knows that the capture has ended before the monitor counts
// what is still open.
func TestStoppingComesFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Skip(err)
	}
	defer conn.Close()
	c := newTestCommand()
	c.in = must.Value(c.input.Check([]string{"-"}, false))(t)
	c.pass = scan.New(c.sys, c.in, scan.Options{})
	c.service = newService(func(string) string { return path })
	defer c.service.close()
	counted := false
	c.monitor = monitor.New(monitor.Options{Top: 1, Captured: func() (none diagnose.Capture) {
		counted = true
		b := make([]byte, 200)
		must.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Second)))
		n := must.Value(conn.Read(b))(t)
		assert.Equal(t, string(b[:n]), "STOPPING=1\n")
		return none
	}}, time.Unix(0, 0))
	observer{c.monitor, c}.Close()
	assert.That(t, counted, "the monitor was not closed")
}
