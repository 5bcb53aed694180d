package render

import (
	"strconv"
	"time"
)

const second = int64(time.Second)

// TimeForm is how times are shown.
type TimeForm uint8

// The forms of -t.
const (
	Relative TimeForm = iota // seconds since the first frame
	Local
	UTC
	Delta // seconds since the message before
)

// stamp writes absolute times; it keeps the text of the last second, which
// most messages share.
type stamp struct {
	sec  int64
	text [len("2026-11-21T08:06:41")]byte
	set  bool
}

func (s *stamp) seconds(ns int64, loc *time.Location) []byte {
	sec := floor(ns)
	if !s.set || sec != s.sec {
		const layout = "2006-01-02T15:04:05"
		b := time.Unix(sec, 0).In(loc).AppendFormat(s.text[:0], layout)
		if len(b) != len(s.text) {
			copy(s.text[:], layout) // a year of five digits
		}
		s.sec, s.set = sec, true
	}
	return s.text[:]
}

// iso appends 2026-11-21T08:06:41.801234567Z.
func (s *stamp) iso(dst []byte, ns int64) []byte {
	dst = append(dst, s.seconds(ns, time.UTC)...)
	dst = appendFraction(dst, ns-floor(ns)*second, 9)
	return append(dst, 'Z')
}

func floor(ns int64) int64 {
	sec := ns / second
	if ns%second < 0 {
		sec--
	}
	return sec
}

// appendFraction appends "." and the first digits of nanoseconds.
func appendFraction(dst []byte, ns int64, digits int) []byte {
	var d [9]byte
	for i := len(d) - 1; i >= 0; i-- {
		d[i] = byte('0' + ns%10)
		ns /= 10
	}
	return append(append(dst, '.'), d[:digits]...)
}

// appendElapsed appends a time span in seconds.
func appendElapsed(dst []byte, ns int64, digits int) []byte {
	if ns < 0 {
		dst, ns = append(dst, '-'), -ns
	}
	dst = strconv.AppendInt(dst, ns/second, 10)
	return appendFraction(dst, ns%second, digits)
}

// appendLatency appends a time span with the unit that suits it: 12us, 3.4ms,
// 1.2s.
func appendLatency(dst []byte, ns int64) []byte {
	if ns < 0 {
		dst, ns = append(dst, '-'), -ns
	}
	unit, name := int64(1000), "us"
	switch {
	case ns >= second:
		unit, name = second, "s"
	case ns >= second/1000:
		unit, name = second/1000, "ms"
	}
	dst = strconv.AppendInt(dst, ns/unit, 10)
	if ns/unit < 10 && unit > 1000 {
		dst = append(dst, '.', byte('0'+ns%unit*10/unit))
	}
	return append(dst, name...)
}

// appendWhen appends a message's time in the form asked for.
func (s *stamp) appendWhen(dst []byte, form TimeForm, ns int64, at Moment, date bool) []byte {
	loc := time.UTC
	switch form {
	case Relative:
		return appendElapsed(dst, ns-at.First, 6)
	case Delta:
		if at.Before == 0 {
			return appendElapsed(dst, 0, 6)
		}
		return appendElapsed(dst, ns-at.Before, 6)
	case Local:
		loc = time.Local
	}
	text := s.seconds(ns, loc)
	if date {
		dst = append(append(dst, text[:10]...), ' ')
	}
	dst = append(dst, text[11:]...)
	return appendFraction(dst, ns-floor(ns)*second, 6)
}
