package rules

import (
	"testing"

	"github.com/lshark/lshark/internal/assert"
)

// TestRounded checks that bounds of times are not passed by rounding.
func TestRounded(t *testing.T) {
	for _, tt := range []struct {
		ns                 int64
		near, down, upward string
	}{
		{31_541_185_000, "31.5 s", "31.5 s", "31.6 s"},
		{9_996_000_000, "10.00 s", "9.99 s", "10.0 s"},
		{1_230_000_000, "1.23 s", "1.23 s", "1.23 s"},
		{183_600_000_000, "184 s", "183 s", "184 s"},
		{3721e9, "62 min", "62 min", "63 min"},
		{12_700_000, "13 ms", "12 ms", "13 ms"},
		{1_260_000, "1.3 ms", "1.2 ms", "1.3 ms"},
		{1_400, "1 µs", "1 µs", "2 µs"},
	} {
		assert.Equal(t, duration(tt.ns), tt.near, "nearest")
		assert.Equal(t, roundedDown(tt.ns), tt.down, "down")
		assert.Equal(t, roundedUp(tt.ns), tt.upward, "up")
	}
}
