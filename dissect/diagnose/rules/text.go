package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/opcodes"
)

// duration returns nanoseconds as in "33.2 s" or "1.25 ms".
func duration(ns int64) string {
	switch v := float64(ns); {
	case v >= 600e9:
		return fmt.Sprintf("%.0f min", v/60e9)
	case v >= 100e9:
		return fmt.Sprintf("%.0f s", v/1e9)
	case v >= 10e9:
		return fmt.Sprintf("%.1f s", v/1e9)
	case v >= 1e9:
		return fmt.Sprintf("%.2f s", v/1e9)
	case v >= 10e6:
		return fmt.Sprintf("%.0f ms", v/1e6)
	case v >= 1e6:
		return fmt.Sprintf("%.1f ms", v/1e6)
	}
	return fmt.Sprintf("%.0f µs", float64(ns)/1e3)
}

// plural returns "1 lock" or "5 locks".
func plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// lockText returns a lock as in "PW lock on [0x300000402:0x3a:0x0]".
func lockText(l *locks.Lock) string {
	text := modeText(l)
	if name := l.Desc.AppendResource(nil); len(name) > 0 {
		text += " on " + string(name)
	}
	return text
}

// modeText returns the mode and kind of a lock as in "PW lock", "PW flock" or "group
// lock".
func modeText(l *locks.Lock) string {
	kind := "lock"
	switch {
	case l.Desc.IsGroup():
		return "group lock"
	case l.Desc.Kind == opcodes.FlockLock:
		kind = "flock"
	}
	if mode, ok := l.Mode(); ok {
		return opcodes.LdlmMode.Name(mode) + " " + kind
	}
	return kind
}

// nodes returns the NIDs as in "A", "A and B", or "A, B and 3 others".
func nodes(list []lnet.NID) string {
	const shown = 3
	var words []string
	for i, n := range list {
		if i == shown && len(list) > shown+1 {
			words = append(words, fmt.Sprintf("%d others", len(list)-shown))
			break
		}
		words = append(words, n.String())
	}
	if last := len(words) - 1; last > 0 {
		return strings.Join(words[:last], ", ") + " and " + words[last]
	}
	return strings.Join(words, "")
}

// formatFloat returns a number with so many digits after the point.
func formatFloat(v float64, precision int) string { return strconv.FormatFloat(v, 'f', precision, 64) }
