package outdir

import (
	"os"

	"golang.org/x/sys/unix"
)

// noFollow is the flag by which symbolic links are not opened.
const noFollow = unix.O_NOFOLLOW

// lockFile locks a file until it is closed. It fails when another process has locked it.
func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// freeBytes returns how many bytes a user may write to the disk of a directory.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, os.NewSyscallError("statfs", err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}
