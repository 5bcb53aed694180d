package sql

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// addInode adds the inode of a file. The time of its last change cannot be set back, as
// that of the content can.
func (s *state) addInode(info os.FileInfo) {
	inode, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	changed := time.Unix(inode.Ctim.Unix())
	s.text += fmt.Sprintf(" %d %d %d", inode.Dev, inode.Ino, changed.UnixNano())
	if changed.After(s.changed) {
		s.changed = changed
	}
}

// isOwn reports whether a file belongs to the user of this process.
func isOwn(info os.FileInfo) bool {
	inode, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(inode.Uid) == os.Geteuid()
}
