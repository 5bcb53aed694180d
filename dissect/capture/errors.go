package capture

import (
	"fmt"
	"strconv"
	"strings"
)

// DamageError reports an input that is truncated, damaged or not a capture. It is
// returned after all frames before the damage.
type DamageError struct {
	File   string // as given to Open, "standard input" for "-"
	Offset int64  // of the damaged record in the uncompressed input, bytes
	Cause  string // in one line
}

func (e *DamageError) Error() string { return e.text(Printable(e.File)) }

// Plain returns the error with the name of the file as it is.
func (e *DamageError) Plain() string { return e.text(e.File) }

func (e *DamageError) text(file string) string {
	return fmt.Sprintf("%s: byte %d: %s", file, e.Offset, e.Cause)
}

// Printable returns a name, quoted if it has control characters, which a
// terminal would execute.
func Printable(name string) string {
	control := func(r rune) bool { return !strconv.IsPrint(r) }
	if strings.ContainsFunc(name, control) {
		return strconv.Quote(name)
	}
	return name
}
