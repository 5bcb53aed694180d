package flags

import (
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
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

// Completion returns the words that may follow start on a command line.
type Completion = func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective)

// OneOf completes one of a few words.
func OneOf(words ...string) Completion {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// LastOf completes the last of several words that have commas between them.
func LastOf(words ...string) Completion {
	return func(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		return CompleteAt(words, start, strings.LastIndexByte(start, ',')+1)
	}
}

// CompleteAt completes the word that begins at a position.
func CompleteAt(names []string, start string, at int) ([]string, cobra.ShellCompDirective) {
	words := WithPrefix(names, start[at:])
	for i := range words {
		words[i] = start[:at] + words[i]
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
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

// AddInput adds the input flags to a command and, when it may read live captures, -D, which
// lists the interfaces instead of running the command.
func AddInput(cmd *cobra.Command, sys *scan.System, flags *scan.Flags, live bool) {
	if !live {
		Add(cmd, InputGroup, flags.RegisterFiles)
		return
	}
	list, run := false, cmd.RunE
	Add(cmd, InputGroup, func(f *pflag.FlagSet) {
		flags.RegisterFiles(f)
		flags.RegisterLive(f)
		f.BoolVarP(&list, "list-interfaces", "D", false, "list the interfaces that can be captured, and exit")
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if list {
			return listInterfaces(sys.IO)
		}
		return run(cmd, args)
	}
}

// listInterfaces writes a line for each interface: its name, its addresses and
// whether it is down, with tabs between them.
func listInterfaces(s *iostreams.IO) error {
	list, err := capture.Interfaces()
	if err != nil {
		return err
	}
	text := ""
	for _, i := range append(list, capture.Interface{Name: "any", Up: true}) {
		text += i.Name
		for _, a := range i.Addresses {
			text += "\t" + a.String()
		}
		if !i.Up {
			text += "\t(down)"
		}
		text += "\n"
	}
	_, err = io.WriteString(s.Out, text)
	return err
}

// Version returns the version of the module, and the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	if text == "" || text == "(devel)" {
		text = "devel"
	}
	for _, s := range info.Settings {
		const shown = 12 // letters of the commit
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= shown:
			text += " " + s.Value[:shown]
		case s.Key == "vcs.modified" && s.Value == "true":
			text += " modified"
		}
	}
	return text
}
