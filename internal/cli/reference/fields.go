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
			var list []explain.ListedField
			for _, e := range ownKeys() {
				list = append(list, explain.ListedField{Name: e.Name, Type: e.TypeText(), Places: []string{e.Of}, Meaning: e.Doc})
			}
			out, unknown := chooseFields(append(list, explain.FieldList(opcodes.FieldIndex())...), args, form.Value == "json")
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
func chooseFields(all []explain.ListedField, names []string, asJSON bool) (out []byte, unknown error) {
	found := make([]bool, len(names))
	var known []string
	for _, f := range all {
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
			out = fmt.Appendf(out, "%s\t%s\t%s\t%s\n", f.Name, f.Type, strings.Join(f.Places, ","), f.Meaning)
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
