package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// durationUnit is how durations from some nanoseconds on are written.
type durationUnit struct {
	from     int64
	unit     int64 // nanoseconds
	name     string
	decimals int
	digit    int64 // nanoseconds of the last digit
}

var durationUnits = []durationUnit{
	{600e9, 60e9, "min", 0, 60e9}, {100e9, 1e9, "s", 0, 1e9}, {10e9, 1e9, "s", 1, 1e8}, {1e9, 1e9, "s", 2, 1e7},
	{10e6, 1e6, "ms", 0, 1e6}, {1e6, 1e6, "ms", 1, 1e5}, {math.MinInt64, 1e3, "µs", 0, 1e3},
}

func unitOf(ns int64) *durationUnit {
	return &durationUnits[slices.IndexFunc(durationUnits, func(u durationUnit) bool { return ns >= u.from })]
}

// duration returns nanoseconds as in "33.2 s" or "1.25 ms".
func duration(ns int64) string {
	u := unitOf(ns)
	return fmt.Sprintf("%.*f %s", u.decimals, float64(ns)/float64(u.unit), u.name)
}

// roundedDown returns a duration for words such as "at least" before it.
func roundedDown(ns int64) string { return duration(ns - ns%unitOf(ns).digit) }

// roundedUp returns a duration for words such as "at most" before it.
func roundedUp(ns int64) string {
	digit := unitOf(ns).digit
	return duration((ns + digit - 1) / digit * digit)
}

// atLeastTime returns a time whose beginning may not have been captured.
func atLeastTime(begunBefore bool, ns int64) string {
	if begunBefore {
		return "at least " + roundedDown(ns)
	}
	return duration(ns)
}

// atMostTime returns a time of which a later beginning may not have been captured.
func atMostTime(lacks bool, ns int64) string {
	if lacks {
		return "at most " + roundedUp(ns)
	}
	return duration(ns)
}

// plural returns "1 lock" or "5 locks".
func plural[N int | int64](n N, noun string) string { return schema.Plural(n, noun) }

// sentence returns the beginning of a sentence, with a space before it.
func sentence(text string) string { return " " + strings.ToUpper(text[:1]) + text[1:] }

// oneOrMany returns the word for a number.
func oneOrMany[N int | int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// was returns the verb for so many.
func was[N int | int64](n N) string { return oneOrMany(n, "was", "were") }

// they refers to so many.
func they[N int | int64](n N) string { return oneOrMany(n, "it", "they") }

// theyWere is they with its verb.
func theyWere[N int | int64](n N) string { return they(n) + " " + was(n) }

// its is the possessive of so many.
func its[N int | int64](n N) string { return oneOrMany(n, "its", "their") }

// them refers to so many, as an object.
func them[N int | int64](n N) string { return oneOrMany(n, "it", "them") }

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

// list returns words as in "A, B and C", or "A, B, C and 2 others".
func list(words []string) string { return firstOf(words, 3) }

// words is a list of which more is shown.
func words(list []string) string { return firstOf(list, 4) }

func nodes(nids []lnet.NID) string {
	var words []string
	for _, n := range nids {
		if n.Len > 0 {
			words = append(words, n.String())
		} else {
			words = append(words, "the node of the log")
		}
	}
	return list(words)
}

// on returns " on " and the node, nothing for an unknown one.
func on(n lnet.NID) string {
	if n.Len == 0 {
		return ""
	}
	return " on " + n.String()
}

// firstOf lists so many words, and says how many others there are.
func firstOf(words []string, shown int) string {
	if n := len(words); n > shown+1 {
		words = append(slices.Clone(words[:shown]), fmt.Sprintf("%d others", n-shown))
	}
	return schema.WordList(words, " and ")
}

// size returns a number of bytes as in "340 bytes", "34 kB" or "1.2 MB".
func size(n int64) string {
	switch v := float64(n); {
	case v >= 999.5e9:
		return fmt.Sprintf("%.1f TB", v/1e12)
	case v >= 999.5e6:
		return fmt.Sprintf("%.1f GB", v/1e9)
	case v >= 10e6:
		return fmt.Sprintf("%.0f MB", v/1e6)
	case v >= 999.5e3:
		return fmt.Sprintf("%.1f MB", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.0f kB", v/1e3)
	}
	return plural(n, "byte")
}

// binarySize returns a number of bytes as in "22 MiB": in the units of lfs df and of
// quota limits.
func binarySize(bytes uint64) string {
	if bytes < 1<<10 {
		return plural(int64(bytes), "byte")
	}
	return schema.SizeText(bytes, " ")
}

// errorName returns the name of an error, such as ENODEV.
func errorName(status int32) string {
	return cmp.Or(opcodes.GSSErrorName(status), schema.Errnos.Name(uint64(-int64(status))))
}

// connectErrors has what the error of a refused connect means.
var connectErrors = map[int32]string{
	opcodes.EPERM:     "the nodemap of the server does not admit this client, or it is banned",
	opcodes.EAGAIN:    "the target does not take connects for now, as while it is being started",
	opcodes.EACCES:    "the server does not admit this client: the security flavor is not the one that it expects, or its nodemap forbids it",
	opcodes.EBUSY:     "the target is in recovery and does not take new clients until that is over, or it is still busy with requests of this client",
	opcodes.ENODEV:    "the target is not on this server, or not started",
	opcodes.EINVAL:    "the server cannot make sense of the connect",
	opcodes.EROFS:     "the server lets this client mount read-only at most",
	opcodes.EPROTO:    "client and server have no common protocol version",
	opcodes.ESHUTDOWN: "the server is being stopped",
	opcodes.EALREADY:  "the server is still at work on an earlier connect of this client, or thinks that it is connected",
}

// errnoText returns what the error of a refused connect means.
func errnoText(status int32) string {
	if text, ok := connectErrors[status]; ok {
		return text
	}
	return "for a reason that only its log has"
}
