package monitor

import (
	"testing"
	"time"

	"github.com/lshark/lshark/internal/monitor/metrics"
)

// TestStartTimeIsConstant checks that a clock that is adjusted does not look like a
// restart.
func TestStartTimeIsConstant(t *testing.T) {
	now := time.Unix(1795334400, 0)
	m := New(Options{Live: true, Top: 1}, now)
	started := now
	m.OnCollect(func() Health {
		started = started.Add(3 * time.Microsecond)
		return Health{Process: Process{Started: started}}
	})
	first := unixSeconds(now.Add(3 * time.Microsecond))
	var s metrics.Snapshot
	for range 3 {
		m.Registry().Snapshot(&s)
		for _, f := range s.Families {
			if f.Name == "process_start_time_seconds" && (len(f.Points) != 1 || f.Points[0].Value != first) {
				t.Errorf("%s is %+v, want %v", f.Name, f.Points, first)
			}
		}
	}
}
