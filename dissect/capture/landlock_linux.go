package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlockRights are the rights that the first versions of Landlock know, by version. Later
// ones add none about opening and changing regular files.
var landlockRights = []uint64{
	unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1,
	unix.LANDLOCK_ACCESS_FS_REFER<<1 - 1,
	unix.LANDLOCK_ACCESS_FS_TRUNCATE<<1 - 1,
}

const (
	readRights  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeRights = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR

	runRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE // devices are opened to be written

	// fileRights are those that a rule for a file, not for a folder, may have.
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// ConfineFiles takes from the process, for good, the right to open any file but those in
// the given folders, or of the given names: some to be read, some also to be made, written,
// renamed and removed, with folders in them, some to be run, or opened by what is run. Open files
// remain usable. What does not exist is left out. Where the kernel has no Landlock, or the program
// was linked with cgo, it returns an error that wraps errors.ErrUnsupported, and changes nothing.
// DropPrivileges must come first.
func ConfineFiles(read, write, run []string) error {
	version, _, code := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if code != 0 {
		return fmt.Errorf("%w: this kernel has no Landlock", errors.ErrUnsupported)
	}
	rules := landlock{handled: landlockRights[min(int(version), len(landlockRights))-1]}
	attributes := unix.LandlockRulesetAttr{Handled_access_fs: rules.handled}
	// The size says which fields the kernel shall read: the first, which all versions know.
	fd, _, code := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes.Handled_access_fs), 0)
	if code != 0 {
		return os.NewSyscallError("landlock_create_ruleset", code)
	}
	rules.fd = int(fd)
	defer unix.Close(rules.fd)
	for _, path := range read {
		if err := rules.allow(path, readRights); err != nil {
			return err
		}
	}
	for _, path := range write {
		if err := rules.allow(path, writeRights); err != nil {
			return err
		}
	}
	for _, path := range run {
		if err := rules.allow(path, runRights); err != nil {
			return err
		}
	}
	_, _, code = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
	switch {
	case code == unix.ENOTSUP:
		return fmt.Errorf("%w: a build with cgo", errors.ErrUnsupported)
	case code != 0:
		return os.NewSyscallError("landlock_restrict_self", code)
	}
	return nil
}

// landlock is a set of rules of Landlock.
type landlock struct {
	fd      int
	handled uint64 // rights that the kernel knows
}

// allow adds rights for a file, or for all below a folder.
func (l *landlock) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		return nil
	case err != nil:
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & l.handled, Parent_fd: int32(fd)}
	_, _, code := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(l.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if code != 0 {
		return &fs.PathError{Op: "landlock_add_rule", Path: path, Err: code}
	}
	return nil
}
