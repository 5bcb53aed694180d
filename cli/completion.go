package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/iostreams"
)

// shells lists the shells with completion scripts.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion(sys *iostreams.IO) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script for bash, zsh, fish or powershell",
		Long: "completion prints a script that lets a shell complete commands, flags, field names and more. " +
			"SHELL is bash, zsh, fish or powershell.",
		Example: `  # this bash session
  source <(lshark completion bash)

  # all later bash sessions
  lshark completion bash > ~/.local/share/bash-completion/completions/lshark

  # zsh, with ~/.zfunc in fpath
  lshark completion zsh > ~/.zfunc/_lshark

  # fish
  lshark completion fish > ~/.config/fish/completions/lshark.fish`,
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
