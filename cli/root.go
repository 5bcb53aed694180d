package cli

import (
	"github.com/spf13/cobra"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/scan"
)

// newRoot returns the command lshark with all its subcommands.
func newRoot(sys *scan.System) *cobra.Command {
	cmd := newMessages(sys)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.UsageError{Err: err} })
	cmd.AddCommand(newRPCs(sys), newStats(sys), newImports(sys), newLocks(sys), newExplain(sys.IO), newDecode(sys.IO),
		newFields(sys.IO), newVersion(sys.IO), newCompletion(sys.IO))
	cmd.SetHelpCommand(newHelp())
	setVersion(cmd)
	setHelp(cmd, sys.IO)
	cmd.CompletionOptions.DisableDefaultCmd = true
	if err := completeFlags(cmd); err != nil {
		panic(err) // a flag has two completions
	}
	return cmd
}
