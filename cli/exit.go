package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/lshark/lshark/capture"
	"github.com/lshark/lshark/filter"
	"github.com/lshark/lshark/opcodes/schema"
)

// The exit statuses.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2 // usage or filter syntax
	exitDamage  = 3 // the input is damaged or not a capture
)

// usageError is an error of the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// unknown is the usage error for a name that is none of some. It offers those
// that are like it, or all when they are few.
func unknown(what, name string, among []string) error {
	const few = 12
	if near := schema.Nearest(name, among, 3); len(near) > 0 {
		return usagef("unknown %s %q; did you mean %s?", what, name, strings.Join(near, ", "))
	}
	if len(among) <= few {
		return usagef("unknown %s %q; there are %s", what, name, strings.Join(among, ", "))
	}
	return usagef("unknown %s %q", what, name)
}

// status tells the user what went wrong and returns the exit status.
func (sys *IO) status(err error) int {
	var usage usageError
	var damage *capture.DamageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE) && !errors.Is(err, errSave):
		return exitOK
	case errors.As(err, &usage):
		sys.complain(err)
		return exitUsage
	case errors.As(err, &damage):
		sys.complain(err)
		return exitDamage
	}
	sys.complain(err)
	return exitFailure
}

// complain writes an error to Err, each of several on a line of its own.
func (sys *IO) complain(err error) {
	for _, line := range errorLines(err) {
		sys.say("%s", line)
	}
}

// errorLines is the text of an error by lines. Errors that were joined and
// mistakes in a display filter have several. All others have one, also where a
// name of somebody's choice in it has line breaks.
func errorLines(err error) []string {
	var mistake *filter.Error
	if errors.As(err, &mistake) && err.Error() == mistake.Error() {
		return mistake.Lines()
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	var all, texts []string
	for _, one := range joined.Unwrap() {
		all, texts = append(all, errorLines(one)...), append(texts, one.Error())
	}
	if err.Error() != strings.Join(texts, "\n") {
		return []string{err.Error()} // one that says more than those it wraps
	}
	return all
}

// say writes a line to Err.
func (sys *IO) say(format string, args ...any) {
	fmt.Fprintf(sys.Err, "lshark: %s\n", shown(fmt.Sprintf(format, args...)))
}

// shown is text in which nothing acts upon a terminal: names of files come
// from strangers, too.
func shown(s string) string {
	odd := func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }
	if !strings.ContainsFunc(s, odd) {
		return s
	}
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}
