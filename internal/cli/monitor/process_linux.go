package monitor

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lshark/lshark/internal/monitor"
)

var reloadSignals = []os.Signal{syscall.SIGHUP}

// monotonic returns the clock that systemd compares with.
func monotonic() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// process returns what the system knows about the process. What it does not show is 0.
func process() (p monitor.Process) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) == nil {
		p.CPU = float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		var pages, resident int64
		_, _ = fmt.Sscan(string(b), &pages, &resident)
		p.Memory = resident * int64(os.Getpagesize())
	}
	if list, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.Files = len(list) - 1 // without the folder itself
	}
	return p
}
