package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/internal/cli/exit"
)

// momentFlag is the value of --at: a moment of the capture.
type momentFlag struct {
	text string

	zone     *time.Location
	relative bool          // to the first frame
	ofDay    bool          // the first such time of a day
	since    time.Duration // the first frame, or midnight
	absolute time.Time
}

func (m *momentFlag) isSet() bool { return m.text != "" }

// check parses the flag. Times without a zone are local, or UTC.
func (m *momentFlag) check(utc bool) error {
	if !m.isSet() {
		return nil
	}
	m.zone = time.Local
	text, hasZone := strings.CutSuffix(strings.Replace(m.text, "T", " ", 1), "Z")
	if utc || hasZone {
		m.zone = time.UTC
	}
	if seconds, err := strconv.ParseFloat(m.text, 64); err == nil && seconds >= 0 && seconds < 1e9 {
		m.relative, m.since = true, time.Duration(seconds*1e9)
		return nil
	}
	if d, err := time.ParseDuration(m.text); err == nil && d >= 0 {
		m.relative, m.since = true, d
		return nil
	}
	var err error
	if m.absolute, err = time.ParseInLocation("2006-01-02 15:04:05", text, m.zone); err == nil {
		return nil
	}
	if t, err := time.Parse("15:04:05", text); err == nil {
		m.ofDay, m.since = true, t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))
		return nil
	}
	return exit.Usagef("--at %s: must be seconds after the first frame, such as 12.5, or a time, such as 08:06:41.5 or 2026-11-21 08:06:41", m.text)
}

// time returns the moment in nanoseconds since the epoch; first is the time of the first frame.
func (m *momentFlag) time(first int64) int64 {
	switch {
	case m.relative:
		return first + int64(m.since)
	case m.ofDay:
		begin := time.Unix(0, first).In(m.zone)
		midnight := time.Date(begin.Year(), begin.Month(), begin.Day(), 0, 0, 0, 0, m.zone)
		at := midnight.Add(m.since)
		if at.Before(begin) {
			at = midnight.AddDate(0, 0, 1).Add(m.since)
		}
		return at.UnixNano()
	}
	return m.absolute.UnixNano()
}

// until returns scan.Options.Until.
func (m *momentFlag) until() func(first, now int64) bool {
	if !m.isSet() {
		return nil
	}
	end := int64(0)
	return func(first, now int64) bool {
		if end == 0 {
			end = m.time(first)
		}
		return now > end
	}
}
