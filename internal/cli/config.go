package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/config"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

type configOptions struct {
	flags.Job
	filter *filter.RecordFilter[*config.Entry]
	names  []string
	// formerly is --log, the name of --name before.
	formerly []string
	final    bool
	records  bool
}

func newConfig(sys *scan.System) *cobra.Command {
	c := &configOptions{Job: flags.NewJob(sys, flags.RecordForms("text")...)}
	return flags.Command(&cobra.Command{
		Use:   "config [flags] [FILE…|-]",
		Short: "Show the configuration of file systems that the MGS handed out",
		Long: "config shows what clients and servers read from the MGS, and what was sent to it: configuration logs record by record, as " +
			"lctl llog_print prints them, and behind each log the final picture that its records make: devices, targets, the nodes that " +
			"serve them, pools and parameters.",
		Example: `  # all logs, record by record, and what they make
  lshark config mount.pcap

  # what is in force for clients, as lctl llog_print and lctl dl show it
  lshark config --name lustre-client --final mount.pcap

  # targets and the nodes that serve them, failover partners last
  lshark config --final -T json mount.pcap |
    jq -c 'select(.kind == "target") | {target, nodes}'

  # where targets were started again
  lshark config -Y 'config.kind == instance && config.instance > 1' server.pcap`,
	}, c, flags.Help{
		Display: "only entries that match the display filter `EXPR` over their keys, such as 'config.event == add_uuid'",
		Counted: "messages",
		Time:    "block of records",
		Selection: func(f *pflag.FlagSet) {
			f.StringSliceVar(&c.names, "name", nil, "only the logs or tables with these `NAMES`, such as lustre-client,params")
			f.StringSliceVar(&c.formerly, "log", nil, "the former name of --name")
			f.Lookup("log").Hidden = true
			f.BoolVar(&c.records, "records", false, "only the records of logs, not what they make")
			f.BoolVar(&c.final, "final", false, "only the final picture; in text also the records that are in force")
		},
	}, (*configOptions).check, (*configOptions).run)
}

func (c *configOptions) selects(e *config.Entry) bool {
	switch {
	case len(c.names) > 0 && !slices.Contains(c.names, e.Name()):
		return false
	case c.records && e.Kind != config.KindStep && e.Kind != config.KindLog:
		return false
	case c.final && e.Kind == config.KindStep && c.Form.Value != "text":
		return false
	}
	return c.filter.Match(e)
}

func (c *configOptions) check() (err error) {
	if c.records && c.final {
		return exit.Usagef("--records and --final exclude each other")
	}
	c.filter, err = flags.Filter(c.Display, &records.Configuration)
	return err
}

func (c *configOptions) run() error {
	x := flags.Open(&c.Job, &records.Configuration, scan.Options{Limit: c.Count, Concurrent: true, Distinct: true})
	if c.names = append(c.names, c.formerly...); len(c.formerly) > 0 {
		x.Note("--log is --name now; in other commands it is the log of a kernel")
	}
	x.List = func(dst *schema.Marked, list []*config.Entry) {
		s := tables.NewConfiguration(x.Options(), x.First(), !c.final)
		s.Append(dst, list)
		x.Hide(s.Omitted())
	}
	read := config.New()
	hasMessages := false
	f := x.Follow(follow.Hooks{Message: func(_ *track.RPC, m *dissect.Message) {
		hasMessages = true
		read.Message(m)
	}})
	imports := f.Imports()
	return x.Run(func() {
		list := read.Entries(imports.List())
		if hasMessages && len(list) == 0 {
			x.Note("no configuration was captured: nodes read it when they mount, and when it changes")
		}
		c.noteUnknownLogs(x.Pass, list)
		if read.Dropped > 0 {
			x.Note("%d records and entries are missing: there were too many", read.Dropped)
		}
		x.Emit(slices.DeleteFunc(list, func(e *config.Entry) bool { return !c.selects(e) })...)
	})
}

// noteUnknownLogs writes a note about names of --name that the capture does not have.
func (c *configOptions) noteUnknownLogs(p *scan.Pass, list []*config.Entry) {
	var names []string
	for _, e := range list {
		if name := e.Name(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range c.names {
		if len(names) > 0 && !slices.Contains(names, name) {
			p.Note("no log or table %s was captured; there are %s", name, schema.AppendText(nil, []byte(strings.Join(names, ", "))))
		}
	}
}
