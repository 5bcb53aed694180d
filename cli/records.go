package cli

import (
	"github.com/spf13/cobra"

	"github.com/lshark/lshark/render"
)

// look holds the flags that say how records other than messages are shown.
type look struct {
	sys   *IO
	form  string
	forms []string // the first is the default
	time  string
	color string
	raw   bool
}

func (l *look) flags(cmd *cobra.Command, help string) {
	f := cmd.Flags()
	f.StringVarP(&l.form, "form", "T", l.forms[0], help)
	f.StringVarP(&l.time, "time", "t", "r", "time: r relative, a local, u UTC, d since the record before")
	f.BoolVarP(&l.raw, "no-names", "n", false, "NIDs as they are")
	f.StringVar(&l.color, "color", "auto", "colours: auto, always or never")
}

// check looks at what cannot be told from the flags' types.
func (l *look) check() error {
	known := false
	for _, f := range l.forms {
		known = known || f == l.form
	}
	if !known {
		return unknown("form", l.form, l.forms)
	}
	if _, known := times[l.time]; !known {
		return usagef("-t %s: one of r, a, u and d", l.time)
	}
	return checkColor(l.color)
}

// options are what renderers of text need.
func (l *look) options() render.SummaryOptions {
	return render.SummaryOptions{Colors: render.NewColors(l.sys.colored(l.color)), Width: l.sys.width(),
		Time: times[l.time], Raw: l.raw}
}
