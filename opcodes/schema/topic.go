package schema

import (
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
	Flags  *NumberUse // several
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

// named is a name with what it refers to.
type named struct {
	name  string
	topic Topic
}

// listNamed lists the names of all declarations, in the order in which explanations have them.
func (x *Index) listNamed() (list []named) {
	add := func(name string, t Topic) { list = append(list, named{name, t}) }
	for _, f := range x.reg.Formats() {
		add(f.Name, Topic{Format: f})
	}
	for _, b := range x.reg.FormatBuffers() {
		add(b.Name, Topic{Buffer: b, Field: b.Buffer, Places: x.buffers(b.Buffer)})
	}
	for _, s := range x.reg.Structs() {
		add(s.Name, Topic{Struct: s})
	}
	for _, r := range x.reg.RPCs() {
		add(r.Name, Topic{RPC: r})
	}
	for name, structs := range x.reg.Sections {
		for _, s := range structs {
			add(name, Topic{Struct: s})
		}
	}
	for _, n := range x.names {
		add(n, Topic{Field: n, Places: x.places[n]})
	}
	for _, t := range x.reg.Texts {
		add(t.Name, Topic{Text: t})
	}
	for _, g := range x.reg.Groups() {
		add(g.Group, Topic{Group: g})
	}
	for _, g := range x.reg.Groups() {
		for i := range g.Values {
			if v := &g.Values[i]; g != x.reg.Opcodes || x.reg.ByOpcode(uint32(v.Value)) == nil {
				add(g.Full(*v), Topic{Group: g, Value: v})
			}
		}
	}
	return list
}

// Topics returns everything that a name refers to; letters may be of either case. A name
// is that of a struct, a group, an operation, a field, or a value with or
// without its prefix; a path such as obd_connect_data.ocd_grant or
// obd_connect_flags.GRANT narrows it down; a number is all that has it as its value.
func (x *Index) Topics(name string) (list []Topic) {
	if _, ok := parseNumber(name); ok {
		return x.numbered(name)
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
	var short []Topic
	for _, n := range x.named() {
		switch t := n.topic; {
		case strings.EqualFold(n.name, name):
			s := onlyStruct(t.Places)
			if s != nil && len(list) == 1 && list[0].Struct == s {
				continue // the explanation of the struct lists its places
			}
			if list = append(list, t); s != nil && t.Buffer == nil {
				list = append(list, Topic{Struct: s})
			}
		case t.Value != nil && strings.EqualFold(t.Value.Name, name):
			short = append(short, t)
		}
	}
	if list == nil {
		list = x.versions(name)
	}
	if list == nil {
		list = short
	}
	if list = append(x.termNamed(name), list...); list == nil {
		return x.inHeaders(name)
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
func (x *Index) TopicNames(short bool) (names []string) {
	for _, n := range x.named() {
		names = append(names, n.name)
		if short && n.topic.Value != nil {
			names = append(names, n.topic.Value.Name)
		}
	}
	for _, v := range x.reg.UnusedOpcodes {
		names = append(names, v.Name)
	}
	for _, t := range x.reg.Terms {
		names = append(names, t.Name)
	}
	for _, t := range x.reg.Texts {
		names = append(names, t.Value)
	}
	slices.Sort(names)
	return slices.Compact(names)
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
