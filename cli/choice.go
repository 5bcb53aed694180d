package cli

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/cli/exit"
)

// choice is the value of a flag that takes one of a few words. Help, check and
// completion use the same list.
type choice struct {
	value string
	words []string
	noun  string // what the words are, for error messages; empty: the flag's name is used
	flag  string // as typed, with its dashes
}

func (c *choice) String() string     { return c.value }
func (c *choice) Set(v string) error { c.value = v; return nil }
func (c *choice) Type() string       { return "string" }

// check reports a value that is not in the list. It is not done in Set, so that
// all mistakes of a command line are reported together.
func (c *choice) check() error {
	switch {
	case slices.Contains(c.words, c.value):
		return nil
	case c.noun != "":
		return exit.UnknownName(c.noun, c.value, c.words)
	}
	return exit.Usagef("%s %s: one of %s", c.flag, c.value, wordList(c.words, "and"))
}

// wordList joins words as prose does: a, b and c.
func wordList(words []string, and string) string {
	last := len(words) - 1
	if last <= 0 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + and + " " + words[last]
}

func colorChoice() choice {
	return choice{value: "auto", words: []string{"auto", "always", "never"}, flag: "--color"}
}

func formChoice(words ...string) choice {
	return choice{value: words[0], words: words, noun: "form"}
}
