package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// newRoot makes the command `lshark`, which dissects, with all others below.
func newRoot(sys *IO) *cobra.Command {
	in := &input{sys: sys}
	out := &output{sys: sys}
	cmd := &cobra.Command{
		Use:   "lshark [flags] [FILE…|-]",
		Short: "Read Lustre network traffic and show what every RPC says",
		Long: "lshark reads Lustre network traffic from capture files or a live interface, puts the\n" +
			"LNet streams back together and shows what every RPC says.",
		Example: "  lshark mount.pcap                    one line a message\n" +
			"  lshark -V -c 10 mount.pcap           everything the first ten messages say\n" +
			"  lshark -T json x.pcap.zst | jq .     for scripts\n" +
			"  lshark -i eth0                       live",
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := errors.Join(in.check(args), out.check()); err != nil {
				return err
			}
			return dissectAll(in, out)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	in.flags(cmd)
	out.flags(cmd)
	cmd.AddCommand(newRPCs(sys), newStats(sys), newImports(sys), newExplain(sys), newDecode(sys),
		newFields(sys), newVersion(sys), newCompletion(sys))
	cmd.SetHelpCommand(newHelp())
	cmd.CompletionOptions.DisableDefaultCmd = true
	if err := completeFlags(cmd); err != nil {
		panic(err) // two functions for one flag
	}
	return cmd
}
