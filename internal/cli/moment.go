package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/internal/cli/exit"
)

// moment returns a moment of a capture in nanoseconds since the epoch; first is the time of its first
// frame. nil: no moment is given.
type moment func(first int64) int64

// parseMoment parses the value of --at. Times without a zone are local, or UTC.
func parseMoment(text string, utc bool) (moment, error) {
	if text == "" {
		return nil, nil
	}
	seconds := text
	if n, err := strconv.ParseFloat(text, 64); err == nil && n < 1e9 {
		seconds += "s"
	}
	if d, err := time.ParseDuration(seconds); err == nil && d >= 0 {
		return func(first int64) int64 { return first + int64(d) }, nil
	}
	clock, hasZone := strings.CutSuffix(strings.Replace(text, "T", " ", 1), "Z")
	zone := time.Local
	if utc || hasZone {
		zone = time.UTC
	}
	if t, err := time.ParseInLocation("2006-01-02 15:04:05", clock, zone); err == nil {
		return func(int64) int64 { return t.UnixNano() }, nil
	}
	t, err := time.Parse("15:04:05", clock)
	if err != nil {
		return nil, exit.Usagef("--at %s: must be seconds after the first frame, such as 12.5, or a time, such as 08:06:41.5 or 2026-11-21 08:06:41", text)
	}
	return func(first int64) int64 {
		begin := time.Unix(0, first).In(zone)
		at := time.Date(begin.Year(), begin.Month(), begin.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
		if at.Before(begin) {
			at = at.AddDate(0, 0, 1)
		}
		return at.UnixNano()
	}, nil
}

// until returns scan.Options.Until.
func (m moment) until() func(first, now int64) bool {
	if m == nil {
		return nil
	}
	return func(first, now int64) bool { return now > m(first) }
}
