package monitor

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lshark/lshark/internal/monitor"
)

var reloadSignals = []os.Signal{syscall.SIGHUP}

// ticksPerSecond is the unit of times in /proc, which is the same on all systems (USER_HZ).
const ticksPerSecond = 100

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
		if fields := bytes.Fields(b); len(fields) > 1 {
			pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
			if err == nil {
				p.Memory = pages * int64(os.Getpagesize())
			}
		}
	}
	if list, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.Files = len(list) - 1 // without the folder itself
	}
	p.Started = started()
	return p
}

func started() time.Time {
	const startTime = 22 - 3 // field 22 of proc_pid_stat(5), after the name in brackets and the state
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return time.Time{}
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	var boot, now unix.Timespec
	if len(fields) <= startTime || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil ||
		unix.ClockGettime(unix.CLOCK_REALTIME, &now) != nil {
		return time.Time{}
	}
	ticks, err := strconv.ParseInt(string(fields[startTime]), 10, 64)
	if err != nil {
		return time.Time{}
	}
	age := boot.Nano() - ticks*(1e9/ticksPerSecond)
	return time.Unix(0, now.Nano()-age)
}
