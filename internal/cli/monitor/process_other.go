//go:build !linux

package monitor

import (
	"os"
	"time"

	"github.com/lshark/lshark/internal/monitor"
)

// reloadSignals is empty: live capture needs Linux.
var reloadSignals []os.Signal

// monotonic is 0: there is no systemd on this system.
func monotonic() time.Duration { return 0 }

// process returns nothing: live capture needs Linux.
func process() monitor.Process { return monitor.Process{} }
