package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render/explain"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

func NewFields(sys *iostreams.IO) *cobra.Command {
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
		Args: flags.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var out []byte
			for _, e := range ownKeys() {
				out = fmt.Appendf(out, "%s\t%s\t%s\t%s\n", e.Name, e.TypeText(), e.Of, e.Doc)
			}
			_, err := sys.Out.Write(explain.AppendFieldList(out, opcodes.NewIndex()))
			return err
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

// ownKeys lists the keys of records that -e and -Y accept, and the fields that
// filters read without a tree, by record and name.
func ownKeys() []records.Entry {
	list := append(records.All(), filter.Probes()...)
	list = slices.DeleteFunc(list, func(e records.Entry) bool { return !e.InFilters })
	slices.SortFunc(list, func(a, b records.Entry) int {
		return cmp.Or(strings.Compare(a.Of, b.Of), strings.Compare(a.Name, b.Name))
	})
	return list
}
