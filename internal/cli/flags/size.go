package flags

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Size is a flag with a number of bytes, such as 256M.
type Size int64

var sizeUnits = [...]struct {
	letter string
	bytes  int64
}{{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}}

// Set parses a number of bytes, or of units with one of the letters K, M, G and T.
func (s *Size) Set(text string) error {
	number, unit := text, int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(strings.ToUpper(text), u.letter); ok {
			number, unit = rest, u.bytes
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return errors.New("must be a size in bytes, such as 500M or 20G")
	}
	*s = Size(n * unit)
	return nil
}

// String returns the size in the largest unit of which it is a multiple.
func (s *Size) String() string {
	for _, u := range sizeUnits {
		if n := int64(*s); n > 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.letter
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type returns the placeholder for the value in help.
func (*Size) Type() string { return "SIZE" }
