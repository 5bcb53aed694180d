package flags

import (
	"runtime/debug"
	"sync"

	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/render"
)

// View holds the flags for how records are shown.
type View struct {
	Form     Choice
	time     Choice
	color    Choice
	fullNIDs bool
	NodeName func(lnet.NID) string // nil: only NIDs are shown
}

var timeFormats = map[string]render.TimeFormat{"r": render.Relative, "a": render.Local, "u": render.UTC, "d": render.Delta}

// NewView returns a view with a choice of forms, of which the first is the
// default.
func NewView(forms ...string) View {
	return View{
		Form:  FormChoice(forms...),
		time:  timeChoice(),
		color: ColorChoice(),
	}
}

func (v *View) RegisterForm(f *pflag.FlagSet) { RegisterForm(f, &v.Form) }

func RegisterForm(f *pflag.FlagSet, form *Choice) {
	f.VarP(form, "form", "T", "output form: "+WordList(form.Words))
}

func RegisterColor(f *pflag.FlagSet, color *Choice) {
	f.Var(color, "color", "colour the output: "+WordList(color.Words))
}

// TimeHelp returns the help of -t; record is what the time form d refers to.
func TimeHelp(record string) string {
	return "time: r relative to the first frame, a local, u UTC, d since the " + record + " before"
}

// IsUTC reports whether times are shown in UTC.
func (v *View) IsUTC() bool { return v.time.Value == "u" }

// Register defines the other flags.
func (v *View) Register(f *pflag.FlagSet, timeHelp string) {
	f.VarP(&v.time, "time", "t", timeHelp)
	f.BoolVarP(&v.fullNIDs, "no-names", "n", false, "show full NIDs, including @tcp, and no names of nodes")
	RegisterColor(f, &v.color)
}

func (v *View) Check() error {
	for _, c := range []*Choice{&v.Form, &v.time, &v.color} {
		if err := c.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Options returns the Options for text on the output.
func (v *View) Options(s *iostreams.IO) render.SummaryOptions {
	return render.SummaryOptions{Colors: render.NewColors(s.Colored(v.color.Value)), Width: s.Width(),
		Time: timeFormats[v.time.Value], NIDs: render.NIDs{Full: v.fullNIDs, Name: v.NodeName}}
}

// Columns holds the flags of -T fields.
type Columns struct {
	InParquet bool // -e adds columns to -T parquet
	Names     []string
	options   []string
	Header    bool
}

// Register defines the flags. In their help texts, noun names what is printed:
// fields or keys.
func (c *Columns) Register(f *pflag.FlagSet, noun string) {
	help := "with -T fields, print " + noun + " `NAME`; may be repeated"
	if c.InParquet {
		help = "with -T fields, print " + noun + " `NAME`, with -T parquet, add it as a column of text; may be repeated"
	}
	f.StringArrayVarP(&c.Names, "field", "e", nil, help)
	f.StringArrayVarP(&c.options, "fields-option", "E", nil, "with -T fields, `header=y` prints the names in the first line")
}

// Check checks the flags for a form.
func (c *Columns) Check(form string) error {
	for _, o := range c.options {
		switch o {
		case "header=y":
			c.Header = true
		case "header=n":
			c.Header = false
		default:
			return exit.Usagef("-E %s: must be header=y or header=n", o)
		}
	}
	switch {
	case len(c.Names) > 0 && form != "fields" && !(c.InParquet && form == ParquetForm):
		return exit.Usagef("-e needs -T fields")
	case len(c.Names) == 0 && form == "fields":
		return exit.Usagef("-T fields needs the names of fields (-e NAME)")
	}
	return nil
}

// Version returns the version of the module, and the commit it was built from.
func Version() string { return version() }

var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	if text == "" || text == "(devel)" {
		text = "devel"
	}
	for _, s := range info.Settings {
		const shown = 12 // letters of the commit
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= shown:
			text += " " + s.Value[:shown]
		case s.Key == "vcs.modified" && s.Value == "true":
			text += " modified"
		}
	}
	return text
})
