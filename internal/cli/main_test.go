package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// TestPostponeCollection checks that only the first garbage collection waits.
func TestPostponeCollection(t *testing.T) {
	percent := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	const usual = 150
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	t.Setenv("GOGC", "off")
	postponeCollection()
	if got := percent(); got != usual {
		t.Errorf("with GOGC in the environment: %d", got)
	}
	t.Setenv("GOGC", "")
	postponeCollection()
	if got := percent(); got <= usual {
		t.Errorf("before the first collection: %d", got)
	}
	const tries = 10000 // the cleanup runs in a goroutine of its own
	for range tries {
		if runtime.GC(); percent() == usual {
			return
		}
	}
	t.Errorf("after the first collection: %d", percent())
}
