package render

import (
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render/records"
)

// RecordField is a key in a column of -T fields or -T tsv.
type RecordField[R any] struct {
	path  records.Path[R]
	parts []member[R] // of an object
	json  recordJSON[R]
}

// NewRecordField makes a renderer of the values at a path. With trimZeros,
// durations have no zeros at the end.
func NewRecordField[R any](p records.Path[R], trimZeros bool) *RecordField[R] {
	return &RecordField[R]{path: p, parts: members(p.Key.Parts), json: recordJSON[R]{format: recordFormat{trimZeros: trimZeros}}}
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
			dst = appendRecordValue(dst, v, &f.json.format)
			continue
		}
		if !f.path.IsList() {
			i = -1
		}
		dst = f.json.object(dst, f.parts, r, i)
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
	f = &RecordFields[R]{names: names}
	for _, name := range names {
		p, ok := t.Find(strings.TrimPrefix(name, t.Prefix))
		if !ok {
			return nil, name
		}
		f.columns = append(f.columns, NewRecordField(p, false))
	}
	return f, ""
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

// RPCFields renders RPCs as lines of values, separated by tabs.
type RPCFields struct {
	*RecordFields[*track.RPC]
}

// AppendRPC appends the line of an RPC. Unknown values are empty.
func (f RPCFields) AppendRPC(dst []byte, r *track.RPC, _ Moment) []byte { return f.Append(dst, r) }
