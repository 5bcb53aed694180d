package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
)

// setHelp lays out the help of lshark and its subcommands for the terminal. addAll adds
// the subcommands, which the help of lshark lists.
func setHelp(root *cobra.Command, s *iostreams.IO, addAll func()) {
	const usualWidth, maxWidth = 80, 100
	width := s.Width()
	if width == 0 {
		width = usualWidth
	}
	width = min(width, maxWidth)
	root.SetUsageFunc(func(c *cobra.Command) error {
		addAll()
		_, err := c.OutOrStderr().Write(usageText(c, width))
		return err
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		addAll()
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		c.OutOrStdout().Write(append([]byte(wrapText(text, width)+"\n\n"), usageText(c, width)...)) // helpWriter keeps the error
	})
}

func addHelpFlag(cmd *cobra.Command) { cmd.Flags().BoolP("help", "h", false, "show this help") }

// usageText returns the synopsis, the examples, the commands and the flags of a
// command.
func usageText(cmd *cobra.Command, width int) []byte {
	var b bytes.Buffer
	b.WriteString("Usage:\n")
	for _, line := range synopsis(cmd) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if subs := cmd.Commands(); len(subs) > 0 {
		b.WriteString("\nCommands:\n")
		longest := 0
		for _, c := range subs {
			longest = max(longest, len(c.Name()))
		}
		for _, c := range subs {
			indent := strings.Repeat(" ", 2+longest+2)
			lines := strings.ReplaceAll(wrapText(c.Short, width-len(indent)), "\n", "\n"+indent)
			fmt.Fprintf(&b, "  %-*s  %s\n", longest, c.Name(), lines)
		}
	}
	sets := flags.ByGroup(cmd)
	for _, group := range flags.Groups {
		if sets[group] != nil {
			fmt.Fprintf(&b, "\n%s:\n%s", group, sets[group].FlagUsagesWrapped(width))
		}
	}
	if cmd.HasSubCommands() {
		fmt.Fprintf(&b, "\n\"%s COMMAND --help\" describes a command.\n", cmd.CommandPath())
	}
	return b.Bytes()
}

func synopsis(cmd *cobra.Command) []string {
	use := strings.TrimPrefix(cmd.Use, cmd.Name())
	forms := []string{cmd.CommandPath() + use}
	if cmd.HasSubCommands() {
		forms = append(forms, cmd.CommandPath()+" COMMAND [ARGUMENTS]")
	}
	return forms
}

// wrapText wraps paragraphs, which are separated by line breaks, to a width in
// columns.
func wrapText(text string, width int) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		column := 0
		for _, word := range strings.Fields(paragraph) {
			n := len([]rune(word))
			switch {
			case column == 0:
			case column+1+n > width:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += n
		}
	}
	return b.String()
}

// newHelp returns the help command, for which an unknown command is an error.
func newHelp() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		Long:  "help shows the help of a command, or that of lshark.",
		Example: `  # the flags of stats
  lshark help stats`,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			about, _, err := root.Find(args)
			if err != nil || len(args) > 0 && about == root {
				return exit.UnknownName("command", args[0], commandNames(root))
			}
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
			return flags.WithPrefix(commandNames(cmd.Root()), start), cobra.ShellCompDirectiveNoFileComp
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
