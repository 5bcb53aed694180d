package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// setHelp lays out the help of lshark and its subcommands for the terminal.
func setHelp(root *cobra.Command, sys *scan.System) {
	const usualWidth, maxWidth = 80, 100
	width := min(cmp.Or(sys.Width(), usualWidth), maxWidth)
	root.SetHelpCommand(newHelp(width))
	root.SetHelpCommandGroupID(moreGroup)
	help := func(c *cobra.Command) []byte {
		if c == root {
			c = newRoot(sys, forHelp) // it lists all commands
			c.InitDefaultHelpCmd()
		}
		return usageText(c, width)
	}
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := c.OutOrStderr().Write(help(c))
		return err
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		c.OutOrStdout().Write(append([]byte(wrapText(c.Long, width)+"\n\n"), help(c)...)) // helpWriter keeps the error
	})
}

func addHelpFlag(cmd *cobra.Command) { cmd.Flags().BoolP("help", "h", false, "show this help") }

// usageText returns the synopsis, the examples, the commands and the flags of a
// command.
func usageText(cmd *cobra.Command, width int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Usage:\n  %s\n", strings.Join(synopsis(cmd), "\n  "))
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	for _, group := range cmd.Groups() {
		fmt.Fprintf(&b, "\n%s:\n", group.Title)
		for _, c := range cmd.Commands() {
			if c.GroupID == group.ID {
				const longest = len("completion")
				indent := strings.Repeat(" ", 2+longest+2)
				lines := strings.ReplaceAll(wrapText(c.Short, width-len(indent)), "\n", "\n"+indent)
				fmt.Fprintf(&b, "  %-*s  %s\n", longest, c.Name(), lines)
			}
		}
	}
	sets := flags.ByGroup(cmd)
	for _, group := range flags.Groups {
		if sets[group] == nil {
			continue
		}
		fmt.Fprintf(&b, "\n%s:\n", group)
		if group == flags.InputGroup {
			b.Write(inputUsage(cmd, sets[group], width))
		} else {
			b.WriteString(sets[group].FlagUsagesWrapped(width))
		}
	}
	if cmd.HasSubCommands() {
		fmt.Fprintf(&b, "\n\"%s COMMAND --help\" describes a command.\n", cmd.CommandPath())
	}
	return b.Bytes()
}

// usualInput are the input flags that matter to most; help of commands describes them, and has others by name.
var usualInput = []string{"read", "interface", "filter", "autostop"}

// inputUsage returns the input flags of a command: the usual ones, and those that only it has, with
// their meanings, others by name.
func inputUsage(cmd *cobra.Command, set *pflag.FlagSet, width int) []byte {
	described := pflag.NewFlagSet("", pflag.ContinueOnError)
	described.SortFlags = false
	var names []string
	set.VisitAll(func(f *pflag.Flag) {
		switch common := cmd.Root().Flags().Lookup(f.Name); {
		case common == nil || common.Usage != f.Usage || slices.Contains(usualInput, f.Name):
			described.AddFlag(f)
		case f.Shorthand != "":
			names = append(names, "-"+f.Shorthand)
		default:
			names = append(names, "--"+f.Name)
		}
	})
	var b bytes.Buffer
	b.WriteString(described.FlagUsagesWrapped(width))
	if len(names) > 0 {
		text := wrapText(strings.Join(names, ", ")+": \"lshark help "+inputTopic+"\" describes them", width-2)
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
	}
	return b.Bytes()
}

func synopsis(cmd *cobra.Command) []string {
	forms := []string{cmd.CommandPath() + strings.TrimPrefix(cmd.Use, cmd.Name())}
	if cmd.HasSubCommands() {
		forms = append(forms, cmd.CommandPath()+" COMMAND [ARGUMENTS]")
	}
	return forms
}

// wrapText wraps paragraphs, which are separated by line breaks, to a width in
// columns.
func wrapText(text string, width int) string {
	paragraphs := strings.Split(text, "\n")
	for i, p := range paragraphs {
		var lines schema.Marked
		render.Wrap(lines.Plain(p), 0, 0, width)
		paragraphs[i] = string(lines.Text)
	}
	return strings.Join(paragraphs, "\n")
}

// inputTopic is what help describes besides commands: the flags that they share.
const inputTopic = "input"

const aboutInput = "FILE is a pcap or pcapng file, plain or compressed with gzip, zstd or lz4; several are merged by time. " +
	"Without FILE, or with -, standard input is read."

// newHelp returns the help command, for which an unknown command is an error. Lines are as long
// as width says.
func newHelp(width int) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "help [COMMAND | " + inputTopic + "]",
		Short: "Show the help of a command, or input: that of the flags for input",
		Long: "help shows the help of a command, or that of lshark. \"help " + inputTopic + "\" describes the flags of all commands that " +
			"read packets.",
		Example: `  # the flags of stats
  lshark help stats`,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if slices.Equal(args, []string{inputTopic}) {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s:\n%s", wrapText(aboutInput, width), flags.InputGroup,
					flags.ByGroup(root)[flags.InputGroup].FlagUsagesWrapped(width))
				return err
			}
			about, _, err := root.Find(args)
			if err != nil || len(args) > 0 && about == root {
				if near := nearCommands(args[0]); len(near) > 0 {
					return exit.Usagef("unknown command %q%s", args[0], exit.DidYouMean(near))
				}
				return exit.UnknownName("command", args[0], append(commandNames(root), inputTopic))
			}
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
			return flags.WithPrefix(append(commandNames(cmd.Root()), inputTopic), start), cobra.ShellCompDirectiveNoFileComp
		},
	}
	addHelpFlag(cmd)
	return cmd
}

func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}
