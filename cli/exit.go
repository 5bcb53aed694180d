package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/lshark/lshark/capture"
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

// unknown is the usage error for a name that does not exist, with those that
// do and are like it.
func unknown(what, name string, near []string) error {
	if len(near) == 0 {
		return usagef("unknown %s %q", what, name)
	}
	return usagef("unknown %s %q; did you mean %s?", what, name, strings.Join(near, ", "))
}

// status tells the user what went wrong and returns the exit status.
func (sys *IO) status(err error) int {
	var usage usageError
	var damage *capture.DamageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
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
	for _, line := range strings.Split(err.Error(), "\n") {
		fmt.Fprintf(sys.Err, "lshark: %s\n", line)
	}
}
