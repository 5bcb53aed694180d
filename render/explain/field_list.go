package explain

import (
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
)

// AppendFieldList appends a line for each declaration of a field of the tables:
// name, type, places and meaning, separated by tabs.
func AppendFieldList(dst []byte, index *schema.Index) []byte {
	for _, name := range index.Names() {
		places := index.Find(name)
		for i := range places {
			if declaredBefore(places[:i], places[i].Field) {
				continue
			}
			f := places[i].Field
			var in []string
			for _, p := range places[i:] {
				if sameMeaning(p.Field, f) {
					in = append(in, p.In)
				}
			}
			dst = appendColumns(dst, name, f.TypeText(), strings.Join(in, ","), f.Doc)
		}
	}
	return dst
}

func declaredBefore(places []schema.Place, f *schema.Field) bool {
	for _, p := range places {
		if sameMeaning(p.Field, f) {
			return true
		}
	}
	return false
}

func sameMeaning(a, b *schema.Field) bool {
	return a == b || a.Doc == b.Doc && a.TypeText() == b.TypeText()
}

func appendColumns(dst []byte, columns ...string) []byte {
	for i, c := range columns {
		if i > 0 {
			dst = append(dst, '\t')
		}
		dst = append(dst, c...)
	}
	return append(dst, '\n')
}
