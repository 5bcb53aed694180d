package opcodes

import (
	_ "embed" // for headerNamesText
	"fmt"
	"strings"
	"sync"

	. "github.com/lshark/lshark/opcodes/schema"
)

// headerNamesText has a header, a kind (define, enum NAME, struct NAME or alias), names and a text in each line. The names
// have values, NAME=0x1; those of a struct are its fields, and an alias has the name that declarations have, o_dirty=o_blocks. Below a struct there may be lines of its fields, of the kind
// field NAME, with offset and size, NAME=0+8.
//
//go:embed header_names.tsv
var headerNamesText string

var headerNames = sync.OnceValue(func() (list []*HeaderName) {
	for line := range strings.Lines(headerNamesText) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		header, kind, names, doc := c[0], c[1], strings.Fields(c[2]), c[3]
		if name, ok := strings.CutPrefix(kind, "struct "); ok {
			h := &HeaderName{Name: name, Header: header, Struct: true, Doc: doc}
			for _, field := range names {
				h.Fields = append(h.Fields, &HeaderField{Name: field})
			}
			list = append(list, h)
			continue
		}
		if strings.HasPrefix(kind, "field ") {
			f := &HeaderField{Doc: doc}
			f.Name, c[2], _ = strings.Cut(c[2], "=")
			fmt.Sscanf(c[2], "%d+%d", &f.Offset, &f.Size)
			h := list[len(list)-1]
			h.Fields = append(h.Fields, f)
			continue
		}
		_, of, _ := strings.Cut(kind, " ")
		for _, n := range names {
			name, value, _ := strings.Cut(n, "=")
			list = append(list, &HeaderName{Name: name, Header: header, Of: of, Alias: kind == "alias", Value: value, Doc: doc})
		}
	}
	return list
})
