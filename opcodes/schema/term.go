package schema

import "strings"

// Term is a word of Lustre's developers that is not in the protocol itself.
type Term struct {
	Name string   // LVB
	Long string   // lock value block
	Doc  string   // one or two sentences
	See  []string // names of the protocol that have to do with it
}

func (x *Index) termNamed(name string) []Topic {
	for _, t := range x.reg.Terms {
		if strings.EqualFold(t.Name, name) {
			return []Topic{{Term: t}}
		}
	}
	return nil
}
