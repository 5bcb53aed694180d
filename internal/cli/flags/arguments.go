package flags

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/internal/cli/exit"
)

// Completion returns the words that may follow start on a command line.
type Completion = func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective)

// OneOf completes one of a few words.
func OneOf(words ...string) Completion {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// CompleteLast completes the last of several words that have one of the separators
// between them.
func CompleteLast(names []string, start, separators string) ([]string, cobra.ShellCompDirective) {
	at := strings.LastIndexAny(start, separators) + 1
	return prefixed(start[:at], WithPrefix(names, start[at:])), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func prefixed(before string, words []string) []string {
	for i := range words {
		words[i] = before + words[i]
	}
	return words
}

// WithPrefix returns the names that begin with start, in upper or lower case.
func WithPrefix(names []string, start string) (list []string) {
	for _, n := range names {
		if len(n) >= len(start) && strings.EqualFold(n[:len(start)], start) {
			list = append(list, n)
		}
	}
	return list
}

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usagef("%s takes no arguments", cmd.CommandPath())
	}
	return nil
}
