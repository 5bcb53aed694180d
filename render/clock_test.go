package render

import (
	"math"
	"testing"
	"time"
)

// TestTimesOfStrangers writes the times that a hostile capture can have: the
// difference of two can be the one number that has no positive one.
func TestTimesOfStrangers(t *testing.T) {
	for ns, want := range map[int64][2]string{
		0:             {"0.000000000", "0us"},
		-1:            {"-0.000000001", "-0us"},
		-1_500_000:    {"-0.001500000", "-1.5ms"},
		math.MaxInt64: {"9223372036.854775807", "9223372036s"},
		math.MinInt64: {"-9223372036.854775808", "-9223372036s"},
	} {
		if got := string(AppendElapsed(nil, ns, 9)); got != want[0] {
			t.Errorf("%d: %s, want %s", ns, got, want[0])
		}
		if got := string(AppendLatency(nil, ns)); got != want[1] {
			t.Errorf("%d: %s, want %s", ns, got, want[1])
		}
	}
	var s Stamp
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("", -86_399), time.FixedZone("", 86_399)} {
		for _, ns := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
			s.set = false
			want := time.Unix(0, ns).In(zone).Format("2006-01-02T15:04:05")
			if got := string(s.seconds(ns, zone)); got != want {
				t.Errorf("%d: %s, want %s", ns, got, want)
			}
		}
	}
	const first, last = "1677-09-21T00:12:43.145224192Z", "2262-04-11T23:47:16.854775807Z"
	if got := string(s.AppendISO(s.AppendISO(nil, math.MinInt64), math.MaxInt64)); got != first+last {
		t.Errorf("from %s", got)
	}
}

func TestRoundLatency(t *testing.T) {
	for ns, want := range map[int64]string{0: "0us", 999: "0us", 999_949_999: "1.0s", 1_049_999: "1.0ms", 1_050_000: "1.1ms",
		2_197_503_000: "2.2s", 9_949_999_999: "9.9s", 9_950_000_000: "10s", 3_171_993_000: "3.2s", 61_500_000_000: "62s"} {
		if got := string(AppendLatency(nil, roundLatency(ns))); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}
