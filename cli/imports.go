package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/cli/scan"
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/track"
)

// imports is the command that shows the lives of connections.
type imports struct {
	sys       *scan.System
	input     scan.Flags
	selection selection
	view      view
	timeline  bool
}

func newImports(sys *scan.System) *cobra.Command {
	c := &imports{sys: sys, view: newView("table", "json", "timeline")}
	cmd := &cobra.Command{
		Use:   "imports [flags] [FILE…|-]",
		Short: "Show the life of each connection between a client and a target",
		Long: "imports follows the connections between clients and targets: connect attempts, flags asked for and\n" +
			"granted, recovery, evictions, pings. Lustre calls one an import on the client and an export on the\n" +
			"server. A connection made before the capture began has no names until it is made again. A state is\n" +
			"what the frames prove; the table shows the last. Its fails are connects that were answered with an\n" +
			"error, by the error; ungranted is how many flags were asked for and not granted.",
		Example: "  lshark imports x.pcap                 a line a connection\n" +
			"  lshark imports --timeline x.pcap      a line an event\n" +
			"  lshark imports -T json x.pcap | jq 'select(.evictions > 0)'",
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	readsPackets(cmd, sys, &c.input)
	c.selection.register(cmd, "messages")
	c.view.registerForm(cmd)
	cmd.Flags().BoolVar(&c.timeline, "timeline", false, "a line for each event, as -T timeline")
	c.view.register(cmd, "record")
	return cmd
}

func (c *imports) run(args []string) error {
	in, err := c.input.Check(args, c.sys.InTTY)
	selected, wrong := c.selection.messages()
	if err := errors.Join(err, wrong, c.selection.check(), c.view.check()); err != nil {
		return err
	}
	if c.timeline {
		c.view.form.value = "timeline"
	}
	var p *scan.Pass
	p = scan.New(c.sys, in, scan.Options{
		Select: func(m *dissect.Message) bool { return selected.match(m, p.First()) },
		Limit:  c.selection.count,
		SaveTo: c.selection.save,
	})
	w := c.sys.NewWriter(in.Pace())
	i := track.NewImports(nil)
	t := track.NewRPCs(track.Options{Sent: i.Sent, Answered: i.Answered, Done: i.Done})
	p.Add(scan.Consumer{
		Message: func(m *dissect.Message) error {
			t.Message(m)
			return nil
		},
		Idle: func(now int64) error {
			t.Advance(now)
			return nil
		},
		End: func() error {
			t.Close()
			i.Close()
			return w.Write(c.render(i.List(), p.First()))
		},
	})
	return errors.Join(p.Run(), w.Close())
}

// render returns the connections in the form that the flags choose; first is
// the time of the first frame.
func (c *imports) render(list []*track.Import, first int64) []byte {
	var buf []byte
	o := c.view.options(c.sys.IO)
	switch c.view.form.value {
	case "json":
		j := render.NewImportsJSON()
		for _, imp := range list {
			buf = j.AppendImport(buf, imp)
		}
		return buf
	case "timeline":
		return render.NewTimeline(o).Append(buf, list, first)
	}
	if len(list) == 0 {
		return nil
	}
	return render.NewImportsTable(o).Append(buf, list)
}
