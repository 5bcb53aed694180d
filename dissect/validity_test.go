package dissect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/facts"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// condition is when a field is valid, or shown: word&A|B where one of the bits is set in another field
// of the struct, word=A|B where that has one of the values, each turned round by a ! in front.
type condition struct {
	word   string
	equals bool
	not    bool
	values []uint64
}

func (c condition) holds(words map[string]uint64) bool {
	is := slices.ContainsFunc(c.values, func(v uint64) bool {
		return c.equals && words[c.word] == v || !c.equals && words[c.word]&v != 0
	})
	return is != c.not
}

func readCondition(f *factTables, text string) (c condition) {
	if text == "never" { // the place has another name
		return c
	}
	text, c.not = strings.CutPrefix(text, "!")
	at := strings.IndexAny(text, "&=")
	c.word, c.equals = text[:at], text[at] == '='
	for name := range strings.SplitSeq(text[at+1:], "|") {
		v, err := strconv.ParseUint(name, 0, 64)
		if err != nil {
			v = f.number(name)
		}
		c.values = append(c.values, v)
	}
	return c
}

// validity is what the facts say about the fields of a struct: the conditions that must all hold.
type validity struct {
	valid, shown map[string][]condition
}

func readValidity(t *testing.T, f *factTables) map[string]validity {
	all := make(map[string]validity)
	tables, err := facts.Read("../opcodes/testdata")
	must.NoError(t, err)
	for _, row := range tables.Validity {
		if _, ok := all[row[0]]; !ok {
			all[row[0]] = validity{make(map[string][]condition), make(map[string][]condition)}
		}
		which := all[row[0]].valid
		if row[2] == "shown" {
			which = all[row[0]].shown
		}
		for text := range strings.FieldsSeq(row[3]) {
			which[row[1]] = append(which[row[1]], readCondition(f, text))
		}
	}
	return all
}

// settings are the values of the words: of each one no bit, each bit, and all, or each value that chooses
// something and one that does not, while the others have none and all.
func (v validity) settings(f *factTables, s *factStruct) (all []map[string]uint64) {
	values := make(map[string][]uint64)
	for _, which := range []map[string][]condition{v.valid, v.shown} {
		for _, list := range which {
			for _, c := range list {
				if c.word == "" {
					continue
				}
				_, size := f.place(s, c.word)
				switch {
				case c.equals:
					values[c.word] = append(values[c.word], append(c.values, 0xfe)...)
				case values[c.word] == nil:
					values[c.word] = []uint64{0, 1<<(8*size) - 1}
					for bit := range 8 * size {
						values[c.word] = append(values[c.word], 1<<bit)
					}
				}
			}
		}
	}
	if len(values) == 0 {
		return []map[string]uint64{{}}
	}
	for each := range values {
		list := []map[string]uint64{{}}
		for word, of := range values {
			if word != each {
				of = of[:2]
			}
			var more []map[string]uint64
			for _, have := range list {
				for _, value := range of {
					next := maps.Clone(have)
					next[word] = value
					more = append(more, next)
				}
			}
			list = more
		}
		all = append(all, list...)
	}
	return all
}

// place finds a field, in a struct that is a field too where the name has a dot.
func (f *factTables) place(s *factStruct, path string) (off, size int) {
	name, rest, inside := strings.Cut(path, ".")
	for _, m := range s.fields {
		if m.name == name && !inside {
			return m.off, m.size
		}
		if m.name == name {
			off, size = f.place(f.structs[strings.TrimPrefix(m.kind, "struct ")], rest)
			return m.off + off, size
		}
	}
	panic("no field " + s.name + "." + path)
}

// TestEachBitAlone sets the words of a struct that say which of its fields mean something, in both byte
// orders, and holds what is shown, and what is shown as valid, to validity.tsv.
func TestEachBitAlone(t *testing.T) {
	f := readFacts(t)
	structs := make(map[string]*schema.Struct)
	for _, s := range opcodes.Protocol.Structs() {
		structs[s.Name] = s
	}
	var tree Tree
	for name, v := range readValidity(t, f) {
		s := structs[name]
		must.That(t, s != nil, "no struct %s", name)
		for _, words := range v.settings(f, f.structs[name]) {
			checkValidity(t, &tree, f, f.structs[name], s, v, words, false)
			checkValidity(t, &tree, f, f.structs[name], s, v, words, true)
		}
	}
}

func checkValidity(t *testing.T, tree *Tree, f *factTables, s *factStruct, declared *schema.Struct, v validity, words map[string]uint64, big bool) {
	t.Helper()
	data := make([]byte, s.size)
	for i := range data {
		data[i] = 1
	}
	for word, value := range words {
		off, size := f.place(s, word)
		copy(data[off:], encode(value, size, s.order != "little" && (big || s.order == "big")))
	}
	tree.BuildField(schema.Sub("x", &declared).Resolve(), nil, data, big)
	where := func() string {
		text := fmt.Sprintf("%s, big-endian %v, with", s.name, big)
		for word, value := range words {
			text += fmt.Sprintf(" %s=%#x", word, value)
		}
		return text
	}
	nodes := paths(tree)
	for path, n := range nodes {
		name := strings.TrimPrefix(path, "x.")
		if want := hold(v.valid[name], words); n.Depth == 1 && n.Is(NotValid) == want {
			t.Errorf("%s: %s valid: %v, not %v", where(), name, !want, want)
		}
	}
	for name, list := range v.shown {
		if want := hold(list, words); (nodes["x."+name] != nil) != want {
			t.Errorf("%s: %s shown: %v, not %v", where(), name, !want, want)
		}
	}
	for name := range v.valid {
		if v.shown[name] == nil && nodes["x."+name] == nil {
			t.Errorf("%s: no %s", where(), name)
		}
	}
}

func hold(list []condition, words map[string]uint64) bool {
	return !slices.ContainsFunc(list, func(c condition) bool { return !c.holds(words) })
}
