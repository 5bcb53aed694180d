package capture

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// DropPrivileges gives up all capabilities of the process permanently. Open
// captures and files remain usable, and files that the user may read can still
// be opened. With keepFiles it keeps CAP_DAC_OVERRIDE, where the process has it: root needs that
// to make files in folders of other users. In a program that was linked with cgo it cannot do so:
// if the process has capabilities, it returns an error that wraps errors.ErrUnsupported.
func DropPrivileges(keepFiles bool) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3} // of this thread
	var held, kept [2]unix.CapUserData
	err := unix.Capget(&header, &held[0])
	if keepFiles && err == nil {
		bit := held[0].Permitted & (1 << unix.CAP_DAC_OVERRIDE)
		kept[0] = unix.CapUserData{Effective: bit, Permitted: bit}
	}
	_, _, code := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0)
	switch {
	case code == unix.ENOTSUP:
		if err == nil && held == kept {
			return nil
		}
		return fmt.Errorf("%w: a build with cgo cannot give up capabilities, one with CGO_ENABLED=0 can", errors.ErrUnsupported)
	case code != 0:
		return os.NewSyscallError("no new privileges", code)
	}
	_, _, code = syscall.AllThreadsSyscall(unix.SYS_CAPSET,
		uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&kept[0])), 0)
	if code != 0 {
		return os.NewSyscallError("give up capabilities", code)
	}
	return nil
}
