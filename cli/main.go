// Package cli is the command line: one file a command, the flags they share,
// exit statuses, and what is decided about terminal and colours. It knows
// nothing about the protocol.
package cli

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the program with the arguments of the process and ends it.
func Main() {
	// A write to a pipe that nobody reads is an error like others.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(Run(System(), os.Args[1:]))
}

// Run runs a command line and returns the exit status.
func Run(sys *IO, args []string) int {
	root := newRoot(sys)
	help := &sticky{to: sys.Out}
	root.SetArgs(bareNumbers(args))
	root.SetOut(help)
	root.SetErr(sys.Err)
	err := root.Execute()
	if err == nil {
		err = help.err
	}
	return sys.status(err)
}

// sticky remembers the first error of a writer: those who print help texts
// look at none.
type sticky struct {
	to  io.Writer
	err error
}

func (s *sticky) Write(b []byte) (int, error) {
	n, err := s.to.Write(b)
	if s.err == nil {
		s.err = err
	}
	return n, err
}
