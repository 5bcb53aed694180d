package monitor

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/must"
)

// newTestCommand returns a command without flags.
func newTestCommand(args ...string) *command {
	c := newCommand(&scan.System{IO: &iostreams.IO{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Env: func(string) string { return "" }}}, nil)
	if err := c.cobra().ParseFlags(args); err != nil {
		panic(err)
	}
	return c
}

// TestReload changes a file of settings and reads it again.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "monitor.conf")
	write := func(text string) {
		t.Helper()
		must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("top = 5\nsample = 1/10\nkeep-size = 1G\n")
	c := newTestCommand("--config", path, "--records", "x", "--rotate-time", "2h", "--otlp", "http://127.0.0.1:1")
	must.NoError(t, readConfig(c.flags, c.path))
	if p, err := c.check(); err != nil || c.top != 5 || p.Sample != 10 || p.Rotation.KeepSize != 1<<30 {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, step := range []struct {
		text, wrong string
		sample      uint64
	}{
		{"top = 5\nsample = 1/20\nrotate-time = 1h\n\n# words\ndisplay = rpc.error", "", 20},
		{"top = 6\nsample = 1/30\n", "top cannot change without a restart", 0},
		{"sample = 1/30\n", "top cannot change without a restart", 0},
		{"top = 5\notlp-interval = 5s\n", "otlp-interval cannot change without a restart", 0},
		{"top = 5\nsample = 30\n", "monitor.conf:2: sample: must be 1/N", 0},
		{"top = 5\ndisplay = pb_opc ==\n", "pb_opc ==", 0},
		{"top = 5\nkeep = 1d\n", "unknown setting", 0},
		{"top = 5\nconfig = other\n", "unknown setting", 0},
		{"top = 5\nnothing\n", "must be NAME = VALUE", 0},
		{"top = 5\nkeep-time = 30d\n", "", 0},
	} {
		write(step.text)
		c.changed.Store(nil)
		failed := c.reloads.Load().Failed
		c.reload()
		p := c.changed.Load()
		said := c.sys.Err.(*bytes.Buffer).String()
		c.sys.Err.(*bytes.Buffer).Reset()
		if step.wrong != "" {
			if p != nil || c.reloads.Load().Failed != failed+1 || !c.reloads.Load().LastFailed || !strings.Contains(said, step.wrong) || strings.Count(said, "\n") != 1 {
				t.Errorf("%q: %+v, %q", step.text, p, said)
			}
			continue
		}
		if p == nil || c.reloads.Load().LastFailed || p.Sample != step.sample || p.Rotation.Time != 2*time.Hour {
			t.Errorf("%q: %+v, %q", step.text, p, said)
		}
	}
	assert.Equal(t, c.reloads.Load().Succeeded, 2, "reloads")
}

// TestValues checks the flags with units.
func TestValues(t *testing.T) {
	var a age
	var f fraction
	for _, tt := range []struct {
		v interface {
			Set(string) error
			String() string
		}
		text, want string // empty: an error
	}{
		{&a, "30d", "30d"}, {&a, "90m", "1h30m"}, {&a, "24h", "1d"}, {&a, "0", "0"}, {&a, "1s", "1s"}, {&a, "-1h", ""}, {&a, "d", ""}, {&a, "1", ""},
		{&f, "1/1000", "1/1000"}, {&f, "1/0", ""}, {&f, "2/3", ""}, {&f, "", ""}, {&f, "1000", ""},
	} {
		err := tt.v.Set(tt.text)
		assert.That(t, (err == nil) == (tt.want != "") && (err != nil || tt.v.String() == tt.want), "%s: %s, %v", tt.text, tt.v, err)
	}
}

// stuck is a standard error that nobody reads.
type stuck struct{ entered, release chan struct{} }

func (s stuck) Write(b []byte) (int, error) {
	close(s.entered)
	<-s.release
	return len(b), nil
}

// TestReloadStuck checks that metrics, and with them the capture, do not wait for the
// message about a reload.
func TestReloadStuck(t *testing.T) {
	w := stuck{make(chan struct{}), make(chan struct{})}
	c := newTestCommand()
	var err error
	if c.in, err = c.input.Check([]string{os.DevNull}, false); err != nil {
		t.Fatal(err)
	}
	c.sys.Err = w
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.reload()
	}()
	<-w.entered
	h := c.health()
	assert.That(t, h.Reload.Succeeded == 1, "%+v", h.Reload)
	close(w.release)
	<-done
}
