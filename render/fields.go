package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/records"
)

// RecordKeys lists the names of the keys of messages that -T fields knows
// besides the fields of the wire.
func RecordKeys() (names []string) {
	for _, e := range records.Messages.Entries() {
		names = append(names, e.Path)
	}
	return names
}

// FieldError says that a field does not exist, and which ones are named
// alike.
type FieldError struct {
	Name string
	Near []string
}

func (e *FieldError) Error() string {
	msg := "unknown field " + strconv.Quote(e.Name)
	if len(e.Near) > 0 {
		msg += "; did you mean " + strings.Join(e.Near, ", ") + "?"
	}
	return msg
}

// Fields renders chosen fields of a message, separated by tabs: several values
// of the same field by commas, nothing for a field the message does not have.
type Fields struct {
	names   []string
	columns []column
	deep    bool // some columns are fields of the tree
	msg     records.Message
	path    []int // nodes around the one that is looked at
}

// column is one field: a key of the record, or nodes of the tree by name and
// the names around it.
type column struct {
	key   *recordField[*records.Message]
	name  string
	above []string // in the order of the path, the innermost last
	out   []byte
	found bool
}

// NewFields makes a renderer for the fields of these names: wire names, paths
// such as lnet.src_nid, or keys of a record such as frame. The error is a
// *FieldError.
func NewFields(names []string, index *schema.Index) (*Fields, error) {
	f := &Fields{names: names}
	for _, name := range names {
		if p, ok := records.MessageKey(name); ok && p.Key.Type != records.Section {
			f.columns = append(f.columns, column{key: newRecordField(p)})
			continue
		}
		c, ok := path(name, index)
		if !ok {
			return nil, &FieldError{name, nearest(name, index)}
		}
		f.columns = append(f.columns, c)
		f.deep = true
	}
	return f, nil
}

// path takes a name apart: of a field, or of one inside others. Names of the
// wire may have dots of their own.
func path(name string, index *schema.Index) (column, bool) {
	if isDeclared(name, index) {
		return column{name: name}, true
	}
	parts := strings.Split(name, ".")
	last := len(parts) - 1
	for i, p := range parts {
		if !isDeclared(p, index) && (i == last || !isStruct(p)) {
			return column{}, false
		}
	}
	return column{name: parts[last], above: parts[:last]}, true
}

// isDeclared reports whether a field or section has this name.
func isDeclared(name string, index *schema.Index) bool {
	_, ok := slices.BinarySearch(index.Names(), name)
	return ok || isSection(name)
}

func isStruct(name string) bool {
	for _, s := range opcodes.Protocol.Structs {
		if s.Name == name {
			return true
		}
	}
	return false
}

// isSection reports whether a message has a section of this name.
func isSection(name string) bool {
	p, ok := records.Messages.Find(name)
	return ok && p.Key.Type == records.Section
}

func nearest(name string, index *schema.Index) []string {
	all := append(RecordKeys(), index.Names()...)
	const few = 3
	return schema.Nearest(name[strings.LastIndexByte(name, '.')+1:], all, few)
}

// Header appends a line of the names.
func (f *Fields) Header(dst []byte) []byte {
	return append(append(dst, strings.Join(f.names, "\t")...), '\n')
}

// Append appends the line of a message.
func (f *Fields) Append(dst []byte, m *dissect.Message, at Moment) []byte {
	f.msg.Set(m, at.First)
	if f.deep {
		f.collect()
	}
	for i := range f.columns {
		if i > 0 {
			dst = append(dst, '\t')
		}
		if c := &f.columns[i]; c.key != nil {
			dst = c.key.append(dst, &f.msg)
		} else {
			dst = append(dst, c.out...)
		}
	}
	return append(dst, '\n')
}

// collect walks the tree once and gives each column its values.
func (f *Fields) collect() {
	t := f.msg.Tree()
	for i := range f.columns {
		f.columns[i].out, f.columns[i].found = f.columns[i].out[:0], false
	}
	f.path = f.path[:0]
	for i := range t.Nodes {
		n := &t.Nodes[i]
		f.path = append(f.path[:min(int(n.Depth), len(f.path))], i)
		if n.Name() == "" || n.State&(dissect.Missing|dissect.Remark) != 0 {
			continue
		}
		for k := range f.columns {
			c := &f.columns[k]
			if c.name != n.Name() || c.key != nil || !f.inside(c.above) {
				continue
			}
			if c.found {
				c.out = append(c.out, ',')
			}
			c.found = true
			c.out = appendWhole(c.out, t, i)
		}
	}
}

// inside reports whether the last node of the path lies in nodes or structs of
// these names, in this order.
func (f *Fields) inside(above []string) bool {
	k := len(above) - 1
	for i := len(f.path) - 2; i >= 0 && k >= 0; i-- {
		n := &f.msg.Tree().Nodes[f.path[i]]
		if n.Name() == above[k] || n.Field.Kind == schema.Record && n.Field.Type.Name == above[k] {
			k--
		}
	}
	return k < 0
}

// appendWhole appends a node: a value as text, values of a list with commas
// between them, and a struct as JSON.
func appendWhole(dst []byte, t *dissect.Tree, i int) []byte {
	n := &t.Nodes[i]
	switch {
	case !isContainer(n, i):
		return appendNodeValue(dst, t, n)
	case !isList(n):
		return appendValue(dst, t, i)
	}
	for k := i + 1; k < int(n.End); k = int(t.Nodes[k].End) {
		if t.Nodes[k].State&(dissect.Missing|dissect.Remark) != 0 {
			continue
		}
		if k > i+1 {
			dst = append(dst, ',')
		}
		dst = appendWhole(dst, t, k)
	}
	return dst
}
