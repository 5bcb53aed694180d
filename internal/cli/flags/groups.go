package flags

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups of flags, as their titles in help texts and man pages. Flags of no
// group come last.
const (
	InputGroup     = "Input flags"
	SelectionGroup = "Selection flags"
	OutputGroup    = "Output flags"
	OtherGroup     = "Other flags"
)

var Groups = []string{InputGroup, SelectionGroup, OutputGroup, OtherGroup}

// groupAnnotation is the key of the annotation that names the group of a flag.
const groupAnnotation = "group"

// Add calls define to add flags to a command, and puts them into a group.
func Add(cmd *cobra.Command, group string, define func(*pflag.FlagSet)) {
	set := pflag.NewFlagSet(group, pflag.ContinueOnError)
	set.SortFlags = false
	define(set)
	set.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{groupAnnotation: {group}} })
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(set)
}

// ByGroup returns the flags of a command by group.
func ByGroup(cmd *cobra.Command) map[string]*pflag.FlagSet {
	sets := make(map[string]*pflag.FlagSet)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		group := OtherGroup
		if a := f.Annotations[groupAnnotation]; a != nil {
			group = a[0]
		}
		if sets[group] == nil {
			sets[group] = pflag.NewFlagSet(group, pflag.ContinueOnError)
			sets[group].SortFlags = false
		}
		sets[group].AddFlag(f)
	})
	return sets
}
