package reference

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render/explain"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

func NewFields(sys *scan.System) *cobra.Command {
	form := flags.FormChoice("text", "json")
	cmd := &cobra.Command{
		Use:   "fields [flags] [NAME…]",
		Short: "List all fields for -e and -Y, with type, place and meaning",
		Long: "fields prints one line for each field that -e and -Y accept: its name, its type, the structs and " +
			"operations in which it occurs, and its meaning, separated by tabs. First come the keys of every record, then those of RPCs. " +
			"NAME is a field, a place, or PLACE.FIELD; without it, all are shown.",
		Example: `  # one field, and those of a struct
  lshark fields mbo_size obd_connect_data

  # fields about job ids
  lshark fields | grep -i jobid`,
		RunE: func(_ *cobra.Command, args []string) error {
			var out []byte
			for _, e := range ownKeys() {
				out = fmt.Appendf(out, "%s\t%s\t%s\t%s\n", e.Name, e.TypeText(), e.Of, e.Doc)
			}
			out, unknown := chooseFields(explain.AppendFieldList(out, opcodes.FieldIndex()), args, form.Value == "json")
			_, err := sys.Out.Write(out)
			return errors.Join(err, unknown)
		},
		ValidArgsFunction: completeTopics,
	}
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) { flags.RegisterForm(f, &form) })
	return cmd
}

// chooseFields returns the lines of the fields that are asked for, all without names, and an
// error for names of none.
func chooseFields(all []byte, names []string, asJSON bool) (out []byte, unknown error) {
	type field struct {
		Name    string   `json:"name"`
		Type    string   `json:"type"`
		Places  []string `json:"places"`
		Meaning string   `json:"meaning"`
	}
	found := make([]bool, len(names))
	var known []string
	for line := range strings.Lines(string(all)) {
		column := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		f := field{column[0], column[1], strings.Split(column[2], ","), column[3]}
		known = append(known, f.Name)
		chosen := len(names) == 0
		for i, name := range names {
			is := func(text string) bool { return strings.EqualFold(text, name) }
			if is(f.Name) || slices.ContainsFunc(f.Places, func(place string) bool { return is(place) || is(place+"."+f.Name) }) {
				found[i], chosen = true, true
			}
		}
		switch {
		case !chosen:
		case asJSON:
			out = appendJSON(out, f)
		default:
			out = append(out, line...)
		}
	}
	for i, name := range names {
		if !found[i] {
			unknown = errors.Join(unknown, exit.UnknownName("field", name, slices.Compact(known)))
		}
	}
	return out, unknown
}

// ownKeys lists the keys of records that -e and -Y accept, and the fields that
// filters read without a tree, by record and name.
func ownKeys() []records.Entry {
	list := slices.DeleteFunc(slices.Concat(records.All(), filter.Probes()), func(e records.Entry) bool { return !e.InFilters })
	slices.SortStableFunc(list, func(a, b records.Entry) int {
		return cmp.Or(strings.Compare(a.Of, b.Of), strings.Compare(a.Name, b.Name))
	})
	return list
}
