//go:build unix

package extcap

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// waitForReaderGone waits until nothing reads from a pipe or FIFO any more. It returns
// false at once for other files.
func waitForReaderGone(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(file.Fd())}}
	for {
		switch _, err := unix.Poll(fds, -1); {
		case err == unix.EINTR:
		case err != nil:
			return false
		case fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
			return true
		case fds[0].Revents != 0:
			return false
		}
	}
}

// ignoreTerminal keeps a signal of the terminal, such as Ctrl-C, from a process: it is
// ended by this one.
func ignoreTerminal(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
