package flags

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/internal/cli/exit"
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

func timeChoice() Choice {
	return Choice{Value: "r", Words: []string{"r", "a", "u", "d"}, Flag: "-t", Placeholder: "FORM"}
}

func ColorChoice() Choice {
	return Choice{Value: "auto", Words: []string{"auto", "always", "never"}, Flag: "--color", Placeholder: "WHEN"}
}

func (c *Choice) String() string     { return c.Value }
func (c *Choice) Set(v string) error { c.Value = v; return nil }
func (c *Choice) Type() string       { return c.Placeholder }

// Check returns an error for a value that is not in the list. Set does not Check,
// so that all errors of a command line are reported together.
func (c *Choice) Check() error {
	switch {
	case slices.Contains(c.Words, c.Value):
		return nil
	case c.Noun != "":
		return exit.UnknownName(c.Noun, c.Value, c.Words)
	}
	return exit.Usagef("%s %s: must be %s", c.Flag, c.Value, WordList(c.Words))
}

// WordList joins words to a phrase: a, b or c.
func WordList(words []string) string {
	last := len(words) - 1
	if last <= 0 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
