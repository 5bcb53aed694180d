package html

import (
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/render"
)

// thin is a narrow space that does not break, between a number and its unit.
const thin = "\u202f"

// count returns a number with commas between thousands.
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	const group = 3
	for i := len(digits) - group; i > 0 && digits[i-1] != '-'; i -= group {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// counted returns a number with a noun, such as 3 findings.
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch {
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ie"
	case strings.HasSuffix(noun, "ss"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"):
		noun += "e"
	}
	return count(n) + " " + noun + "s"
}

// latency returns a time span as tables show it, such as 2.9 ms.
func latency(ns int64) string {
	s := string(render.AppendLatency(nil, ns))
	unit := strings.TrimLeft(s, "-0123456789.")
	number := strings.TrimSuffix(s, unit)
	if unit == "us" {
		unit = "µs"
	}
	return number + thin + unit
}

// span returns a long time span in words: 2 h 5 min, 3 min 20 s, 4.25 s.
func span(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= 2*time.Hour:
		return strconv.FormatInt(int64(d/time.Hour), 10) + thin + "h " + strconv.FormatInt(int64(d%time.Hour/time.Minute), 10) + thin + "min"
	case d >= 2*time.Minute:
		return strconv.FormatInt(int64(d/time.Minute), 10) + thin + "min " + strconv.FormatInt(int64(d%time.Minute/time.Second), 10) + thin + "s"
	case d >= time.Second:
		return trimZeros(strconv.FormatFloat(d.Seconds(), 'f', 2, 64)) + thin + "s"
	case d >= time.Millisecond:
		return trimZeros(strconv.FormatFloat(float64(ns)/float64(time.Millisecond), 'f', 1, 64)) + thin + "ms"
	}
	return strconv.FormatInt(ns/int64(time.Microsecond), 10) + thin + "µs"
}

func trimZeros(s string) string { return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") }

// size returns a number of bytes with a unit: 512 B, 1.5 MiB.
func size(n int64) string {
	s := string(render.AppendSize(nil, n))
	last := s[len(s)-1]
	if last >= '0' && last <= '9' {
		return s + thin + "B"
	}
	return s[:len(s)-1] + thin + string(last) + "iB"
}

// seconds returns nanoseconds as seconds, as in JSON.
func seconds(ns int64) string { return string(render.AppendElapsed(nil, ns, 9)) }
