//go:build !unix

package sql

import "os"

// brokenPipe reports whether a process was ended by SIGPIPE, which this system lacks.
func brokenPipe(*os.ProcessState) bool { return false }
