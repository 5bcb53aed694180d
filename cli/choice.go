package cli

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/cli/exit"
)

// choice is the value of a flag that takes one of a few words. Help, check and
// completion use the same list.
type choice struct {
	value       string
	words       []string
	flag        string // with its dashes
	placeholder string // for the value in help texts
	noun        string // the word for the value in errors, if the flag's name is not enough
}

func formChoice(words ...string) choice {
	return choice{value: words[0], words: words, flag: "-T", placeholder: "FORM", noun: "form"}
}

func timeChoice() choice {
	return choice{value: "r", words: []string{"r", "a", "u", "d"}, flag: "-t", placeholder: "FORM"}
}

func colorChoice() choice {
	return choice{value: "auto", words: []string{"auto", "always", "never"}, flag: "--color", placeholder: "WHEN"}
}

func (c *choice) String() string     { return c.value }
func (c *choice) Set(v string) error { c.value = v; return nil }
func (c *choice) Type() string       { return c.placeholder }

// check returns an error for a value that is not in the list. Set does not check,
// so that all errors of a command line are reported together.
func (c *choice) check() error {
	switch {
	case slices.Contains(c.words, c.value):
		return nil
	case c.noun != "":
		return exit.UnknownName(c.noun, c.value, c.words)
	}
	return exit.Usagef("%s %s: must be %s", c.flag, c.value, wordList(c.words))
}

// wordList joins words to a phrase: a, b or c.
func wordList(words []string) string {
	last := len(words) - 1
	if last <= 0 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
