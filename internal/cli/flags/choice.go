package flags

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/opcodes/schema"
)

// Choice is the value of a flag that takes one of a few words. Help, check and
// completion use the same list.
type Choice struct {
	Value       string
	Words       []string
	Flag        string // with its dashes
	Placeholder string // for the value in help texts
	Noun        string // the word for the value in errors, if the flag's name is not enough
}

func FormChoice(words ...string) Choice {
	return Choice{Value: words[0], Words: words, Flag: "-T", Placeholder: "FORM", Noun: "form"}
}

func ColorChoice() Choice {
	return Choice{Value: "auto", Words: []string{"auto", "always", "never"}, Flag: "--color", Placeholder: "WHEN"}
}

func (c *Choice) String() string { return c.Value }
func (c *Choice) Type() string   { return c.Placeholder }

// Set sets the value, which must be in the list.
func (c *Choice) Set(v string) error {
	c.Value = v
	switch {
	case c.Has(v):
		return nil
	case c.Noun != "":
		return exit.UnknownName(c.Noun, v, c.Words)
	}
	return exit.Usagef("%s %s: must be %s", c.Flag, v, WordList(c.Words))
}

// Has reports whether a word is one of the list.
func (c *Choice) Has(word string) bool { return slices.Contains(c.Words, word) }

// WordList joins words to a phrase: a, b or c.
func WordList(words []string) string { return schema.WordList(words, " or ") }

// Size is a flag with a number of bytes, such as 256M.
type Size int64

// sizeUnits are the letters of units, each of which is 1024 times the one before.
const sizeUnits = "KMGT"

// Set parses a number of bytes, or of units with one of the letters.
func (s *Size) Set(text string) error {
	number, bits := text, 0
	for i := range sizeUnits {
		if rest, ok := strings.CutSuffix(strings.ToUpper(text), sizeUnits[i:i+1]); ok {
			number, bits = rest, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>bits {
		return errors.New("must be a size in bytes, such as 500M or 20G")
	}
	*s = Size(n << bits)
	return nil
}

// String returns the size in the largest unit of which it is a multiple.
func (s *Size) String() string {
	n, unit := int64(*s), 0
	for n > 0 && n%1024 == 0 && unit < len(sizeUnits) {
		n /= 1024
		unit++
	}
	return strconv.FormatInt(n, 10) + sizeUnits[max(unit-1, 0):unit]
}

// Type returns the placeholder for the value in help.
func (*Size) Type() string { return "SIZE" }

// SeverityChoice returns the choice of a least severity of findings.
func SeverityChoice(flag string, value diagnose.Severity) Choice {
	var words []string
	for _, s := range diagnose.Severities() {
		words = append(words, s.String())
	}
	return Choice{Value: value.String(), Words: words, Flag: flag, Placeholder: "LEVEL"}
}

// Severity returns the severity that was chosen.
func Severity(c *Choice) diagnose.Severity {
	return diagnose.Severities()[slices.Index(c.Words, c.Value)]
}
