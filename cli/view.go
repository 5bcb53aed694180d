package cli

import (
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/iostreams"
	"github.com/lshark/lshark/cli/scan"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/render"
)

// view holds the flags for how records are shown.
type view struct {
	form     choice
	time     choice
	color    choice
	fullNIDs bool
	nodeName func(lnet.NID) string // nil: only NIDs are shown
}

var timeFormats = map[string]render.TimeFormat{"r": render.Relative, "a": render.Local, "u": render.UTC, "d": render.Delta}

// newView returns a view with a choice of forms, of which the first is the
// default.
func newView(forms ...string) view {
	return view{
		form:  formChoice(forms...),
		time:  timeChoice(),
		color: colorChoice(),
	}
}

func (v *view) registerForm(f *pflag.FlagSet) { registerForm(f, &v.form) }

func registerForm(f *pflag.FlagSet, form *choice) {
	f.VarP(form, "form", "T", "output form: "+wordList(form.words))
}

func registerColor(f *pflag.FlagSet, color *choice) {
	f.Var(color, "color", "colour the output: "+wordList(color.words))
}

// timeHelp returns the help of -t; record is what the time form d refers to.
func timeHelp(record string) string {
	return "time: r relative to the first frame, a local, u UTC, d since the " + record + " before"
}

// register defines the other flags.
func (v *view) register(f *pflag.FlagSet, timeHelp string) {
	f.VarP(&v.time, "time", "t", timeHelp)
	f.BoolVarP(&v.fullNIDs, "no-names", "n", false, "show full NIDs, including @tcp, and no names of nodes")
	registerColor(f, &v.color)
}

func (v *view) check() error {
	for _, c := range []*choice{&v.form, &v.time, &v.color} {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

// options returns the options for text on the output.
func (v *view) options(s *iostreams.IO) render.SummaryOptions {
	return render.SummaryOptions{Colors: render.NewColors(s.Colored(v.color.value)), Width: s.Width(),
		Time: timeFormats[v.time.value], NIDs: render.NIDs{Full: v.fullNIDs, Name: v.nodeName}}
}

// noteOmitted notes the columns for which the terminal has no room, if any.
func noteOmitted(p *scan.Pass, columns string) {
	if columns != "" {
		p.Note("hidden: %s", columns)
	}
}

// columns holds the flags of -T fields.
type columns struct {
	names   []string
	options []string
	header  bool
}

// register defines the flags. In their help texts, noun names what is printed:
// fields or keys.
func (c *columns) register(f *pflag.FlagSet, noun string) {
	f.StringArrayVarP(&c.names, "field", "e", nil, "with -T fields, print "+noun+" `NAME`; may be repeated")
	f.StringArrayVarP(&c.options, "fields-option", "E", nil, "with -T fields, `header=y` prints the names in the first line")
}

// check checks the flags for a form.
func (c *columns) check(form string) error {
	for _, o := range c.options {
		switch o {
		case "header=y":
			c.header = true
		case "header=n":
			c.header = false
		default:
			return exit.Usagef("-E %s: must be header=y or header=n", o)
		}
	}
	switch {
	case len(c.names) > 0 && form != "fields":
		return exit.Usagef("-e needs -T fields")
	case len(c.names) == 0 && form == "fields":
		return exit.Usagef("-T fields needs the names of fields (-e NAME)")
	}
	return nil
}
