// Package exit holds the exit statuses of the program, the errors that lead to
// them, and how errors are reported.
package exit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/filter"
)

// The exit statuses.
const (
	OK      = 0
	Failure = 1
	Usage   = 2 // usage or filter syntax
	Damage  = 3 // the input is damaged or not a capture
	Signal  = 130
)

// Found is the exit status of a command that is to tell by it what it has found. It is not
// reported: the output has it.
type Found int

// The statuses of what was found.
const (
	FoundError   Found = 4
	FoundWarning Found = 5 // and no error
)

func (f Found) Error() string { return "findings" }

// Interrupted is the error of a command that the user ended by Ctrl-C before it had read all.
type Interrupted struct {
	Read, Total int64  // bytes of the input, 0: unknown
	Result      string // empty: the output is partial
}

func (e Interrupted) Error() string {
	result := cmp.Or(e.Result, "the output is partial")
	if e.Total == 0 {
		return "interrupted: " + result
	}
	return fmt.Sprintf("interrupted after %d%% of the input: %s", min(e.Read, e.Total)*100/e.Total, result)
}

// UsageError is an error in the command line.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError with the formatted text.
func Usagef(format string, args ...any) error {
	return UsageError{fmt.Errorf(format, args...)}
}

// DidYouMean returns the end of an error about an unknown name, empty without names that may be meant.
func DidYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, ", ") + "?"
}

// UnknownName returns the usage error for a name that is not in list; noun is
// what the name should be, such as "field". It suggests similar names, or shows
// the whole list if that is short.
func UnknownName(noun, name string, list []string) error {
	const short = 12
	hint := DidYouMean(schema.Nearest(name, list, 3))
	if hint == "" && len(list) <= short {
		hint = "; known are " + strings.Join(list, ", ")
	}
	return Usagef("unknown %s %q%s", noun, name, hint)
}

// Status reports err, if any, on standard error and returns the exit status. It
// is no error that the reader of our output went away.
func Status(s *iostreams.IO, err error) int {
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return OK
	}
	reported := lines(err)
	for i, line := range reported {
		if !slices.Contains(reported[:i], line) { // the one that writes and the one that closes a file have the same error
			s.Say("%s", line)
		}
	}
	var found Found
	switch {
	case len(reported) == 0 && errors.Is(err, FoundError):
		return int(FoundError)
	case len(reported) == 0 && errors.As(err, &found):
		return int(found)
	case errors.As(err, new(Interrupted)):
		return Signal
	case errors.As(err, new(UsageError)), errors.As(err, new(*filter.Error)):
		return Usage
	case errors.Is(err, iostreams.ErrWrite):
		return Failure // of damaged input, too: what could be read is not all written
	case errors.As(err, new(*capture.DamageError)):
		return Damage
	}
	return Failure
}

// lines returns the text of an error by lines. Joined errors and errors in a
// display filter have several. All others have one, even if a file name in them
// has line breaks.
func lines(err error) []string {
	var syntax *filter.Error
	if errors.As(err, &syntax) && err.Error() == syntax.Error() {
		return syntax.Lines()
	}
	if _, found := err.(Found); found {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	var all, texts []string
	for _, one := range joined.Unwrap() {
		all, texts = append(all, lines(one)...), append(texts, one.Error())
	}
	if err.Error() != strings.Join(texts, "\n") {
		return []string{err.Error()} // not errors.Join: it has a text of its own
	}
	return all
}
