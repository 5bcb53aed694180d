package cli

import (
	"github.com/spf13/cobra"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/track"
)

// output holds the flags that say how messages are shown.
type output struct {
	sys    *IO
	form   string
	tree   bool
	hex    bool
	raw    bool
	time   string
	color  string
	fields []string
	extra  []string
	header bool
	names  *track.Names // of targets and locks, for summary lines
}

var (
	forms = []string{"summary", "tree", "json", "fields", "flags"}
	times = map[string]render.TimeForm{"r": render.Relative, "a": render.Local, "u": render.UTC, "d": render.Delta}
)

func (o *output) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.form, "form", "T", "summary", "what is printed: summary, tree, json, fields or flags")
	f.BoolVarP(&o.tree, "tree", "V", false, "all fields of each message, as -T tree")
	f.StringArrayVarP(&o.fields, "field", "e", nil, "with -T fields: print field `NAME`; may be repeated")
	f.StringArrayVarP(&o.extra, "fields-option", "E", nil, "with -T fields: `header=y` prints the names first")
	f.BoolVarP(&o.hex, "hex", "x", false, "with trees: place and bytes of each field")
	f.StringVarP(&o.time, "time", "t", "r", "time: r relative, a local, u UTC, d since the message before")
	f.BoolVarP(&o.raw, "no-names", "n", false, "NIDs as they are")
	f.StringVar(&o.color, "color", "auto", "colours: auto, always or never")
}

// check looks at what cannot be told from the flags' types.
func (o *output) check() error {
	for _, e := range o.extra {
		switch e {
		case "header=y":
			o.header = true
		case "header=n":
			o.header = false
		default:
			return usagef("-E %s: only header=y and header=n are known", e)
		}
	}
	if (o.tree || o.hex) && o.form == "summary" {
		o.form = "tree"
	}
	if len(o.fields) > 0 && o.form != "fields" {
		return usagef("-e is for -T fields")
	}
	if _, known := times[o.time]; !known {
		return usagef("-t %s: one of r, a, u and d", o.time)
	}
	return checkColor(o.color)
}

func checkColor(color string) error {
	switch color {
	case "auto", "always", "never":
		return nil
	}
	return usagef("--color %s: one of auto, always and never", color)
}

// parallel says whether messages can be shown independently of each other.
func (o *output) parallel() bool { return o.form == "json" || o.form == "tree" }

// renderer makes what the flags ask for.
func (o *output) renderer() (render.Renderer, error) {
	form := times[o.time]
	colors := render.NewColors(o.sys.colored(o.color))
	switch o.form {
	case "summary":
		return render.NewSummary(render.SummaryOptions{Colors: colors, Width: o.sys.width(), Time: form, Raw: o.raw, Names: o.names}), nil
	case "tree":
		return render.NewTree(render.TreeOptions{Colors: colors, Width: o.sys.width(), Time: form, Raw: o.raw, Hex: o.hex}), nil
	case "json":
		return render.NewJSON(), nil
	case "flags":
		return render.NewFlags(render.FlagsOptions{Colors: colors, Width: o.sys.width(), Time: form}), nil
	case "fields":
		if len(o.fields) == 0 {
			return nil, usagef("-T fields: name the fields with -e")
		}
		r, err := render.NewFields(o.fields, opcodes.NewIndex())
		if err != nil {
			return nil, usageError{err}
		}
		return r, nil
	}
	return nil, unknown("form", o.form, forms)
}
