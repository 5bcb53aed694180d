package filter

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Filter is a compiled filter.
type Filter struct {
	Text  string
	match func(*Message) bool
}

// Match says whether the filter holds for a message.
func (f *Filter) Match(m *Message) bool { return f == nil || f.match(m) }

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

func (c *compiler) expr(e *expr) (func(*Message) bool, error) {
	var parts []func(*Message) bool
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
		return func(m *Message) bool { return a(m) && b(m) }, nil
	case "or":
		a, b := parts[0], parts[1]
		return func(m *Message) bool { return a(m) || b(m) }, nil
	case "not":
		a := parts[0]
		return func(m *Message) bool { return !a(m) }, nil
	}
	return c.leaf(e)
}

// field is a resolved name: where its values come from, and what they are.
type field struct {
	each  func(m *Message, f func(*value) bool) bool
	names []*schema.Names
	forms []schema.Field // of the declarations, for checking literals
	key   *key           // not nil when it is one
	bit   string         // name.BIT
}

// resolve finds what a name stands for.
func (c *compiler) resolve(t token) (*field, error) {
	if aboutRPC(t.text) {
		f, err := c.rpcField(t)
		if i := strings.LastIndexByte(t.text, '.'); err != nil && i > len("rpc.") {
			inner := t
			inner.text, inner.len = t.text[:i], i
			if f, err = c.rpcField(inner); err == nil {
				return c.bit(f, t, t.text[i+1:])
			}
		}
		return f, err
	}
	if k, ok := keys[t.text]; ok {
		f := &field{each: k.values, key: &k}
		if k.names != nil {
			f.names = append(f.names, k.names)
		}
		return f, nil
	}
	if sections[t.text] {
		s := newTreeField(t.text)
		return &field{each: func(m *Message, f func(*value) bool) bool { return s.each(m.Tree(), &m.value, f) }}, nil
	}
	if f := c.declared(t.text); f != nil {
		return f, nil
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

func (c *compiler) names() []string {
	all := append([]string(nil), c.index.Names()...)
	for _, k := range Keys() {
		if c.rpc != nil || !k.RPC || k.Name == "rpc.latency" {
			all = append(all, k.Name)
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
	t := newTreeField(path)
	if !c.pathKnown(t.path) {
		return nil
	}
	f := &field{each: func(m *Message, f func(*value) bool) bool { return t.each(m.Tree(), &m.value, f) }}
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

// sections are the names of a tree's outermost nodes.
var sections = map[string]bool{"ksock": true, "connreq": true, "hello": true, "lnet": true, "ping_info": true,
	"selftest": true, "gss": true, "plain": true, "lustre_msg": true, "ptlrpc_body": true, "buffers": true, "content": true}

func (c *compiler) pathKnown(path []string) bool {
	for _, p := range path {
		if sections[p] || len(c.index.Find(p)) > 0 {
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
func (c *compiler) leaf(e *expr) (func(*Message) bool, error) {
	f, err := c.resolve(e.field)
	if err != nil {
		return nil, err
	}
	test, err := c.test(e, f)
	if err != nil {
		return nil, err
	}
	each := f.each
	ask := func(m *Message) bool { return each(m, test) }
	if c.rpc != nil && !aboutRPC(e.field.text) {
		return c.marked(e, ask)
	}
	return ask, nil
}

func (c *compiler) test(e *expr, f *field) (func(*value) bool, error) {
	if f.bit != "" {
		if e.op != "has" {
			return nil, c.fail(e.at, "a flag is there or not; it cannot be compared", "")
		}
		return bitTest(f), nil
	}
	switch e.op {
	case "has":
		return func(*value) bool { return true }, nil
	case "contains", "matches":
		return c.textTest(e, f)
	case "in":
		return c.setTest(e, f)
	}
	return c.orderTest(e, f)
}

func bitTest(f *field) func(*value) bool {
	return func(v *value) bool {
		if v.names == nil {
			return false
		}
		b, ok := v.names.Find(f.bit)
		if !ok {
			return false
		}
		if !v.names.Flags {
			return v.u == b.Value
		}
		return v.u&b.Mask == b.Value && b.Value != 0
	}
}

func (c *compiler) textTest(e *expr, f *field) (func(*value) bool, error) {
	want := []byte(e.set[0].from.text)
	var buf []byte
	if e.op == "contains" {
		if n := namesOf(f, e.set[0].from.text); n {
			g := *f
			g.bit = e.set[0].from.text
			return bitTest(&g), nil
		}
		return func(v *value) bool {
			buf = v.append(buf[:0])
			return bytes.Contains(buf, want)
		}, nil
	}
	re, err := regexp.Compile(string(want))
	if err != nil {
		return nil, c.fail(e.set[0].from, "not a regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "), "")
	}
	return func(v *value) bool {
		buf = v.append(buf[:0])
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
