package opcodes

import (
	_ "embed" // for headerNamesText
	"strings"
	"sync"

	. "github.com/lshark/lshark/opcodes/schema"
)

// headerNamesText has a header, a kind (define, enum NAME or struct NAME), names and a text in each line. The names
// have values, NAME=0x1; those of a struct are its fields.
//
//go:embed header_names.tsv
var headerNamesText string

var headerNames = sync.OnceValue(func() (list []*HeaderName) {
	for line := range strings.Lines(headerNamesText) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		header, kind, names, doc := c[0], c[1], strings.Fields(c[2]), c[3]
		if name, ok := strings.CutPrefix(kind, "struct "); ok {
			list = append(list, &HeaderName{Name: name, Header: header, Struct: true, Fields: names, Doc: doc})
			continue
		}
		_, of, _ := strings.Cut(kind, " ")
		for _, n := range names {
			name, value, _ := strings.Cut(n, "=")
			list = append(list, &HeaderName{Name: name, Header: header, Of: of, Value: value, Doc: doc})
		}
	}
	return list
})
