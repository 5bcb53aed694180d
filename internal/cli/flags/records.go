package flags

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

// Records holds the flags that all commands have that show records of one kind, such as
// locks.
type Records[R any] struct {
	Input   scan.Flags
	View    View
	Columns Columns
	Output  Output
	Filter  *filter.RecordFilter[R] // of -Y, after Check; nil: all records
	Count   int                     // of -c

	keys    *records.Table[R]
	display string
}

// NewRecords returns the flags for records with these keys, and a choice of forms, of
// which the first is the default.
func NewRecords[R any](keys *records.Table[R], forms ...string) Records[R] {
	return Records[R]{View: NewView(forms...), keys: keys}
}

// RegisterSelection defines -Y, with its help, and -c.
func (r *Records[R]) RegisterSelection(f *pflag.FlagSet, help string) {
	f.StringVarP(&r.display, "display", "Y", "", help)
	f.IntVarP(&r.Count, "count", "c", 0, "stop after `N` messages")
}

// Check checks the flags and compiles the display filter.
func (r *Records[R]) Check() (err error) {
	if r.Count < 0 {
		return exit.Usagef("-c %d: must not be negative", r.Count)
	}
	if r.display != "" {
		if r.Filter, err = filter.CompileRecord(r.keys, r.display); err != nil {
			return exit.UsageError{Err: err}
		}
	}
	return errors.Join(r.View.Check(), r.Columns.Check(r.View.Form.Value))
}

// RecordWriter writes records.
type RecordWriter[R any] struct {
	*iostreams.Writer

	// Append appends a record to the text for Write, in the forms that need only its
	// keys: json, fields and parquet; nil for other forms. Header is the line before the
	// first record.
	Append func(dst []byte, r R) []byte
	Header []byte
}

// open returns the RecordWriter for the form and the output that the flags choose. pass
// reads the input.
func (r *Records[R]) open(sys *scan.System, in *scan.Input, pass *scan.Pass) (*RecordWriter[R], error) {
	w := &RecordWriter[R]{}
	form := r.View.Form.Value
	switch form {
	case "json":
		j := render.NewRecordJSON(r.keys.Keys(), false)
		w.Append = func(dst []byte, r R) []byte { return append(j.Append(dst, r), '\n') }
	case "fields":
		f, unknown := render.NewRecordFields(r.keys, r.Columns.Names)
		if f == nil {
			return nil, exit.UnknownName("field", unknown, render.KeyNames(r.keys))
		}
		if r.Columns.Header {
			w.Header = f.Header(nil)
		}
		w.Append = f.Append
	}
	var err error
	if w.Writer, err = r.Output.NewWriter(sys, in, form); err == nil && form == ParquetForm {
		w.Append = ParquetFunc(&r.Output, w.Writer, r.keys, in, pass)
	}
	return w, err
}

// Reading is one reading of packets by a command that shows records.
type Reading[R any] struct {
	*scan.Pass
	In  *scan.Input
	Out *RecordWriter[R]
}

// Start opens what a command reads and writes, if its flags are right: check checks those
// that it has besides, and calls Check.
func (r *Records[R]) Start(sys *scan.System, args []string, check func() error, o scan.Options) (*Reading[R], error) {
	in, err := r.Input.Check(args, sys.InTTY)
	if err := errors.Join(err, check()); err != nil {
		return nil, err
	}
	r.View.NodeName = in.NodeNames()
	o.Limit = r.Count
	p := scan.New(sys, in, o)
	w, err := r.open(sys, in, p)
	return &Reading[R]{p, in, w}, err
}

// Run reads the input, and calls end after the last message.
func (x *Reading[R]) Run(end func() error) error {
	x.Add(scan.Consumer{
		Begin: func() error { return x.Out.Write(x.Out.Header) },
		Idle:  func(int64) error { return x.Out.Flush() },
		End:   end,
	})
	return errors.Join(x.Pass.Run(), x.Out.Close())
}

// WriteAll writes records in a form that needs only their keys.
func (x *Reading[R]) WriteAll(list []R) error {
	var buf []byte
	for _, r := range list {
		buf = x.Out.Append(buf, r)
	}
	return x.Out.Write(buf)
}

// FID is the value of --fid.
type FID struct {
	Text  string
	Value track.FID
}

// IsSet reports whether the flag was given.
func (v *FID) IsSet() bool { return v.Text != "" }

func (v *FID) Check() error {
	seq, oid, ver, ok := schema.ParseFID(v.Text)
	if v.IsSet() && !ok {
		return exit.Usagef("--fid %s: must be a FID, such as 0x200000401:0x1:0x0", v.Text)
	}
	v.Value = track.FID{Seq: seq, OID: oid, Ver: ver}
	return nil
}
