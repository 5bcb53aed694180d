//go:build !linux

package outdir

import (
	"math"
	"os"
)

// noFollow is 0: live capture needs Linux.
const noFollow = 0

// lockFile does nothing: the directory must not be used by two processes.
func lockFile(*os.File) error { return nil }

// freeBytes is unknown: a full disk shows when something is written.
func freeBytes(string) (int64, error) { return math.MaxInt64, nil }
