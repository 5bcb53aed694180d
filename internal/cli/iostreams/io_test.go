package iostreams

import "testing"

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
