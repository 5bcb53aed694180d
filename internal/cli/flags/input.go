package flags

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
)

// AddInput adds the input flags to a command, and -D, which lists the
// interfaces instead of running the command.
func AddInput(cmd *cobra.Command, sys *scan.System, flags *scan.Flags) {
	list, run := false, cmd.RunE
	Add(cmd, InputGroup, func(f *pflag.FlagSet) {
		flags.RegisterInput(f)
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
	for _, i := range append(list, capture.Interface{Name: "any", Up: true}) {
		line := i.Name
		for _, a := range i.Addresses {
			line += "\t" + a.String()
		}
		if !i.Up {
			line += "\t(down)"
		}
		if _, err := fmt.Fprintln(s.Out, line); err != nil {
			return err
		}
	}
	return nil
}
