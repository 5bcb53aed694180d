package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/iostreams"
	"github.com/lshark/lshark/filter"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/records"
	"github.com/lshark/lshark/render"
)

func newFields(sys *iostreams.IO) *cobra.Command {
	return &cobra.Command{
		Use:   "fields",
		Short: "List all fields for -e and -Y, with type, place and meaning",
		Long: "fields prints one line for each field that -e and -Y accept: its name, its type, the structs and " +
			"operations in which it occurs, and its meaning, separated by tabs. First come the keys of every record " +
			"(place: record), then the keys of whole RPCs (place: rpc), for rpcs and stats.",
		Example: `  # fields about job ids
  lshark fields | grep -i jobid

  # fields of one struct
  lshark fields | awk -F'\t' '$3 ~ /mdt_body/'`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			var out []byte
			for _, e := range ownKeys() {
				out = fmt.Appendf(out, "%s\t%s\t%s\t%s\n", e.Filter, e.TypeText(), e.Record, e.Doc)
			}
			_, err := sys.Out.Write(render.AppendFieldList(out, opcodes.NewIndex()))
			return err
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

// ownKeys lists the keys that are no fields of the wire, and the fields that
// filters read without a tree.
func ownKeys() []records.Entry {
	list := slices.Concat(records.Messages.Entries(), filter.Probes(), records.RPCs.Entries())
	slices.SortStableFunc(list, func(a, b records.Entry) int { return strings.Compare(a.Filter, b.Filter) })
	return list
}

// ownNames lists the names of all own keys.
func ownNames() (list []string) {
	for _, e := range ownKeys() {
		list = append(list, e.Filter)
		if e.Path != e.Filter {
			list = append(list, e.Path)
		}
	}
	return list
}

// keysNamed finds the keys of a name with or without the prefix of their
// record, letters of either case.
func keysNamed(name string) (list []records.Entry) {
	for _, e := range ownKeys() {
		if strings.EqualFold(e.Filter, name) || strings.EqualFold(e.Path, name) {
			list = append(list, e)
		}
	}
	return list
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usagef("%s takes no arguments", cmd.CommandPath())
	}
	return nil
}
