package filter

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/records"
)

// Filter is a compiled filter.
type Filter struct {
	Text  string
	match func(*subject) bool
	of    subject
}

// Match reports whether the filter holds for a message. It does for all when f
// is nil.
func (f *Filter) Match(m *records.Message) bool {
	if f == nil {
		return true
	}
	f.of.msg = m
	return f.match(&f.of)
}

// Compile reads a filter. An error is an *Error.
func Compile(text string) (*Filter, error) {
	e, err := parse(text)
	if err != nil {
		return nil, err
	}
	c := &compiler{text: text, index: opcodes.NewIndex()}
	match, err := c.expr(e)
	if err != nil {
		return nil, err
	}
	return &Filter{Text: text, match: match}, nil
}

type compiler struct {
	text  string
	index *schema.Index
	rpc   *RPCFilter // over RPCs; nil: over messages
}

func (c *compiler) fail(t token, msg, hint string) *Error {
	return &Error{Text: c.text, Col: t.col, Len: t.len, Msg: msg, Hint: hint}
}

func (c *compiler) expr(e *expr) (func(*subject) bool, error) {
	var parts []func(*subject) bool
	for _, a := range e.args {
		f, err := c.expr(a)
		if err != nil {
			return nil, err
		}
		parts = append(parts, f)
	}
	switch e.op {
	case "and":
		a, b := parts[0], parts[1]
		return func(m *subject) bool { return a(m) && b(m) }, nil
	case "or":
		a, b := parts[0], parts[1]
		return func(m *subject) bool { return a(m) || b(m) }, nil
	case "not":
		a := parts[0]
		return func(m *subject) bool { return !a(m) }, nil
	}
	return c.leaf(e)
}

// resolve finds what a name stands for.
func (c *compiler) resolve(t token) (*field, error) {
	if strings.HasPrefix(t.text, records.RPCs.Prefix) {
		f, err := c.rpcField(t)
		if i := strings.LastIndexByte(t.text, '.'); err != nil && i > len(records.RPCs.Prefix) {
			inner := t
			inner.text, inner.len = t.text[:i], i
			if f, err = c.rpcField(inner); err == nil {
				return c.bit(f, t, t.text[i+1:])
			}
		}
		return f, err
	}
	if p, ok := records.Messages.Find(t.text); ok && p.Key.Type != records.Section {
		return keyField(p, messageOf), nil
	}
	if p, ok := probes[t.text]; ok {
		return p.field(), nil
	}
	if isSection(t.text) {
		return treeFieldOf(t.text), nil
	}
	if f := c.declared(t.text); f != nil {
		return f, nil
	}
	if c.rpc != nil { // names that only RPCs have need no prefix
		if p, ok := records.RPCs.Find(t.text); ok {
			f := keyField(p, rpcOf)
			f.rpc = true
			return f, nil
		}
	}
	if i := strings.LastIndexByte(t.text, '.'); i > 0 {
		inner := t
		inner.text, inner.len = t.text[:i], i
		f, err := c.resolve(inner)
		if err == nil {
			return c.bit(f, t, t.text[i+1:])
		}
	}
	return nil, c.fail(t, "there is no field "+t.text, DidYouMean(schema.Nearest(t.text, c.names(), 3)))
}

func (c *compiler) names() []string { return names(c.index, c.rpc != nil) }

// Names lists the names that filters know: of keys and fields, of whole RPCs
// only when the filter is over those.
func Names(ofRPCs bool) []string { return names(opcodes.NewIndex(), ofRPCs) }

func names(index *schema.Index, ofRPCs bool) []string {
	all := slices.Clone(index.Names())
	for _, e := range slices.Concat(records.Messages.Entries(), Probes()) {
		all = append(all, e.Name)
	}
	for _, e := range records.RPCs.Entries() {
		if _, shared := records.MessageKey(e.Name); shared || ofRPCs {
			all = append(all, e.Name)
		}
	}
	return all
}

// declared finds a field of the tables by name or path.
func (c *compiler) declared(path string) *field {
	places := c.index.Find(path)
	if len(places) == 0 {
		return nil
	}
	if parts := strings.Split(path, "."); !c.pathKnown(parts[:len(parts)-1]) {
		return nil
	}
	f := treeFieldOf(path)
	for _, p := range places {
		f.forms = append(f.forms, *p.Field)
		if n := p.Field.Names; n != nil {
			f.names = append(f.names, n)
		}
		if el := p.Field.Elem; el != nil && el.Names != nil {
			f.names = append(f.names, el.Names)
		}
	}
	return f
}

// isSection reports whether a tree has a section of this name.
func isSection(name string) bool {
	p, ok := records.Messages.Find(name)
	return ok && p.Key.Type == records.Section
}

// treeFieldOf makes a field of the nodes of a tree.
func treeFieldOf(path string) *field {
	t := newTreeField(path)
	return &field{each: func(s *subject, f func(*records.Value) bool) bool { return t.each(s.msg.Tree(), &s.value, f) }}
}

func (c *compiler) pathKnown(path []string) bool {
	for _, p := range path {
		if isSection(p) || len(c.index.Find(p)) > 0 {
			continue
		}
		if s := opcodes.StructNamed(p); s == nil || s.Name != p {
			return false
		}
	}
	return true
}

// bit makes name.BIT: the flag, or the value of the enumeration, is set.
func (c *compiler) bit(f *field, t token, name string) (*field, error) {
	var all []string
	found := false
	for _, n := range f.names {
		if _, ok := n.Find(name); ok {
			found = true
		}
		for _, v := range n.Values {
			all = append(all, v.Name)
		}
	}
	if !found {
		at := t
		at.col, at.len = t.col+t.len-len(name), len(name)
		if len(all) == 0 {
			return nil, c.fail(at, "there is no field "+t.text, "")
		}
		return nil, c.fail(at, t.text[:len(t.text)-len(name)-1]+" has no value "+name, DidYouMean(schema.Nearest(name, all, 3)))
	}
	g := *f
	g.bit = name
	return &g, nil
}

// leaf compiles a comparison, or the question whether a field is there.
func (c *compiler) leaf(e *expr) (func(*subject) bool, error) {
	f, err := c.resolve(e.field)
	if err != nil {
		return nil, err
	}
	test, err := c.test(e, f)
	if err != nil {
		return nil, err
	}
	each := f.each
	ask := func(m *subject) bool { return each(m, test) }
	if c.rpc != nil && !f.rpc {
		return c.marked(e, ask)
	}
	return ask, nil
}

func (c *compiler) test(e *expr, f *field) (func(*records.Value) bool, error) {
	if f.bit != "" {
		if e.op != "has" {
			return nil, c.fail(e.at, "a flag is there or not; it cannot be compared", "")
		}
		return bitTest(f), nil
	}
	switch e.op {
	case "has":
		return func(*records.Value) bool { return true }, nil
	case "contains", "matches":
		return c.textTest(e, f)
	case "in":
		return c.setTest(e, f)
	}
	return c.orderTest(e, f)
}

func bitTest(f *field) func(*records.Value) bool {
	return func(v *records.Value) bool {
		if v.Names == nil {
			return false
		}
		b, ok := v.Names.Find(f.bit)
		if !ok {
			return false
		}
		if !v.Names.Flags {
			return v.U == b.Value
		}
		return v.U&b.Mask == b.Value && b.Value != 0
	}
}

func (c *compiler) textTest(e *expr, f *field) (func(*records.Value) bool, error) {
	want := []byte(e.set[0].from.text)
	var buf []byte
	if e.op == "contains" {
		if n := namesOf(f, e.set[0].from.text); n {
			g := *f
			g.bit = e.set[0].from.text
			return bitTest(&g), nil
		}
		return func(v *records.Value) bool {
			buf = appendValue(buf[:0], v)
			return bytes.Contains(buf, want)
		}, nil
	}
	re, err := regexp.Compile(string(want))
	if err != nil {
		return nil, c.fail(e.set[0].from, "not a regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "), "")
	}
	return func(v *records.Value) bool {
		buf = appendValue(buf[:0], v)
		return re.Match(buf)
	}, nil
}

// namesOf says whether the text is the name of a flag of the field.
func namesOf(f *field, text string) bool {
	for _, n := range f.names {
		if _, ok := n.Find(text); ok && n.Flags {
			return true
		}
	}
	return false
}
