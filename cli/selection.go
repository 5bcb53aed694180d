package cli

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/scan"
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/filter"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/records"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/track"
)

// selection holds the flags that select messages or RPCs.
type selection struct {
	display string
	count   int
	save    string
}

// register defines the flags. In their help texts, noun names what -Y selects,
// such as "RPCs", and counted names what -c counts.
func (s *selection) register(f *pflag.FlagSet, noun, counted string) {
	f.StringVarP(&s.display, "display", "Y", "", "only "+noun+" that match the display filter `EXPR`, such as "+
		"'pb_opc == OST_WRITE && pb_status == ENOSPC'; \"lshark fields\" lists the names")
	f.IntVarP(&s.count, "count", "c", 0, "stop after `N` "+counted)
}

// registerSave defines the flag for saving frames.
func (s *selection) registerSave(f *pflag.FlagSet, noun string) {
	f.StringVarP(&s.save, "write", "w", "", "also write the frames of the "+noun+" to `FILE`, as pcapng")
}

func (s *selection) check() error {
	if s.count < 0 {
		return exit.Usagef("-c %d: must not be negative", s.count)
	}
	return nil
}

// messageFilter is a display filter for messages. The zero value matches all.
type messageFilter struct {
	filter *filter.Filter
	msg    records.Message
}

// messages compiles the display filter for messages.
func (s *selection) messages() (*messageFilter, error) {
	f := &messageFilter{}
	if s.display == "" {
		return f, nil
	}
	var err error
	if f.filter, err = filter.Compile(s.display); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	return f, nil
}

// match reports whether a message matches; first is the time of the first
// frame of the capture.
func (f *messageFilter) match(m *dissect.Message, first int64) bool {
	if f.filter == nil {
		return true
	}
	f.msg.Set(m, first)
	return f.filter.Match(&f.msg)
}

// rpcFilter is a display filter for RPCs. The zero value matches all.
type rpcFilter struct {
	filter *filter.RPCFilter
	msg    records.Message
}

// rpcs compiles the display filter for RPCs.
func (s *selection) rpcs() (*rpcFilter, error) {
	f := &rpcFilter{}
	if s.display == "" {
		return f, nil
	}
	var err error
	if f.filter, err = filter.CompileRPC(s.display); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	return f, nil
}

// mark compares one of the messages of an RPC; first is the time of the first
// frame of the capture.
func (f *rpcFilter) mark(m *dissect.Message, first int64, r *track.RPC) {
	if f.filter == nil {
		return
	}
	f.msg.Set(m, first)
	f.filter.Mark(&f.msg, r)
}

// match reports whether an RPC that has ended matches.
func (f *rpcFilter) match(r *track.RPC) bool { return f.filter == nil || f.filter.Match(r) }

// recordFlags holds the flags that the commands have in common which show records of
// one kind, such as locks.
type recordFlags[R any] struct {
	input   scan.Flags
	view    view
	columns columns
	display string
	count   int

	keys   *records.Table[R]
	filter *filter.RecordFilter[R] // of -Y; nil: all records
}

func newRecordFlags[R any](keys *records.Table[R], forms ...string) recordFlags[R] {
	return recordFlags[R]{view: newView(forms...), keys: keys}
}

// registerSelection defines -Y, with its help, and -c.
func (r *recordFlags[R]) registerSelection(f *pflag.FlagSet, help string) {
	f.StringVarP(&r.display, "display", "Y", "", help)
	f.IntVarP(&r.count, "count", "c", 0, "stop after `N` messages")
}

// checkRecords checks the flags and compiles the display filter.
func (r *recordFlags[R]) checkRecords() (err error) {
	if r.count < 0 {
		return exit.Usagef("-c %d: must not be negative", r.count)
	}
	if r.display != "" {
		if r.filter, err = filter.CompileRecord(r.keys, r.display); err != nil {
			return exit.UsageError{Err: err}
		}
	}
	return errors.Join(r.view.check(), r.columns.check(r.view.form.value))
}

// form returns what appends a record as a line, in the forms that need only its
// keys: JSON and fields, whose columns the flags choose. header is the line before
// the first record. appendLine is nil for other forms.
func (r *recordFlags[R]) form() (appendLine func([]byte, R) []byte, header []byte, err error) {
	switch r.view.form.value {
	case "json":
		j := render.NewRecordJSON(r.keys.Keys, false)
		return func(dst []byte, r R) []byte { return append(j.Append(dst, r), '\n') }, nil, nil
	case "fields":
		f, unknown := render.NewRecordFields(r.keys, r.columns.names)
		if f == nil {
			return nil, nil, exit.UnknownName("field", unknown, render.KeyNames(r.keys))
		}
		if r.columns.header {
			header = f.Header(nil)
		}
		return f.Append, header, nil
	}
	return nil, nil, nil
}

// fidFlag is the value of --fid.
type fidFlag struct {
	text string
	fid  track.FID
}

// isSet reports whether the flag was given.
func (v *fidFlag) isSet() bool { return v.text != "" }

func (v *fidFlag) check() error {
	seq, oid, ver, ok := schema.ParseFID(v.text)
	if v.isSet() && !ok {
		return exit.Usagef("--fid %s: must be a FID, such as 0x200000401:0x1:0x0", v.text)
	}
	v.fid = track.FID{Seq: seq, OID: oid, Ver: ver}
	return nil
}

// trackingOptions returns for how long RPCs are held, and what a tracker follows: in a
// live capture shorter than in files.
func trackingOptions(in *scan.Input) (o track.Options, linger int64) {
	if in.Live() {
		o = liveOptions()
		linger = 2 * o.Linger
	}
	return o, linger
}
