// Package cli is the command line: one file a command, the flags they share,
// exit statuses, and what is decided about terminal and colours. It knows
// nothing about the protocol.
package cli

import (
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
	root.SetArgs(bareNumbers(args))
	root.SetOut(sys.Out)
	root.SetErr(sys.Err)
	return sys.status(root.Execute())
}
