package iostreams

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// TestPrintable checks that only text that could control a terminal is escaped.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{"a b": "a b", "ü \"x\"": "ü \"x\"", "\x1b[m\"": `\x1b[m"`, "\xff": `\xff`, "\u202e": `\u202e`} {
		assert.Equal(t, Printable(text), want, text)
	}
}

// TestColored checks the order of precedence: the flag, then NO_COLOR,
// CLICOLOR_FORCE, CLICOLOR, TERM and the terminal.
func TestColored(t *testing.T) {
	for _, c := range []struct {
		flag string
		tty  bool
		env  map[string]string
		want bool
	}{
		{"always", false, map[string]string{"NO_COLOR": "1"}, true},
		{"never", true, map[string]string{"CLICOLOR_FORCE": "1"}, false},
		{"auto", true, nil, true},
		{"auto", false, nil, false},
		{"auto", true, map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, false},
		{"auto", true, map[string]string{"NO_COLOR": ""}, true},
		{"auto", false, map[string]string{"CLICOLOR_FORCE": "1", "TERM": "dumb"}, true},
		{"auto", false, map[string]string{"CLICOLOR_FORCE": "0"}, false},
		{"auto", true, map[string]string{"CLICOLOR": "0"}, false},
		{"auto", false, map[string]string{"CLICOLOR": "1"}, false},
		{"auto", true, map[string]string{"TERM": "dumb"}, false},
	} {
		sys := &IO{OutTTY: c.tty, Env: func(name string) string { return c.env[name] }}
		assert.Equal(t, sys.Colored(c.flag), c.want, c.flag, "terminal", c.tty, c.env)
	}
}

func TestProgressLine(t *testing.T) {
	for _, tt := range []struct {
		read, total int64
		spent       time.Duration
		want        string
	}{
		{500, 0, time.Second, "500 B read, 500 B/s"},
		{2_500_000, 0, time.Second, "2.4 MiB read, 2.4 MiB/s"},
		{25e9, 100e9, 30 * time.Second, "25% of 93 GiB, 795 MiB/s, 1m30s left"},
		{0, 100, time.Second, "0 B read, 0 B/s"},
		{300, 200, time.Second, "100% of 200 B, 300 B/s, 0s left"},
	} {
		assert.Equal(t, progressLine(tt.read, tt.total, tt.spent), tt.want, tt.read, tt.total)
	}
}

// TestStatusLine checks that the line gives way to everything else on the terminal.
func TestStatusLine(t *testing.T) {
	var b bytes.Buffer
	s := &IO{Out: &b, Err: &b, OutTTY: true, ErrTTY: true, line: &statusLine{}}
	s.line.show(s.Err, "1%")
	w := s.NewWriter(FlushWhenFull)
	must.NoError(t, w.Write([]byte("a line\n")))
	s.line.show(s.Err, "2%") // too early
	s.line.quiet = time.Now()
	s.line.show(s.Err, "3%")
	s.Say("a note")
	want := clearLine + "1%" + clearLine + "a line\n" + clearLine + "3%" + clearLine + "lshark: a note\n"
	assert.Equal(t, b.String(), want, &b)
}

// TestReadBytes checks the sum over several readings.
func TestReadBytes(t *testing.T) {
	var r ReadBytes
	s := &IO{Reading: r.Reading}
	for range 2 {
		defer s.NewProgress(func() (read, total int64) { return 3, 10 }).Stop()
	}
	p := s.NewProgress(func() (read, total int64) { return 7, 10 })
	assert.Equal(t, r.Sum(), 13, "bytes, want 13")
	p.Stop()
	r.Add(10)
	assert.Equal(t, r.Sum(), 16, "bytes, want 16")
}

// TestProgressForPeople checks that the line appears only on a terminal.
func TestProgressForPeople(t *testing.T) {
	count := func() (read, total int64) { return 1, 2 }
	for _, tt := range []struct {
		outTTY, errTTY bool
		bytes          func() (read, total int64)
		want           bool
	}{
		{false, true, count, true},
		{true, true, count, true},
		{false, false, count, false},
		{false, true, nil, false},
	} {
		var b bytes.Buffer
		s := &IO{Err: &b, OutTTY: tt.outTTY, ErrTTY: tt.errTTY}
		p := s.NewProgress(tt.bytes)
		p.Stop()
		assert.Equal(t, p != nil, tt.want, tt.outTTY, tt.errTTY, "shown")
		if b.Len() > 0 {
			t.Errorf("%v, %v: wrote %q although it took no time", tt.outTTY, tt.errTTY, b.Bytes())
		}
	}
}

// TestFlushInPause checks that all that was written to a pipe arrives although nothing is written after it.
func TestFlushInPause(t *testing.T) {
	r, out, err := os.Pipe()
	must.NoError(t, err)
	defer r.Close()
	w := (&IO{Out: out}).NewWriter(FlushOften)
	for range 3 {
		must.NoError(t, w.Write([]byte("line\n")))
	}
	got := make([]byte, 3*len("line\n"))
	_, err = io.ReadFull(r, got) // waits for the flush
	must.NoError(t, err)
	must.NoError(t, w.Close())
	must.NoError(t, out.Close())
}
