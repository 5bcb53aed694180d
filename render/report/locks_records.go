package report

import (
	"strings"

	"github.com/lshark/lshark/records"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/track/locks"
)

// LocksJSON renders locks as one JSON object a line, or who kept others waiting.
type LocksJSON struct {
	locks   *render.RecordJSON[*locks.Lock]
	holders *render.RecordJSON[*locks.Holder]
}

// NewLocksJSON makes a JSON renderer.
func NewLocksJSON() *LocksJSON {
	return &LocksJSON{render.NewRecordJSON(records.Locks.Keys, false), render.NewRecordJSON(records.Holders.Keys, false)}
}

// AppendLock appends the object of a lock and a newline.
func (j *LocksJSON) AppendLock(dst []byte, l *locks.Lock) []byte {
	return append(j.locks.Append(dst, l), '\n')
}

// AppendHolder appends the object of a holder and a newline.
func (j *LocksJSON) AppendHolder(dst []byte, h *locks.Holder) []byte {
	return append(j.holders.Append(dst, h), '\n')
}

// LocksFields renders locks as lines of values, separated by tabs.
type LocksFields struct {
	names   []string
	columns []*render.RecordField[*locks.Lock]
}

// LockKeys lists the names of the keys of locks that -T fields knows.
func LockKeys() (names []string) {
	for _, e := range records.Locks.Entries() {
		names = append(names, e.Path)
	}
	return names
}

// NewLocksFields makes a renderer of the keys with these names, with or without the
// prefix lock. of filters. When one does not exist, f is nil and unknown is its
// name.
func NewLocksFields(names []string) (f *LocksFields, unknown string) {
	f = &LocksFields{names: names}
	for _, name := range names {
		p, ok := records.Locks.Find(strings.TrimPrefix(name, records.Locks.Prefix))
		if !ok {
			return nil, name
		}
		f.columns = append(f.columns, render.NewRecordField(p, false))
	}
	return f, ""
}

// Header appends a line with the names.
func (f *LocksFields) Header(dst []byte) []byte {
	return append(append(dst, strings.Join(f.names, "\t")...), '\n')
}

// AppendLock appends the line of a lock. Unknown values are empty.
func (f *LocksFields) AppendLock(dst []byte, l *locks.Lock) []byte {
	for i, c := range f.columns {
		if i > 0 {
			dst = append(dst, '\t')
		}
		dst = c.Append(dst, l)
	}
	return append(dst, '\n')
}
