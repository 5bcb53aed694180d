package flags

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// Records holds the flags that all commands have that show records of one kind, such as
// locks.
type Records[R any] struct {
	Job
	Columns Columns
	Filter  *filter.RecordFilter[R] // of -Y, after Check; nil: all records
	Count   int                     // of -c

	keys    *records.Table[R]
	display string
}

// NewRecords returns the flags for records with these keys, and a choice of forms, of
// which the first is the default.
func NewRecords[R any](sys *scan.System, keys *records.Table[R], forms ...string) Records[R] {
	return Records[R]{Job: Job{Sys: sys, View: NewView(forms...)}, keys: keys}
}

// Help is what the help texts of a command say about the flags of Records, and the flags
// that the command has besides.
type Help struct {
	Display   string               // of -Y
	Time      string               // of -t
	Selection func(*pflag.FlagSet) // nil: none
	Output    func(*pflag.FlagSet) // nil: none
}

// Register defines the flags.
func (r *Records[R]) Register(cmd *cobra.Command, h Help) {
	AddInput(cmd, r.Sys, &r.Input)
	Add(cmd, SelectionGroup, func(f *pflag.FlagSet) {
		f.StringVarP(&r.display, "display", "Y", "", h.Display)
		f.IntVarP(&r.Count, "count", "c", 0, "stop after `N` messages")
		if h.Selection != nil {
			h.Selection(f)
		}
	})
	Add(cmd, OutputGroup, func(f *pflag.FlagSet) {
		r.View.RegisterForm(f)
		if h.Output != nil {
			h.Output(f)
		}
		r.Columns.Register(f, "the JSON key")
		r.Output.Register(cmd, f)
		r.View.Register(f, h.Time)
		r.Input.RegisterNotes(f)
	})
}

// Check checks the flags and compiles the display filter.
func (r *Records[R]) Check() (err error) {
	if r.Count < 0 {
		return exit.Usagef("-c %d: must not be negative", r.Count)
	}
	r.Filter, err = compile(r.display, func(text string) (*filter.RecordFilter[R], error) { return filter.CompileRecord(r.keys, text) })
	if err != nil {
		return err
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
func (r *Records[R]) open(in *scan.Input, pass *scan.Pass) (*RecordWriter[R], error) {
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
	if w.Writer, err = r.Output.NewWriter(r.Sys, in, form); err == nil && form == ParquetForm {
		w.Append = ParquetFunc(&r.Output, w.Writer, r.keys, in, pass)
	}
	return w, err
}

// Reading is one reading of packets by a command that shows records.
type Reading[R any] struct {
	*scan.Pass
	In      *scan.Input
	Out     *RecordWriter[R]
	records *Records[R]
}

// Start opens what a command reads and writes, if its flags are right: check checks those
// that it has besides, and calls Check.
func (r *Records[R]) Start(check func() error, o scan.Options) (*Reading[R], error) {
	in, err := r.Input.Check(r.Args, r.Sys.InTTY)
	if err := errors.Join(err, check()); err != nil {
		return nil, err
	}
	r.View.NodeName = in.NodeNames()
	o.Limit, o.Concurrent = r.Count, true
	p := scan.New(r.Sys, in, o)
	w, err := r.open(in, p)
	return &Reading[R]{p, in, w, r}, err
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

// Options returns the options for text on the output.
func (x *Reading[R]) Options() render.SummaryOptions {
	o := x.records.View.Options(x.records.Sys.IO)
	o.Files = x.In.FileNames()
	return o
}

// WriteAll writes records, by text in the forms that need more than their keys.
func (x *Reading[R]) WriteAll(list []R, text func(list []R) []byte) error {
	if x.Out.Append == nil {
		return x.Out.Write(text(list))
	}
	var buf []byte
	for _, r := range list {
		buf = x.Out.Append(buf, r)
	}
	return x.Out.Write(buf)
}

// Table returns a func that makes a table of records, and notes which columns are hidden.
func Table[R, S any](x *Reading[R], kind *tables.Kind[S]) func(list []S) []byte {
	return func(list []S) []byte {
		t := kind.New(x.Options(), x.First())
		buf := t.Append(nil, list)
		x.NoteHidden(t.Omitted.String())
		return buf
	}
}

// WriteSums writes sums over the records of a command: as JSON, or as a table.
func WriteSums[R, S any](x *Reading[R], kind *tables.Kind[S], list []S) error {
	if x.records.View.Form.Value == "json" {
		return x.Out.Write(render.NewRecordJSON(kind.Keys(), false).AppendLines(nil, list))
	}
	return x.Out.Write(Table(x, kind)(list))
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
