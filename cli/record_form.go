package cli

import (
	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/records"
	"github.com/lshark/lshark/render"
)

// recordForm returns what appends a record as a line, in the forms that need only
// its keys: JSON and fields, whose columns the flags choose. header is the line
// before the first record. appendLine is nil for other forms.
func recordForm[R any](keys *records.Table[R], form string, c *columns) (appendLine func([]byte, R) []byte, header []byte, err error) {
	switch form {
	case "json":
		j := render.NewRecordJSON(keys.Keys, false)
		return func(dst []byte, r R) []byte { return append(j.Append(dst, r), '\n') }, nil, nil
	case "fields":
		f, unknown := render.NewRecordFields(keys, c.names)
		if f == nil {
			return nil, nil, exit.UnknownName("field", unknown, render.KeyNames(keys))
		}
		if c.header {
			header = f.Header(nil)
		}
		return f.Append, header, nil
	}
	return nil, nil, nil
}
