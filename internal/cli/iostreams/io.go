// Package iostreams holds the standard streams of the program and their
// settings: width and colours of the terminal, buffering and flushing of the
// output, the progress line, and messages on standard error.
package iostreams

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// IO is the standard streams and the environment of a command. Tests fill in
// their own.
type IO struct {
	Out, Err io.Writer
	InTTY    bool // standard input is a terminal
	OutTTY   bool
	ErrTTY   bool
	Columns  int                      // width of the terminal behind Out, 0 if unknown
	Env      func(name string) string // as os.Getenv
	About    string                   // what all messages of Say are about, empty for nothing particular

	// Reading, if it is set, is called in place of showing a progress line. Who calls it
	// calls stop at the end.
	Reading func(bytes func() (read, total int64)) (stop func())

	line *statusLine // on the terminal
}

// System returns the streams and the environment of the process.
func System() *IO {
	s := &IO{Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, line: &statusLine{}}
	s.InTTY = term.IsTerminal(int(os.Stdin.Fd()))
	s.OutTTY = term.IsTerminal(int(os.Stdout.Fd()))
	s.ErrTTY = term.IsTerminal(int(os.Stderr.Fd()))
	if s.OutTTY {
		s.Columns, _ = s.Size()
	}
	return s
}

// Say writes a message to Err, as one line that begins with the name of the
// program and with About.
func (s *IO) Say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.About != "" {
		text = s.About + ": " + text
	}
	s.line.hide()
	fmt.Fprintf(s.Err, "lshark: %s\n", Printable(text))
}

// Printable escapes everything in text that could control a terminal. File names
// are untrusted, too.
func Printable(text string) string {
	special := func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }
	if !strings.ContainsFunc(text, special) {
		return text
	}
	q := strconv.Quote(text)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// IsOut reports whether file is the regular file or the pipe behind Out.
// Devices such as /dev/null do not count: nothing in them can be overwritten.
func (s *IO) IsOut(file os.FileInfo) bool {
	f, ok := s.Out.(*os.File)
	if !ok || file.Mode()&os.ModeDevice != 0 {
		return false
	}
	out, err := f.Stat()
	return err == nil && os.SameFile(file, out)
}
