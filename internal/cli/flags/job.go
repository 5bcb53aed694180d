package flags

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// Job is the flags that commands which read packets have in common, and a run with them: all
// captures at once or, where -o names a folder, one of them.
type Job struct {
	Sys   *scan.System
	Args  []string // files
	Input scan.Flags

	Display string // of -Y
	Count   int    // of -c
	Save    string // of -w
	SaveAll bool   // --all-frames
	print   bool   // -P

	Form   Choice   // of -T
	Fields []string // of -e
	Output string   // of -o; empty: standard output
	Time   Choice   // of -t

	In       *scan.Input           // the checked input, set before the run
	NodeName func(lnet.NID) string // nil: only NIDs are shown; set likewise

	sensor      string
	header      Choice // of -E
	addsColumns bool   // -e adds columns to -T parquet
	color       Choice
	fullNIDs    bool
	cmd         *cobra.Command
}

// NewJob returns the flags of a command with a choice of forms, of which the first is the default.
func NewJob(sys *scan.System, forms ...string) Job {
	return Job{Sys: sys, Form: FormChoice(forms...), color: ColorChoice(),
		Time: Choice{Value: "r", Words: []string{"r", "a", "u", "d"}, Flag: "-t", Placeholder: "FORM"}}
}

// Help is what help says about the flags of a Job. A command does not have those without a text.
type Help struct {
	Display string // of -Y
	Counted string // what -c counts
	Time    string // what -t d refers to
	Saved   string // what is saved with -w: the frames of these
	Prints  bool   // the output is one record after the other: with -w only if that is asked for
	Fields  string // what -e names in place of keys of JSON

	Logs   bool // the command reads --log
	Follow bool // also as they grow
	Pair   bool // the command reads two inputs, of files only, which it checks itself
	ToOut  bool // the command does not have -o

	Selection, Output func(*pflag.FlagSet) // the flags that only this command has
}

// Command returns cmd with the flags of c, whose options embed a Job. It calls run with a copy of c once for
// all captures, or for each when -o names a folder, after check has found no error in the flags that only this
// command has; nil: it has none to check.
func Command[C any, P interface {
	*C
	job() *Job
}](cmd *cobra.Command, c P, h Help, check, run func(P) error) *cobra.Command {
	j := c.job()
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		j.Args = args
		return j.each(func(j Job) error {
			one := P(new(C))
			*one = *c
			*one.job() = j
			var own error
			if check != nil {
				own = check(one)
			}
			if err := one.job().check(!h.Pair, own); err != nil {
				return err
			}
			return run(one)
		})
	}
	j.register(cmd, h)
	return cmd
}

func (j *Job) job() *Job { return j }

func (j *Job) register(cmd *cobra.Command, h Help) {
	j.cmd = cmd
	AddInput(cmd, j.Sys, &j.Input, !h.Pair)
	if h.Logs {
		Add(cmd, InputGroup, j.Input.RegisterLogs)
	}
	if h.Follow {
		Add(cmd, InputGroup, j.Input.RegisterFollow)
	}
	Add(cmd, SelectionGroup, func(f *pflag.FlagSet) {
		if h.Display != "" {
			f.StringVarP(&j.Display, "display", "Y", "", h.Display)
		}
		if h.Counted != "" {
			f.IntVarP(&j.Count, "count", "c", j.Count, "stop after `N` "+h.Counted)
		}
		if h.Selection != nil {
			h.Selection(f)
		}
	})
	Add(cmd, OutputGroup, func(f *pflag.FlagSet) {
		if len(j.Form.Words) > 1 {
			RegisterForm(f, &j.Form)
		}
		if h.Output != nil {
			h.Output(f)
		}
		if j.Form.Has("fields") {
			j.registerFields(f, h.Fields)
		}
		if !h.ToOut {
			f.StringVarP(&j.Output, "output", "o", "", "write to `FILE` instead of standard output; in a folder, a file for each capture")
		}
		if j.Form.Has(ParquetForm) {
			f.StringVar(&j.sensor, "sensor", "", "with -T parquet, `NAME` of the node that captured, for the column sensor; live, the name of this host by default")
		}
		if h.Time != "" {
			f.VarP(&j.Time, "time", "t", "time: r relative to the first frame, a local, u UTC, d since the "+h.Time+" before")
		}
		f.BoolVarP(&j.fullNIDs, "no-names", "n", false, "show full NIDs, including @tcp, and no names of nodes")
		RegisterColor(f, &j.color)
		if h.Saved != "" {
			help := "also write the frames of the " + h.Saved + " to `FILE`, as pcapng"
			if h.Prints {
				help = "write the frames of the " + h.Saved + " to `FILE`, as pcapng, and print nothing"
				f.BoolVarP(&j.print, "print", "P", false, "with -w, print the "+h.Saved+", too, as -T and -o also do")
			}
			f.StringVarP(&j.Save, "write", "w", "", help)
			f.BoolVar(&j.SaveAll, "all-frames", false, "with -w, write all frames; those of the "+h.Saved+" have comments")
			j.Input.RegisterRing(f)
		}
		j.Input.RegisterNotes(f)
	})
}

func (j *Job) registerFields(f *pflag.FlagSet, fields string) {
	help := "with -T fields, print the JSON key `NAME`; may be repeated"
	if j.addsColumns = fields != ""; j.addsColumns {
		help = "with -T fields, print " + fields + " `NAME`, with -T parquet, add it as a column of text; may be repeated"
	}
	f.StringArrayVarP(&j.Fields, "field", "e", nil, help)
	j.header = Choice{Value: withoutHeader, Words: []string{withHeader, withoutHeader}, Flag: "-E"}
	f.VarP(&j.header, "fields-option", "E", "with -T fields, `header=y` prints the names in the first line")
	f.Lookup("fields-option").DefValue = "" // help has no word for it
}

const withHeader, withoutHeader = "header=y", "header=n"

// Header reports whether the first line has the names of the fields.
func (j *Job) Header() bool { return j.header.Value == withHeader }

// RegisterForm defines -T, and RegisterColor --color, for commands that read no packets, too.
func RegisterForm(f *pflag.FlagSet, form *Choice) {
	f.VarP(form, "form", "T", "output form: "+WordList(form.Words))
}

func RegisterColor(f *pflag.FlagSet, color *Choice) {
	f.Var(color, "color", "colour the output: "+WordList(color.Words))
}

// check checks the flags and, if that is wanted, the input. own is what is wrong with the flags that only
// this command has.
func (j *Job) check(input bool, own error) (err error) {
	if input {
		if j.In, err = j.Input.Check(j.Args, j.Sys.InTTY); err == nil {
			j.NodeName = j.In.NodeNames()
		}
	}
	var wrong []error
	j.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if n, err := strconv.Atoi(f.Value.String()); err == nil && n < 0 && f.Value.Type() == "int" && !ownBounds[f.Name] {
			wrong = append(wrong, exit.Usagef("%s %d: must not be negative", shortName(f), n))
		}
	})
	form := j.Form.Value
	for _, x := range []struct {
		isWrong bool
		text    string
	}{
		{j.SaveAll && j.Save == "", "--all-frames needs -w"},
		{j.print && j.Save == "", "-P needs -w"},
		{len(j.Fields) > 0 && form != "fields" && !(j.addsColumns && form == ParquetForm), "-e needs -T fields"},
		{form == ParquetForm && j.Sys.OutTTY, "-T parquet: the output is a terminal; name a file with -o, or redirect it"},
		{len(j.Fields) == 0 && form == "fields", "-T fields needs the names of fields (-e NAME)"},
		{strings.Contains(strings.Join(j.Fields, ""), ","), "-e names one field, and may be repeated: -e NAME -e NAME"},
	} {
		if x.isWrong {
			wrong = append(wrong, exit.Usagef("%s", x.text))
		}
	}
	return errors.Join(err, own, errors.Join(wrong...))
}

// ownBounds are the flags with numbers of which scan.Flags.Check says what they must be.
var ownBounds = map[string]bool{"jobs": true, "buffer-size": true, "snaplen": true}

func shortName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

// Prints reports whether records are printed: with -w only if a flag asks for it.
func (j *Job) Prints() bool {
	return j.Save == "" || j.print || j.Output != "" || j.cmd.Flags().Changed("form")
}

var timeFormats = map[string]render.TimeFormat{"r": render.Relative, "a": render.Local, "u": render.UTC, "d": render.Delta}

// Options returns the options for text on the output.
func (j *Job) Options() render.SummaryOptions {
	s := j.Sys.IO
	return render.SummaryOptions{Width: s.Width(), Time: timeFormats[j.Time.Value], NIDs: render.NIDs{Full: j.fullNIDs, Name: j.NodeName}}
}

// Colored reports whether text on the output has colours.
func (j *Job) Colored() bool { return j.Sys.Colored(j.color.Value) }

// Reading is one reading of packets, with what it writes to.
type Reading struct {
	*scan.Pass
	In  *scan.Input
	Out *iostreams.Writer

	job     *Job
	err     error // of reading
	colors  *render.Colors
	painted []byte
	hidden  string
}

// Open returns a reading of the input. What cannot be opened is an error of its Run.
func (j *Job) Open(o scan.Options) *Reading {
	o.SaveTo, o.SaveAll = j.Save, j.SaveAll
	x := &Reading{Pass: scan.New(j.Sys, j.In, o), In: j.In, job: j, colors: render.NewColors(j.Colored())}
	var err error
	if x.Out, err = j.In.NewWriter(j.Sys, "-o", j.Output); err != nil {
		x.Fail(err)
		x.Out = j.Sys.NewWriter(iostreams.FlushWhenFull) // to which nothing is written
	}
	return x
}

// Run reads the input. Func end is called after the last message; nil: there is nothing to do.
func (x *Reading) Run(end func() error) error {
	x.Add(scan.Consumer{Idle: func(int64) error { return x.Out.Flush() }, End: end})
	x.err = x.Pass.Run()
	err := errors.Join(x.err, x.Out.Close())
	x.NoteHidden(x.hidden)
	return err
}

// Print writes text to the output, in its colours.
func (x *Reading) Print(text *schema.Marked) error {
	x.painted = x.colors.Paint(x.painted[:0], text)
	return x.Out.Write(x.painted)
}

// Hide notes the columns of a table for which the terminal has no room, when the input has been read.
func (x *Reading) Hide(columns string) { x.hidden = columns }

// Options returns the options for text on the output.
func (x *Reading) Options() render.SummaryOptions {
	o := x.job.Options()
	o.Files = x.In.FileNames()
	return o
}
