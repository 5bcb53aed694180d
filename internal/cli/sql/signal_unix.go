//go:build unix

package sql

import (
	"os"
	"syscall"
)

func brokenPipe(p *os.ProcessState) bool {
	status, ok := p.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGPIPE
}
