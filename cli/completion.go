package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/iostreams"
)

// shells are those that completions can be written for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion(sys *iostreams.IO) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completions for bash, zsh, fish or powershell",
		Long:  "completion prints a script that makes the shell complete commands, flags, field names and more.",
		Example: "  source <(lshark completion bash)\n" +
			"  lshark completion zsh > \"${fpath[1]}/_lshark\"\n" +
			"  lshark completion fish > ~/.config/fish/completions/lshark.fish",
		ValidArgsFunction: oneOf(shells...),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("completion needs the name of one shell: bash, zsh, fish or powershell")
			}
			return writeCompletion(cmd.Root(), args[0], sys.Out)
		},
	}
}

func writeCompletion(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return exit.UnknownName("shell", shell, shells)
}

// newHelp is the help command, for which an unknown topic is an error.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			about, _, err := root.Find(args)
			if err != nil || len(args) > 0 && about == root {
				return exit.UnknownName("command", args[0], commandNames(root))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
			return withPrefix(commandNames(cmd.Root()), start), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}
