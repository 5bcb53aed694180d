package opcodes

import (
	_ "embed" // for otherGroupsText
	"strconv"
	"strings"

	. "github.com/lshark/lshark/opcodes/schema"
)

// otherGroupsText are the groups that neither a field of a message nor code has, as Lustre's headers have them: group, name, value, first
// release and text. The first row of a group has the prefix of its names, and says whether they are bits.
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
		v.Value, _ = strconv.ParseUint(c[2], 0, 64)
		g.Values = append(g.Values, v)
	}
	return list
}
