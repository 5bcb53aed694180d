package cli

import (
	"fmt"

	"github.com/lshark/lshark/capture"
)

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
