package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/capture"
	"github.com/lshark/lshark/cli/iostreams"
	"github.com/lshark/lshark/cli/scan"
)

// readsPackets adds the input flags to a command, and -D, which lists the
// interfaces instead of running it.
func readsPackets(cmd *cobra.Command, sys *scan.System, flags *scan.Flags) {
	list, run := false, cmd.RunE
	f := cmd.Flags()
	f.SortFlags = false
	flags.Register(f)
	f.BoolVarP(&list, "list-interfaces", "D", false, "list the interfaces that can be captured")
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
