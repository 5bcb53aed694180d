//go:build !unix

package extcap

import (
	"os"
	"os/exec"
)

// watchReader does nothing on this system, which cannot tell. The next Write fails.
func watchReader(*os.File, chan<- struct{}) {}

func ignoreTerminal(*exec.Cmd) {}
