//go:build unix

package extcap

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// watchReader closes gone when nothing reads from a pipe, FIFO or socket any more. It does
// nothing for other files.
func watchReader(file *os.File, gone chan<- struct{}) {
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return
	}
	fds := []unix.PollFd{{Fd: int32(file.Fd())}}
	go func() {
		for fds[0].Revents == 0 {
			if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR {
				return
			}
		}
		if fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
			close(gone)
		}
	}()
}

// ignoreTerminal keeps a signal of the terminal, such as Ctrl-C, from a process: it is
// ended by this one.
func ignoreTerminal(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
