package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/filter"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render"
)

func newFields(sys *IO) *cobra.Command {
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
			for _, k := range filter.Keys() {
				in := "record"
				if k.RPC {
					in = "rpc"
				}
				out = fmt.Appendf(out, "%s\t%s\t%s\t%s\n", k.Name, k.Type, in, k.Doc)
			}
			for _, name := range render.RecordKeys() {
				if doc := onlyShown[name]; doc != "" {
					out = fmt.Appendf(out, "%s\ttext\trecord\t%s\n", name, doc)
				}
			}
			_, err := sys.Out.Write(render.AppendFieldList(out, opcodes.NewIndex()))
			return err
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

// onlyShown are the keys that -e knows and -Y does not.
var onlyShown = map[string]string{
	"latency": "seconds from the request to the reply; rpc.latency in filters",
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments", cmd.CommandPath())
	}
	return nil
}
