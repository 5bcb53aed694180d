//go:build linux || darwin

package iostreams

import (
	"os"
	"syscall"
)

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
