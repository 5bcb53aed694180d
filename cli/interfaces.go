package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/capture"
)

// listFlag gives cmd the flag -D, which lists the interfaces instead.
func listFlag(cmd *cobra.Command, sys *IO) {
	list, run := false, cmd.RunE
	cmd.Flags().BoolVarP(&list, "list-interfaces", "D", false, "list the interfaces that can be captured")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if list {
			return listInterfaces(sys)
		}
		return run(cmd, args)
	}
}

// listInterfaces writes a line for each interface (-D).
func listInterfaces(sys *IO) error {
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
		if _, err := fmt.Fprintln(sys.Out, line); err != nil {
			return err
		}
	}
	return nil
}
