//go:build linux || darwin

package iostreams

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// noLink lets opening a symbolic link fail.
const noLink = syscall.O_NOFOLLOW

func notRegular(name string) error {
	return fmt.Errorf("%s is in the way: it is no regular file", filepath.Base(name))
}

// lockFile opens a file, which it creates if it is not there, and locks it until it is
// closed. It does not wait for another process that has it locked, which is an error; so is
// a file that is not regular, such as a link that someone else has put into a folder that
// several users may write. Not all file systems know locks: on others it is open and not
// locked.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|os.O_CREATE|noLink|syscall.O_NONBLOCK, NewFileMode)
	if errors.Is(err, syscall.ELOOP) {
		return nil, notRegular(name)
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(notRegular(name), err, f.Close())
	}
	if errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		return nil, errors.Join(errors.New("another process is writing this file"), f.Close())
	}
	return f, nil
}

// MayRename reports whether a process without privileges may rename files to path: its
// user owns the folder.
func MayRename(path string) bool {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return MayRenameIn(filepath.Dir(path))
}

// MayRenameIn reports whether a process without privileges may make and rename files in a
// folder: its user owns it.
func MayRenameIn(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	const ownerMayWrite = 0o200
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode()&ownerMayWrite != 0
}
