package filter

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// resolve finds the field of a name, or of NAME.BIT; a field that fits all for none, which is an error.
func (c *compiler) resolve(t token) *field {
	if f := c.lookup(t.text); f != nil {
		return f
	}
	if i := strings.LastIndexByte(t.text, '.'); i > 0 {
		if f := c.lookup(t.text[:i]); f != nil && (len(f.names) > 0 || c.record == nil) {
			return c.bit(f, t, t.text[i+1:])
		}
	}
	c.unknown(t)
	return &field{}
}

// lookup finds the field of a name, nil for none.
func (c *compiler) lookup(name string) *field {
	if c.record != nil {
		return c.record(name)
	}
	if i := slices.IndexFunc(probes, func(k *key) bool { return k.Name == name }); i >= 0 {
		return keyField(name, records.Path[*records.Message]{Key: probes[i]})
	}
	key, ofRPC := strings.CutPrefix(name, records.RPCs.Prefix)
	if !ofRPC || c.rpc == nil {
		if p, tree, ok := records.FindField(name); ok && tree != nil {
			return treeField(name, tree)
		} else if ok {
			return keyField(name, p)
		}
	}
	if c.rpc == nil {
		return nil
	}
	p, ok := records.RPCs.Find(key) // names that only RPCs have need no prefix
	if !ok {
		return nil
	}
	f := keyField(name, p)
	f.ofRPC = true
	return f
}

func (c *compiler) unknown(t token) {
	key, ofRPC := strings.CutPrefix(t.text, records.RPCs.Prefix)
	_, isKey := records.RPCs.Find(key)
	switch {
	case c.record != nil:
		c.unknownKey(t)
	case !ofRPC:
		c.reject(t, "unknown field "+t.text, c.hint(t.text))
	case isKey:
		c.reject(t, t.text+" is a key of RPCs, and this filter is for messages", rpcHint)
	default:
		c.reject(t, "unknown field "+t.text, DidYouMean(schema.Nearest(t.text, RecordNames(&records.RPCs), 3)))
	}
}

// Names lists the names that filters know: of keys and fields, of whole RPCs
// only when the filter is over those.
func Names(ofRPCs bool) []string {
	all := slices.Clone(opcodes.FieldIndex().Names())
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

// bit makes the field name.BIT, which exists when the flag is set, or when the
// enumeration has the value.
func (c *compiler) bit(f *field, t token, name string) *field {
	var all []string
	for _, n := range f.names {
		if _, ok := n.Find(name); ok {
			g := *f
			g.bit = name
			return &g
		}
		for _, v := range n.Values {
			all = append(all, v.Name)
		}
	}
	at := t
	at.col, at.len = t.col+t.len-len(name), len(name)
	if len(all) == 0 {
		c.reject(at, "unknown field "+t.text, c.hint(t.text))
	} else {
		c.reject(at, t.text[:len(t.text)-len(name)-1]+" has no value "+name, DidYouMean(schema.Nearest(name, all, 3)))
	}
	return &field{}
}
