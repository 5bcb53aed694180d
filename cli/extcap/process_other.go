//go:build !unix

package extcap

import (
	"os"
	"os/exec"
)

// waitForReaderGone returns false: this system cannot tell. The next Write fails.
func waitForReaderGone(*os.File) bool { return false }

// ignoreTerminal does nothing on this system.
func ignoreTerminal(*exec.Cmd) {}
