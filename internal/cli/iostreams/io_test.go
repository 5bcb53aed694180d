package iostreams

import (
	"bytes"
	"testing"
	"time"
)

// TestPrintable checks that only text that could control a terminal is escaped.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{"a b": "a b", "ü \"x\"": "ü \"x\"", "\x1b[m\"": `\x1b[m"`, "\xff": `\xff`, "\u202e": `\u202e`} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
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
		if got := sys.Colored(c.flag); got != c.want {
			t.Errorf("%s, terminal %v, %v: %v", c.flag, c.tty, c.env, got)
		}
	}
}

func TestProgressLine(t *testing.T) {
	for _, tt := range []struct {
		read, total int64
		spent       time.Duration
		want        string
	}{
		{500, 0, time.Second, "500 B read"},
		{2_500_000, 0, time.Second, "2.5 MB read"},
		{25e9, 100e9, 30 * time.Second, "25% of 100.0 GB, 1m30s left"},
		{0, 100, time.Second, "0 B read"},
		{300, 200, time.Second, "100% of 200 B, 0s left"},
	} {
		if got := progressLine(tt.read, tt.total, tt.spent); got != tt.want {
			t.Errorf("%d of %d: %q, want %q", tt.read, tt.total, got, tt.want)
		}
	}
}

// TestProgressForPeople checks that the line appears only on a terminal that
// shows nothing else.
func TestProgressForPeople(t *testing.T) {
	count := func() (read, total int64) { return 1, 2 }
	for _, tt := range []struct {
		outTTY, errTTY bool
		bytes          func() (read, total int64)
		want           bool
	}{
		{false, true, count, true},
		{true, true, count, false},
		{false, false, count, false},
		{false, true, nil, false},
	} {
		var b bytes.Buffer
		s := &IO{Err: &b, OutTTY: tt.outTTY, ErrTTY: tt.errTTY}
		p := s.NewProgress(tt.bytes)
		p.Stop()
		if (p != nil) != tt.want {
			t.Errorf("%v, %v: shown %v", tt.outTTY, tt.errTTY, p != nil)
		}
		if b.Len() > 0 {
			t.Errorf("%v, %v: wrote %q although it took no time", tt.outTTY, tt.errTTY, b.Bytes())
		}
	}
}
