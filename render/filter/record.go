package filter

import (
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// RecordFilter is a compiled filter over records of one kind, such as locks. It is
// not safe for concurrent use.
type RecordFilter[R any] struct {
	match   func(*subject) bool
	subject subject
}

// Match reports whether the filter holds for a record. It does for all when f is
// nil.
func (f *RecordFilter[R]) Match(r R) bool {
	if f == nil {
		return true
	}
	f.subject.record = r
	return f.match(&f.subject)
}

// CompileRecord compiles a filter over records, by their keys with or without the
// prefix. The error is an *Error.
func CompileRecord[R any](keys *records.Table[R], text string) (*RecordFilter[R], error) {
	c := &compiler{text: text}
	c.record = func(t token) (*field, error) { return recordField(c, keys, t) }
	match, err := c.compile()
	if err != nil {
		return nil, err
	}
	return &RecordFilter[R]{match: match}, nil
}

// recordField finds a key of records, or a value of one: NAME.VALUE.
func recordField[R any](c *compiler, keys *records.Table[R], t token) (*field, error) {
	of := func(s *subject) R { return s.record.(R) }
	if p, ok := keys.Find(strings.TrimPrefix(t.text, keys.Prefix)); ok {
		return keyField(t.text, p, of), nil
	}
	if i := strings.LastIndexByte(t.text, '.'); i > 0 {
		if p, ok := keys.Find(strings.TrimPrefix(t.text[:i], keys.Prefix)); ok && p.Key.Names != nil {
			return c.bit(keyField(t.text[:i], p, of), t, t.text[i+1:])
		}
	}
	return nil, c.fail(t, "unknown key of "+keys.Record+" records: "+t.text, DidYouMean(schema.Nearest(t.text, RecordNames(keys), 3)))
}

// RecordNames lists the names that filters over records of a kind know.
func RecordNames[R any](keys *records.Table[R]) (names []string) {
	for _, e := range keys.Entries() {
		names = append(names, e.Name)
	}
	return names
}
