package flags

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// Run is one reading of packets by a command that shows records of one kind. The command emits
// the records, and the Run writes them in the form that the flags choose.
type Run[R any] struct {
	*Reading

	// In the forms for people, Line appends a record when it is emitted or, when it is nil, List
	// returns all that were emitted when the input has been read.
	Line func(dst *schema.Marked, r R)
	List func(dst *schema.Marked, list []R)

	Header []byte // is written before the first record

	// Next is a command that goes on from the output, without the captures. It is shown on a terminal.
	Next string

	add  func(dst []byte, r R) []byte // in the forms that need only the keys: json, fields and parquet
	kept []R                          // for List
	buf  []byte
	text schema.Marked
}

// RecordForms are the forms that all records have, behind those for people.
func RecordForms(text ...string) []string { return append(text, "json", "fields", ParquetForm) }

// Open returns a reading of the input that shows records with these keys. Without a Line or List, it shows
// all keys as a table. What cannot be opened is an error of its Run.
func Open[R any](j *Job, keys *records.Table[R], o scan.Options) *Run[R] {
	x := &Run[R]{Reading: j.Open(o)}
	x.text = x.colors.Text()
	switch j.Form.Value {
	case "json":
		x.add = render.NewRecordJSON(keys).AppendLine
	case "fields":
		f, unknown := render.NewRecordFields(keys, j.Fields)
		if f == nil {
			x.Fail(exit.UnknownName("field", unknown, render.KeyNames(keys)))
			break
		}
		if x.Separate(f); !j.Header() {
			x.Header = nil
		}
	case ParquetForm:
		x.add = ParquetFunc(x.Reading, keys)
	default:
		x.List = Table(x.Reading, tables.Of(keys))
	}
	return x
}

// Separate shows the records as lines of values, below a line with their names.
func (x *Run[R]) Separate(f *render.RecordFields[R]) { x.Header, x.add = f.Header(nil), f.Append }

// IsText reports whether the form is one for people, which needs more than the keys.
func (x *Run[R]) IsText() bool { return x.add == nil }

// Own sets a func for a form that only this command has: it returns all that was emitted.
func (x *Run[R]) Own(list func(dst *schema.Marked, list []R)) { x.add, x.Line, x.List = nil, nil, list }

// Emit shows records.
func (x *Run[R]) Emit(list ...R) {
	for _, r := range list {
		switch {
		case x.add != nil:
			x.buf = x.add(x.buf[:0], r)
			x.Fail(x.Out.Write(x.buf))
		case x.Line != nil:
			x.text.Reset()
			x.Line(&x.text, r)
			x.Fail(x.Print(&x.text))
		default:
			x.kept = append(x.kept, r)
		}
	}
}

// Run reads the input. Func end is called after the last message; nil: there is nothing to do.
func (x *Run[R]) Run(end func()) error {
	x.Add(scan.Consumer{Begin: func() error { return x.Out.Write(x.Header) }})
	return x.Reading.Run(func() error {
		if end != nil {
			end()
		}
		if x.IsText() && x.Line == nil {
			x.text.Reset()
			x.List(&x.text, x.kept)
			x.Fail(x.Print(&x.text))
		}
		files := x.In.Files()
		if x.Next == "" || !x.IsText() || !x.job.Sys.OutTTY || x.job.Input.Quiet || len(files) == 0 || slices.Contains(files, "-") {
			return nil
		}
		line := "\nnext: lshark " + x.Next
		for _, path := range files {
			line += " " + ShellWord(path)
		}
		return x.Out.Write([]byte(line + "\n"))
	})
}

// ShellWord quotes a word for a shell where it needs that. A path such as ~/bin/lshark does not.
func ShellWord(word string) string {
	if plain := regexp.MustCompile(`^[\w~./:=@%+,-]+$`); plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Table returns a func that makes a table of records, and notes which columns are hidden.
func Table[R any](x *Reading, kind *tables.Kind[R]) func(dst *schema.Marked, list []R) {
	return func(dst *schema.Marked, list []R) {
		t := kind.New(x.Options(), x.First())
		t.Append(dst, list)
		x.Hide(t.Omitted())
	}
}
