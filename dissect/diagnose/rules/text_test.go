package rules

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/recovery"
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

// TestFoundOutLater checks that a client's log, which shows that a target was gone when the client had waited for it, gives a lower bound.
func TestFoundOutLater(t *testing.T) {
	for frame, want := range map[int64]string{9: "after 10.0 s", -9: "after at least 10.0 s"} {
		v := &recovery.Recovery{Kind: recovery.Restart, Moments: recovery.Moments{LastReply: track.Point{Frame: 1, Time: 1e9}, GoneBy: recovery.SignUnanswered,
			Gone: track.Point{Frame: frame, Time: 5e9}, Back: track.Point{Frame: 10, Time: 15e9}}}
		assert.That(t, strings.Contains(timesText(v), want), "%d: %q lacks %q", frame, timesText(v), want)
	}
}
