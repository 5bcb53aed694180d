package capture

import (
	"fmt"
	"strconv"
	"strings"
)

// DamageError says that an input is cut short, damaged or not a capture. All
// frames before the damage have been handed out when it is returned.
type DamageError struct {
	File   string // as given to Open, "standard input" for "-"
	Offset int64  // byte of the (uncompressed) input where the damaged record begins
	Cause  string // one line
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: byte %d: %s", printable(e.File), e.Offset, e.Cause)
}

// printable quotes a name that would do something to a terminal.
func printable(name string) string {
	odd := func(r rune) bool { return !strconv.IsPrint(r) }
	if strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return name
}
