package cli

import (
	"errors"
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
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

type configOptions struct {
	flags.Records[*config.Entry]
	logs    []string
	final   bool
	records bool
}

func newConfig(sys *scan.System) *cobra.Command {
	c := &configOptions{Records: flags.NewRecords(sys, &records.Configuration, "text", "json", "fields", flags.ParquetForm)}
	cmd := &cobra.Command{
		Use:   "config [flags] [FILE…|-]",
		Short: "Show the configuration of file systems that the MGS handed out",
		Long: "config shows what clients and servers read from the MGS: configuration logs, the tables of imperative recovery and of nodemaps, " +
			"and what was sent to it: targets that registered, parameters.\n\n" +
			"Each log is shown record by record, as lctl llog_print prints it. Markers, which begin and end a section, are comments, and so are records " +
			"that readers of the log do not obey: those in a section that is marked to be skipped, and those that are cancelled. " +
			"Where a section's markers were not captured, its records are unproven. A record that the MGS changed later is shown as it was last, " +
			"with what it was before.\n\n" +
			"The records that are in force make the final picture, which follows each log: devices as lctl dl lists them, targets with the nodes " +
			"that serve them, " +
			"those behind the first one are failover partners, pools as lctl pool_list and parameters as lctl get_param. " +
			"Where a log was captured from its middle on, the picture lacks what is in its beginning. " +
			"The names of a client's devices end in an address of its memory, which is not on the wire. Their uuid is that of the client when a " +
			"single one read the log, " +
			"and the device mgc is named after the NID of its MGS. Servers run devices of the type lov as lod, and osc as osp.\n\n" +
			"-T json prints one object per entry; key kind is record for a record of a log and, in the final picture, log, device, target, pool, " +
			"parameter, nodemaps, nodemap, " +
			"instance, registration or set_info.",
		Example: `  # all logs, record by record, and what they make
  lshark config mount.pcap

  # what is in force for clients, as lctl llog_print and lctl dl show it
  lshark config --log lustre-client --final mount.pcap

  # targets and the nodes that serve them, failover partners last
  lshark config --final -T json mount.pcap | jq -c 'select(.kind == "target") | {target, nodes}'

  # where targets were started again
  lshark config -Y 'config.kind == instance && config.instance > 1' server.pcap`,
	}
	cmd.RunE = flags.RunE(c, (*configOptions).run)
	c.Register(cmd, flags.Help{
		Display: "only entries that match the display filter `EXPR` over their keys, such as 'config.event == add_uuid'",
		Time:    flags.TimeHelp("block of records"),
		Selection: func(f *pflag.FlagSet) {
			f.StringSliceVar(&c.logs, "log", nil, "only the logs or tables with these `NAMES`, such as lustre-client,params")
			f.BoolVar(&c.records, "records", false, "only the records of logs, not what they make")
			f.BoolVar(&c.final, "final", false, "only the final picture; in text also the records that are in force")
		},
	})
	return cmd
}

func (c *configOptions) selects(e *config.Entry) bool {
	switch {
	case len(c.logs) > 0 && !slices.Contains(c.logs, e.Name()):
		return false
	case c.records && e.Kind != config.KindStep && e.Kind != config.KindLog:
		return false
	case c.final && e.Kind == config.KindStep && c.View.Form.Value != "text":
		return false
	}
	return c.Filter.Match(e)
}

func (c *configOptions) check() error {
	if c.records && c.final {
		return errors.Join(exit.Usagef("--records and --final exclude each other"), c.Check())
	}
	return c.Check()
}

func (c *configOptions) run() error {
	x, err := c.Start(c.check, scan.Options{Distinct: true})
	if err != nil {
		return err
	}
	read := config.New()
	hasMessages := false
	f := x.Follow(follow.Hooks{Message: func(_ *track.RPC, m *dissect.Message) {
		hasMessages = true
		read.Message(m)
	}})
	imports := f.Imports()
	return x.Run(func() error {
		list := read.Entries(imports.List())
		if hasMessages && len(list) == 0 {
			x.Note("no configuration was captured: nodes read it when they mount, and when it changes")
		}
		c.noteUnknownLogs(x.Pass, list)
		list = slices.DeleteFunc(list, func(e *config.Entry) bool { return !c.selects(e) })
		if read.Dropped > 0 {
			x.Note("%d records and entries are missing: there were too many", read.Dropped)
		}
		return x.WriteAll(list, func(list []*config.Entry) []byte {
			s := tables.NewConfiguration(x.Options(), x.First(), !c.final)
			buf := s.Append(nil, list)
			x.NoteHidden(s.Omitted())
			return buf
		})
	})
}

// noteUnknownLogs writes a note about names of --log that the capture does not have.
func (c *configOptions) noteUnknownLogs(p *scan.Pass, list []*config.Entry) {
	var names []string
	for _, e := range list {
		if name := e.Name(); name != "" && !slices.Contains(names, name) && len(names) < maxNamedLogs {
			names = append(names, name)
		}
	}
	for _, name := range c.logs {
		if len(names) > 0 && !slices.ContainsFunc(list, func(e *config.Entry) bool { return e.Name() == name }) {
			p.Note("no log or table %s was captured; there are %s", name, schema.AppendText(nil, []byte(strings.Join(names, ", "))))
		}
	}
}

const maxNamedLogs = 20
