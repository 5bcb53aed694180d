package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/extcap"
	"github.com/lshark/lshark/cli/reference"
	"github.com/lshark/lshark/cli/scan"
)

// newRoot returns the command lshark with all its subcommands.
func newRoot(sys *scan.System) *cobra.Command {
	cmd := newMessages(sys)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.UsageError{Err: flagError(err)} })
	cmd.AddCommand(
		newRPCs(sys), newStats(sys), newImports(sys), newLocks(sys), newFiles(sys), newRecovery(sys), newConfig(sys), newDiff(sys), newDiagnose(sys),
		newTUI(sys), newLadder(sys), newReport(sys), newAnonymize(sys), extcap.New(sys, version()),
		reference.NewExplain(sys.IO), reference.NewDecode(sys.IO), reference.NewFields(sys.IO), newVersion(sys.IO), newCompletion(sys.IO))
	cmd.SetHelpCommand(newHelp())
	setVersion(cmd)
	setHelp(cmd, sys.IO)
	cmd.CompletionOptions.DisableDefaultCmd = true
	return cmd
}

// flagError returns the error of a flag that needs a number in words: the one of
// pflag has that of package strconv in it.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &invalid) || !errors.As(err, &number) {
		return err
	}
	if errors.Is(number, strconv.ErrRange) {
		return fmt.Errorf("--%s: %s is out of range", invalid.GetFlag().Name, invalid.GetValue())
	}
	return fmt.Errorf("--%s needs a number, not %q", invalid.GetFlag().Name, invalid.GetValue())
}
