package render

import (
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render/records"
)

// NewFields makes a renderer of fields of messages: names of the wire, paths such as
// lnet.src_nid, or keys of a message such as frame. When one does not exist, f is nil
// and unknown is its name.
func NewFields(names []string) (f *RecordFields[*records.Message], unknown string) {
	return newRecordFields(names, MessageField)
}

// FieldNames lists the names that NewFields knows.
func FieldNames() []string {
	return append(KeyNames(&records.Messages), opcodes.FieldIndex().Names()...)
}

// MessageField finds a key of messages. A field of their trees is a key of the type EscapedText.
func MessageField(name string) (p records.Path[*records.Message], ok bool) {
	p, tree, ok := records.FindField(name)
	if tree != nil {
		p.Key = treeKey(name, tree)
	}
	return p, ok
}

// treeKey returns a field of trees as a key.
func treeKey(name string, f *records.TreeField) *records.Key[*records.Message] {
	var out []byte
	k := textKey(name, func(m *records.Message, _ int, v *records.Value) bool {
		t, found := m.Tree(), false
		out = out[:0]
		f.Any(t, func(i int) bool {
			if found {
				out = append(out, ',')
			}
			found = true
			out = appendWhole(out, t, i)
			return false
		})
		v.Escaped = out
		return found
	})
	if places := opcodes.FieldIndex().Find(name); len(places) > 0 {
		k.Doc = places[0].Field.Doc
	}
	return k
}

func textKey[R any](name string, get func(r R, _ int, v *records.Value) bool) *records.Key[R] {
	return &records.Key[R]{Name: name, Type: records.EscapedText, JSON: records.Omit, Get: get}
}

// Keys returns the fields as keys of text, whose values are the texts that Append appends.
func (f *RecordFields[R]) Keys() (keys []*records.Key[R]) {
	for i, c := range f.columns {
		k := c.path.Key
		if k.Type != records.EscapedText {
			var out []byte
			k = textKey(f.names[i], func(r R, _ int, v *records.Value) bool {
				out = c.Append(out[:0], r)
				v.Escaped = out
				return len(out) > 0
			})
		}
		keys = append(keys, k)
	}
	return keys
}

// appendWhole appends a node: a value as text, the elements of a list separated
// by commas, a struct as JSON.
func appendWhole(dst []byte, t *dissect.Tree, i int) []byte {
	n := &t.Nodes[i]
	switch {
	case !isContainer(n, i):
		return appendNodeValue(dst, t, n)
	case !isList(n):
		return AppendNodeJSON(dst, t, i)
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

// RecordField is a key in a column of -T fields or -T tsv.
type RecordField[R any] struct {
	path records.Path[R]
	json RecordJSON[R] // of the parts of an object
}

// NewRecordField makes a renderer of the values at a path. With trimZeros,
// durations have no zeros at the end.
func NewRecordField[R any](p records.Path[R], trimZeros bool) *RecordField[R] {
	return &RecordField[R]{path: p, json: RecordJSON[R]{members: members(p.Key.Parts), trimZeros: trimZeros}}
}

// Append appends the value of the key, or its values separated by commas.
// Objects are appended as JSON.
func (f *RecordField[R]) Append(dst []byte, r R) []byte {
	start := len(dst)
	for i := range f.path.Len(r) {
		v := &f.json.val
		if !f.path.Value(r, i, v) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		if v.Type != records.Object {
			dst = appendRecordValue(dst, v, f.json.trimZeros)
			continue
		}
		dst = f.json.object(dst, f.json.members, r, i)
	}
	return dst
}

// RecordFields renders records as lines of values, separated by tabs.
type RecordFields[R any] struct {
	names   []string
	columns []*RecordField[R]
}

// NewRecordFields makes a renderer of the keys of a table with these names, with
// or without the prefix that they have in filters. When one does not exist, f is
// nil and unknown is its name.
func NewRecordFields[R any](t *records.Table[R], names []string) (f *RecordFields[R], unknown string) {
	return newRecordFields(names, func(name string) (records.Path[R], bool) { return t.Find(strings.TrimPrefix(name, t.Prefix)) })
}

func newRecordFields[R any](names []string, find func(name string) (records.Path[R], bool)) (f *RecordFields[R], unknown string) {
	f = new(RecordFields[R])
	for _, name := range names {
		p, ok := find(name)
		if !ok {
			return nil, name
		}
		f.Add(name, p, false)
	}
	return f, ""
}

// Add adds a column.
func (f *RecordFields[R]) Add(name string, p records.Path[R], trimZeros bool) {
	f.names, f.columns = append(f.names, name), append(f.columns, NewRecordField(p, trimZeros))
}

// KeyNames lists the names of the keys of a table that -T fields knows.
func KeyNames[R any](t *records.Table[R]) (names []string) {
	for _, e := range t.Entries() {
		names = append(names, e.Path)
	}
	return names
}

// Header appends a line with the names.
func (f *RecordFields[R]) Header(dst []byte) []byte {
	return append(append(dst, strings.Join(f.names, "\t")...), '\n')
}

// Append appends the line of a record. Unknown values are empty.
func (f *RecordFields[R]) Append(dst []byte, r R) []byte {
	for i, c := range f.columns {
		if i > 0 {
			dst = append(dst, '\t')
		}
		dst = c.Append(dst, r)
	}
	return append(dst, '\n')
}
