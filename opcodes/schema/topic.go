package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Topic is something of the tables that can be explained: a struct, a group of
// names, one value of a group or several together, an operation, a request format,
// a term, a number, a text, or a field in all its places.
type Topic struct {
	Struct *Struct
	Group  *Names
	Value  *Value // of Group
	RPC    *RPC
	Text   *TextConstant
	Term   *Term
	Number *NamedNumber
	Flags  *FlagSet
	Format *RequestFormat
	Buffer *FormatBuffer // of Field
	Header *HeaderName

	HeaderField *HeaderField // the field of Header that was asked for
	Field       string       // its name
	Places      []Place
}

// TextConstant is a constant that is a text, such as the name of an extended
// attribute.
type TextConstant struct {
	Name  string // XATTR_NAME_LOV
	Value string // trusted.lov
	Since Since
	Doc   string
	Forms []*Field // of what has that name
}

// Topics returns everything that a name refers to; letters may be of either case. A name
// is that of a struct, a group, an operation, a field, or a value with or
// without its prefix; a path such as obd_connect_data.ocd_grant or
// obd_connect_flags.GRANT narrows it down; a number is all that has it as its value.
func (x *Index) Topics(name string) []Topic {
	if _, ok := parseNumber(name); ok {
		return x.numbered(name)
	}
	if t := x.formatNamed(name); t != nil {
		return t
	}
	for _, t := range x.reg.Texts {
		if t.Value == name {
			return []Topic{{Text: t}}
		}
	}
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		if t := x.parts(name[:i], name[i+1:]); t != nil {
			return t
		}
	}
	list := x.declared(name)
	for _, t := range x.reg.Texts {
		if strings.EqualFold(t.Name, name) {
			list = append(list, Topic{Text: t})
		}
	}
	for _, g := range x.reg.Groups() {
		if strings.EqualFold(g.Group, name) {
			list = append(list, Topic{Group: g})
		}
	}
	list = append(list, x.valuesNamed(name, len(list) > 0)...)
	if list = append(x.termNamed(name), list...); list == nil {
		return x.inHeaders(name)
	}
	return list
}

// declared are the structs, operations and fields of a name.
func (x *Index) declared(name string) (list []Topic) {
	for _, s := range x.reg.Structs() {
		if strings.EqualFold(s.Name, name) {
			list = append(list, Topic{Struct: s})
		}
	}
	for _, r := range x.reg.RPCs() {
		if strings.EqualFold(r.Name, name) {
			list = append(list, Topic{RPC: r})
		}
	}
	for _, s := range x.reg.Sections[strings.ToLower(name)] {
		list = append(list, Topic{Struct: s})
	}
	places := x.fold(name)
	if len(places) == 0 {
		if list == nil {
			return x.versions(name)
		}
		return list
	}
	s := onlyStruct(places)
	if s != nil && len(list) == 1 && list[0].Struct == s {
		return list // the explanation of the struct lists its places
	}
	list = append(list, Topic{Field: places[0].Field.Name, Places: places})
	if s != nil {
		list = append(list, Topic{Struct: s})
	}
	return list
}

// versions returns the structs whose name is the given one with a version behind
// it: lov_mds_md_v1 and lov_mds_md_v3 of lov_mds_md.
func (x *Index) versions(name string) (list []Topic) {
	for _, s := range x.reg.Structs() {
		if i := strings.LastIndex(s.Name, "_v"); i > 0 && strings.EqualFold(s.Name[:i], name) {
			if _, err := strconv.Atoi(s.Name[i+2:]); err == nil {
				list = append(list, Topic{Struct: s})
			}
		}
	}
	return list
}

// fold finds a field by its name, letters of either case.
func (x *Index) fold(name string) []Place {
	if p := x.places[name]; p != nil {
		return p
	}
	for _, n := range x.names {
		if strings.EqualFold(n, name) {
			return x.places[n]
		}
	}
	return nil
}

// onlyStruct returns the struct that is the type of the field in all its places,
// nil when it has no struct type or several.
func onlyStruct(places []Place) (s *Struct) {
	for _, p := range places {
		t := p.Field.Type
		if t == nil || s != nil && s != t {
			return nil
		}
		s = t
	}
	return s
}

// parts finds a field of a struct or operation, or a value of a group or of a
// field.
func (x *Index) parts(of, name string) []Topic {
	owners := x.owners(of[strings.LastIndexByte(of, '.')+1:])
	var in []Place
	for _, p := range x.fold(name) {
		if strings.EqualFold(p.In, of) || owners[p.In] {
			in = append(in, p)
		}
	}
	if in != nil {
		return []Topic{{Field: in[0].Field.Name, Places: in}}
	}
	var groups []*Names
	for _, g := range x.reg.Groups() {
		if strings.EqualFold(g.Group, of) {
			groups = append(groups, g)
		}
	}
	for _, p := range x.fold(of[strings.LastIndexByte(of, '.')+1:]) {
		if g := p.Field.Group(); g != nil && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	var list []Topic
	for _, g := range groups {
		if v := g.value(name); v != nil {
			list = append(list, Topic{Group: g, Value: v})
		}
	}
	return list
}

// owners returns the names of the structs that are the types of a section or a
// field.
func (x *Index) owners(name string) map[string]bool {
	names := make(map[string]bool)
	for _, s := range x.reg.Sections[strings.ToLower(name)] {
		names[s.Name] = true
	}
	for _, p := range x.fold(name) {
		if p.Field.Type != nil {
			names[p.Field.Type.Name] = true
		}
	}
	return names
}

// Group returns the group of names of the field or of its elements, nil if it
// has none.
func (f *Field) Group() *Names {
	if f.Names == nil && f.Elem != nil {
		return f.Elem.Names
	}
	return f.Names
}

// OverlaidField returns the name of the field that this one overlays, empty when
// it overlays none or only part of one.
func (f *Field) OverlaidField() string { return f.over }

func (n *Names) value(name string) *Value {
	for i := range n.Values {
		if v := &n.Values[i]; strings.EqualFold(v.Name, name) || strings.EqualFold(n.Full(*v), name) {
			return v
		}
	}
	return nil
}

// valuesNamed finds values in all groups: those whose full name it is, else
// those whose short name it is. Opcodes are skipped: declared
// finds the operations.
func (x *Index) valuesNamed(name string, found bool) (list []Topic) {
	var short []Topic
	for _, g := range x.reg.Groups() {
		for i := range g.Values {
			v := &g.Values[i]
			switch {
			case g == x.reg.Opcodes && x.reg.ByOpcode(uint32(v.Value)) != nil:
			case strings.EqualFold(g.Full(*v), name):
				list = append(list, Topic{Group: g, Value: v})
			case strings.EqualFold(v.Name, name):
				short = append(short, Topic{Group: g, Value: v})
			}
		}
	}
	if list != nil || found {
		return list
	}
	return short
}

// Users returns the places of the fields that use a group of names.
func (x *Index) Users(g *Names) []Place {
	return x.where(func(f *Field) bool { return f.Group() == g })
}

// Holders returns the places of the fields whose type is the struct.
func (x *Index) Holders(s *Struct) []Place {
	return x.where(func(f *Field) bool { return f.Type == s || f.Elem != nil && f.Elem.Type == s })
}

func (x *Index) where(is func(*Field) bool) (list []Place) {
	for _, name := range x.names {
		for _, p := range x.places[name] {
			if is(p.Field) {
				list = append(list, p)
			}
		}
	}
	return list
}

// TopicNames returns all names that Topics accepts, sorted: values with their
// full names, and also with their short ones when short is set.
func (x *Index) TopicNames(short bool) []string {
	all := make(map[string]bool, 8192)
	for _, n := range x.names {
		all[n] = true
	}
	for n := range x.reg.Sections {
		all[n] = true
	}
	for _, s := range x.reg.Structs() {
		all[s.Name] = true
	}
	for _, g := range x.reg.Groups() {
		all[g.Group] = true
		for _, v := range g.Values {
			all[g.Full(v)] = true
			if short {
				all[v.Name] = true
			}
		}
	}
	for _, f := range x.reg.Formats() {
		all[f.Name] = true
	}
	for _, b := range x.reg.FormatBuffers() {
		all[b.Name] = true
	}
	for _, t := range x.reg.Terms {
		all[t.Name] = true
	}
	for _, t := range x.reg.Texts {
		all[t.Name], all[t.Value] = true, true
	}
	return slices.Sorted(maps.Keys(all))
}

// Standalone returns a copy of the field for use without its struct: at offset
// 0 and without validity rules.
func (f *Field) Standalone() *Field {
	c := *f
	c.copyRules()
	c.Off, c.Direct = 0, false
	if c.Rules == &noRules {
		return &c
	}
	c.over, c.at, c.afterPrevious = "", 0, false
	c.When, c.ValidIf, c.If, c.Case, c.Locate = nil, nil, nil, nil, nil
	if c.CountBy != "" || c.CountOf != nil {
		c.CountBy, c.CountOf, c.count = "", nil, nil
		if c.Kind == Array {
			c.Count = -1
		}
	}
	return &c
}

// Term is a word of Lustre's developers that is not in the protocol itself.
type Term struct {
	Name string   // LVB
	Long string   // lock value block
	Doc  string   // one or two sentences
	See  []string // names of the protocol that have to do with it
}

// termNamed finds a term by its name, or by what it stands for, in the singular too.
func (x *Index) termNamed(name string) []Topic {
	for _, t := range x.reg.Terms {
		if strings.EqualFold(t.Name, name) {
			return []Topic{{Term: t}}
		}
		for _, long := range strings.Split(t.Long, ", ") {
			if long = strings.TrimPrefix(long, "also "); strings.EqualFold(long, name) || strings.EqualFold(strings.TrimSuffix(long, "s"), name) {
				return []Topic{{Term: t}}
			}
		}
	}
	return nil
}

// IsPhrase reports whether words together are a term.
func (x *Index) IsPhrase(words string) bool {
	return strings.Contains(words, " ") && x.termNamed(words) != nil
}
