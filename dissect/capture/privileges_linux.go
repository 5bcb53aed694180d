package capture

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// DropPrivileges gives up all capabilities of the process permanently. Open
// captures and files remain usable, and files that the user may read can still
// be opened. In a program that was linked with cgo it changes nothing and returns
// an error that wraps errors.ErrUnsupported.
func DropPrivileges() error {
	if _, _, code := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); code != 0 {
		return os.NewSyscallError("no new privileges", code)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3} // of this thread
	var none [2]unix.CapUserData
	_, _, code := syscall.AllThreadsSyscall(unix.SYS_CAPSET,
		uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	if code != 0 {
		return os.NewSyscallError("give up capabilities", code)
	}
	return nil
}
