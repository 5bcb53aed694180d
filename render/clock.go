package render

import (
	"strconv"
	"strings"
	"time"
)

const second = int64(time.Second)

// TimeFormat is the format of times.
type TimeFormat uint8

// The formats of -t.
const (
	Relative TimeFormat = iota // seconds since the first frame
	Local
	UTC
	Delta // seconds since the message before
)

// AppendISO appends the time ns, as in 2026-11-21T08:06:41.801234567Z.
func AppendISO(dst []byte, ns int64) []byte {
	t := time.Unix(0, ns).UTC()
	dst = t.AppendFormat(dst, time.RFC3339) // the form that package time is fastest with
	return append(appendFraction(dst[:len(dst)-1], uint64(t.Nanosecond()), 9), 'Z')
}

// appendFraction appends "." and the first digits of nanoseconds.
func appendFraction(dst []byte, ns uint64, digits int) []byte {
	var d [9]byte
	for i := len(d) - 1; i >= 0; i-- {
		d[i] = byte('0' + ns%10)
		ns /= 10
	}
	return append(append(dst, '.'), d[:digits]...)
}

// appendSign appends the sign of a negative number and returns its absolute
// value, which an int64 cannot always hold.
func appendSign(dst []byte, n int64) ([]byte, uint64) {
	if n < 0 {
		return append(dst, '-'), -uint64(n)
	}
	return dst, uint64(n)
}

// AppendElapsed appends a time span in seconds.
func AppendElapsed(dst []byte, ns int64, digits int) []byte {
	dst, size := appendSign(dst, ns)
	dst = strconv.AppendUint(dst, size/uint64(second), 10)
	return appendFraction(dst, size%uint64(second), digits)
}

// AppendLatency appends a time span with a unit: 12us, 3.4ms, 1.2s.
func AppendLatency(dst []byte, ns int64) []byte {
	dst, size := appendSign(dst, ns)
	unit, name := uint64(1000), "us"
	switch {
	case size >= uint64(second):
		unit, name = uint64(second), "s"
	case size >= uint64(second/1000):
		unit, name = uint64(second/1000), "ms"
	}
	dst = strconv.AppendUint(dst, size/unit, 10)
	if size/unit < 10 && unit > 1000 {
		dst = append(dst, '.', byte('0'+size%unit*10/unit))
	}
	return append(dst, name...)
}

// Span returns a long time span in words: 2 h 5 min, 3 min 20 s, 4.25 s. space is between a
// number and its unit.
func Span(ns int64, space string) string {
	d := time.Duration(ns)
	whole := func(d, unit time.Duration, name string) string {
		return strconv.FormatInt(int64(d/unit), 10) + space + name
	}
	fraction := func(unit time.Duration, digits int, name string) string {
		s := strconv.FormatFloat(float64(d)/float64(unit), 'f', digits, 64)
		return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") + space + name
	}
	switch {
	case d >= 2*time.Hour:
		return whole(d, time.Hour, "h ") + whole(d%time.Hour, time.Minute, "min")
	case d >= 2*time.Minute:
		return whole(d, time.Minute, "min ") + whole(d%time.Minute, time.Second, "s")
	case d >= time.Second:
		return fraction(time.Second, 2, "s")
	case d >= time.Millisecond:
		return fraction(time.Millisecond, 1, "ms")
	}
	return whole(d, time.Microsecond, "µs")
}

// AppendLockWait appends how long a lock had to wait, rounded, with a unit.
func AppendLockWait(dst []byte, ns int64) []byte { return AppendLatency(dst, roundLatency(ns)) }

// roundLatency rounds a time span to the digits that AppendLatency shows.
func roundLatency(ns int64) int64 {
	for _, unit := range []int64{second, second / 1000} {
		if step := unit / 10; ns >= unit {
			if ns >= 10*unit {
				step = unit
			}
			return (ns + step/2) / step * step
		}
	}
	return ns
}

// Append appends the time ns of a record; an absolute time with or without the date.
func (f TimeFormat) Append(dst []byte, ns int64, at Moment, withDate bool) []byte {
	t := time.Unix(0, ns)
	switch {
	case f == Relative:
		return AppendElapsed(dst, ns-at.First, 6)
	case f == Delta && at.Before == 0:
		return AppendElapsed(dst, 0, 6)
	case f == Delta:
		return AppendElapsed(dst, ns-at.Before, 6)
	case f == UTC:
		t = t.UTC()
	}
	if withDate {
		return t.AppendFormat(dst, "2006-01-02 15:04:05.000000")
	}
	return t.AppendFormat(dst, "15:04:05.000000")
}
