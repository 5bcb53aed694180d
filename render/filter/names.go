package filter

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

func (c *compiler) resolve(t token) (*field, error) {
	if c.record != nil {
		return c.record(t)
	}
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
		return keyField(t.text, p, messageOf), nil
	}
	if p, ok := probes[t.text]; ok {
		return p.field(t.text), nil
	}
	if p, ok := records.FindField(t.text, c.index); ok {
		return c.treeField(t.text, p), nil
	}
	if c.rpc != nil { // names that only RPCs have need no prefix
		if p, ok := records.RPCs.Find(t.text); ok {
			f := keyField(t.text, p, rpcOf)
			f.ofRPC = true
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
	return nil, c.fail(t, "unknown field "+t.text, c.hint(t.text))
}

func (c *compiler) names() []string { return names(c.index, c.rpc != nil) }

// Names lists the names that filters know: of keys and fields, of whole RPCs
// only when the filter is over those.
func Names(ofRPCs bool) []string { return names(opcodes.FieldIndex(), ofRPCs) }

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

// treeField makes the field of a path in the tree.
func (c *compiler) treeField(name string, p records.FieldPath) *field {
	t := treeField{FieldPath: p}
	f := &field{name: name, each: func(s *subject, f func(*records.Value) bool) bool { return t.each(s.msg.Tree(), &s.value, f) }}
	if records.IsSection(name) {
		return f
	}
	for _, p := range c.index.Find(name) {
		f.declarations = append(f.declarations, *p.Field)
		if n := p.Field.Names; n != nil {
			f.names = append(f.names, n)
		}
		if el := p.Field.Elem; el != nil && el.Names != nil {
			f.names = append(f.names, el.Names)
		}
	}
	return f
}

// bit makes the field name.BIT, which exists when the flag is set, or when the
// enumeration has the value.
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
			return nil, c.fail(at, "unknown field "+t.text, c.hint(t.text))
		}
		return nil, c.fail(at, t.text[:len(t.text)-len(name)-1]+" has no value "+name, DidYouMean(schema.Nearest(name, all, 3)))
	}
	g := *f
	g.bit = name
	return &g, nil
}

// rpcField finds a key of RPCs by a name that begins with their prefix.
func (c *compiler) rpcField(t token) (*field, error) {
	if c.rpc == nil {
		if p, ok := records.MessageKey(t.text); ok {
			return keyField(t.text, p, messageOf), nil
		}
	}
	p, ok := records.RPCs.Find(strings.TrimPrefix(t.text, records.RPCs.Prefix))
	switch {
	case !ok:
		return nil, c.fail(t, "unknown field "+t.text, DidYouMean(schema.Nearest(t.text, RecordNames(&records.RPCs), 3)))
	case c.rpc == nil:
		return nil, c.fail(t, t.text+" is a key of RPCs, and this filter is for messages", rpcHint)
	}
	f := keyField(t.text, p, rpcOf)
	f.ofRPC = true
	return f, nil
}
