package cli

import (
	"github.com/spf13/cobra"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/iostreams"
	"github.com/lshark/lshark/render"
)

// view holds the flags for how records are shown.
type view struct {
	form  choice
	time  choice
	color choice
	raw   bool
}

var timeForms = map[string]render.TimeForm{"r": render.Relative, "a": render.Local, "u": render.UTC, "d": render.Delta}

// newView returns a view with a choice of forms, of which the first is the
// default.
func newView(forms ...string) view {
	return view{
		form:  formChoice(forms...),
		time:  choice{value: "r", words: []string{"r", "a", "u", "d"}, flag: "-t"},
		color: colorChoice(),
	}
}

func (v *view) registerForm(cmd *cobra.Command) {
	cmd.Flags().VarP(&v.form, "form", "T", "what is printed: "+wordList(v.form.words, "or"))
}

// register defines the other flags; record is what the time form d refers to.
func (v *view) register(cmd *cobra.Command, record string) {
	f := cmd.Flags()
	f.VarP(&v.time, "time", "t", "time: r relative, a local, u UTC, d since the "+record+" before")
	f.BoolVarP(&v.raw, "no-names", "n", false, "NIDs as they are")
	f.Var(&v.color, "color", "colours: "+wordList(v.color.words, "or"))
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
		Time: timeForms[v.time.value], Raw: v.raw}
}

// columns holds the flags of -T fields.
type columns struct {
	names   []string
	options []string
	header  bool
}

// register defines the flags; noun is what the names are.
func (c *columns) register(cmd *cobra.Command, noun string) {
	f := cmd.Flags()
	f.StringArrayVarP(&c.names, "field", "e", nil, "with -T fields: print "+noun+"; may be repeated")
	f.StringArrayVarP(&c.options, "fields-option", "E", nil, "with -T fields: `header=y` prints the names first")
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
			return exit.Usagef("-E %s: only header=y and header=n are known", o)
		}
	}
	switch {
	case len(c.names) > 0 && form != "fields":
		return exit.Usagef("-e is for -T fields")
	case len(c.names) == 0 && form == "fields":
		return exit.Usagef("-T fields: name the fields with -e")
	}
	return nil
}
