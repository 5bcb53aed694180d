package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/iostreams"

	"github.com/lshark/lshark/filter"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render"
)

func newFields(sys *iostreams.IO) *cobra.Command {
	return &cobra.Command{
		Use:   "fields",
		Short: "List the names of all fields, with type, place and meaning",
		Long: "fields prints a line for each field that -e and -Y know: its name, its type, the structs and\n" +
			"operations where it occurs, and what it means, with tabs between them. First come the keys that every\n" +
			"record has (in: record), then those of whole RPCs (in: rpc), which rpcs and stats know.",
		Example: "  lshark fields | grep -i jobid\n" +
			"  lshark fields | awk -F'\\t' '$3 ~ /mdt_body/'",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			var out []byte
			for _, k := range ownKeys() {
				out = fmt.Appendf(out, "%s\t%s\t%s\t%s\n", k.Name, k.Type, k.In, k.Doc)
			}
			_, err := sys.Out.Write(render.AppendFieldList(out, opcodes.NewIndex()))
			return err
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

// ownKeys are the names that are none of the wire.
func ownKeys() (list []render.Key) {
	for _, k := range filter.Keys() {
		in := "record"
		if k.RPC {
			in = "rpc"
		}
		list = append(list, render.Key{Name: k.Name, Type: k.Type, Doc: k.Doc, In: in})
	}
	return list
}

// ownNames are the names of all own keys.
func ownNames() (list []string) {
	for _, k := range ownKeys() {
		list = append(list, k.Name)
	}
	return list
}

// ownKey finds one of them, letters of either case.
func ownKey(name string) *render.Key {
	for _, k := range ownKeys() {
		if strings.EqualFold(k.Name, name) {
			return &k
		}
	}
	return nil
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usagef("%s takes no arguments", cmd.CommandPath())
	}
	return nil
}
