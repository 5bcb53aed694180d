package sql

import (
	"os"
	"syscall"
)

// isOwn reports whether a file belongs to the user of this process.
func isOwn(info os.FileInfo) bool {
	inode, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(inode.Uid) == os.Geteuid()
}
