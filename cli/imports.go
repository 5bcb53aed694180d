package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/track"
)

// imports is the command that shows the lives of connections.
type imports struct {
	in       *input
	look     look
	timeline bool
}

func newImports(sys *IO) *cobra.Command {
	c := &imports{in: &input{sys: sys}, look: look{sys: sys, forms: []string{"table", "json", "timeline"}}}
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
		RunE: func(_ *cobra.Command, args []string) error {
			if err := c.in.check(args); err != nil {
				return err
			}
			return c.run()
		},
	}
	c.in.flags(cmd)
	c.look.flags(cmd, "what is printed: table, json or timeline")
	cmd.Flags().BoolVar(&c.timeline, "timeline", false, "a line for each event, as -T timeline")
	return cmd
}

func (c *imports) run() error {
	if err := c.look.check(); err != nil {
		return err
	}
	if c.timeline {
		c.look.form = "timeline"
	}
	w := newWriter(c.look.sys, c.in)
	i := track.NewImports(nil)
	t := track.NewRPCs(track.Options{Sent: i.Sent, Answered: i.Answered, Done: i.Done})
	var begin int64
	err := c.in.run(func(m *dissect.Message, first int64) error {
		begin = first
		t.Message(m)
		return nil
	}, func() error {
		c.in.advance(t.Advance)
		return nil
	})
	t.Close()
	i.Close()
	var buf []byte
	switch list := i.List(); c.look.form {
	case "json":
		j := render.NewImportsJSON()
		for _, imp := range list {
			buf = j.AppendImport(buf, imp)
		}
	case "timeline":
		buf = render.NewTimeline(c.look.options()).Append(buf, list, begin)
	default:
		if len(list) > 0 {
			buf = render.NewImportsTable(c.look.options()).Append(buf, list)
		}
	}
	return errors.Join(err, w.write(buf), w.close())
}
