package opcodes

import (
	_ "embed" // for otherGroupsText
	"strconv"
	"strings"

	. "github.com/lshark/lshark/opcodes/schema"
)

// otherGroupsText has the groups of constants in Lustre's headers that no field of a message uses, and no code. The columns of a constant are
// its group, name, value, first release and description. Before the constants of a group stands a row for the group itself: its name column
// is the prefix that the names of its constants share, with a *, and its value column is "bits" if they are flags.
//
//go:embed other_groups.tsv
var otherGroupsText string

func otherGroups() (list []*Names) {
	for line := range strings.Lines(otherGroupsText) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if prefix, ok := strings.CutSuffix(c[1], "*"); ok {
			list = append(list, &Names{Group: c[0], Prefix: prefix, Doc: c[4], Flags: c[2] == "bits"})
			continue
		}
		g, v := list[len(list)-1], Value{Name: c[1], Since: Since(c[3]), Doc: c[4], NoPrefix: true}
		if name, ok := strings.CutPrefix(c[1], g.Prefix); ok {
			v.Name, v.NoPrefix = name, false
		}
		c[2], v.Alias = strings.CutSuffix(c[2], " alias")
		var err error
		if v.Value, err = strconv.ParseUint(c[2], 0, 64); err != nil {
			panic("other_groups.tsv: " + err.Error())
		}
		g.Values = append(g.Values, v)
	}
	return list
}
