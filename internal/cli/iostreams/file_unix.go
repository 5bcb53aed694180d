//go:build linux || darwin

package iostreams

import (
	"os"
	"syscall"
)

// IsOwn reports whether a file or folder belongs to the user of this process.
func IsOwn(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
