//go:build unix

package sql

import (
	"os"
	"syscall"
)

// brokenPipe reports whether a process was ended by SIGPIPE.
func brokenPipe(p *os.ProcessState) bool {
	status, ok := p.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGPIPE
}
