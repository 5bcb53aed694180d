package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/nested"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/monitor"
	"github.com/lshark/lshark/render"
)

// traceOptions are the flags of the command that shows an operation across nodes.
type traceOptions struct {
	sys   *scan.System
	input scan.Flags
	view  flags.View
}

func newTrace(sys *scan.System) *cobra.Command {
	c := &traceOptions{sys: sys, view: flags.NewView("text", "json", "otlp")}
	cmd := &cobra.Command{
		Use:   "trace [flags] XID [FILE…|-]",
		Short: "Show an RPC with those that servers sent to other nodes because of it",
		Long: "trace shows the RPCs with an xid as trees: under each RPC those that its server sent to others because of it, between request " +
			"and reply. They are callbacks about locks, updates and locks of other MDTs, quota that a write needs, look-ups of sequences. " +
			"start is the time after the first request, time the latency, own the part of it in which no nested RPC was under way.\n\n" +
			"The capture of a server has what that server sent. With captures of more nodes the tree is complete, and own times are known.\n\n" +
			"link is how it is known that an RPC belongs to the one above: lock (it is about a lock on what that one names or gives back), " +
			"fid (both name the same FID, sequence of FIDs, or owner of quota), thread (the thread that works for that one sent it: requests " +
			"have the process id of their sender, and a log of the server, --log, what each thread did), time? (nothing else explains that the " +
			"server waited; this is no proof).",
		Example: `  # what the servers did for a slow mkdir
  lshark trace 1882522806458496 mds.pcap oss.pcap

  # the slowest RPC of a capture
  lshark trace $(lshark rpcs --slowest 1 -T fields -e xid mds.pcap) mds.pcap

  # as JSON: the operations on other nodes, and their links
  lshark trace -T json 1882522806458496 mds.pcap | jq '.children[] | {opcode, link}'

  # as spans with parents, for a backend that draws traces
  lshark trace -T otlp 1882522806458496 mds.pcap`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usagef("the number of an RPC is missing")
			}
			return c.run(args[0], args[1:])
		},
	}
	flags.AddInput(cmd, sys, &c.input)
	flags.Add(cmd, flags.InputGroup, c.input.RegisterLogs)
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) {
		c.view.RegisterForm(f)
		c.view.Register(f, flags.TimeHelp("RPC"))
		c.input.RegisterNotes(f)
	})
	return cmd
}

func (c *traceOptions) run(text string, args []string) error {
	xid, wrong := strconv.ParseUint(strings.TrimPrefix(text, "x"), 10, 64)
	if wrong != nil {
		wrong = exit.Usagef("%s: must be the number of an RPC, such as 1882522806458496", text)
	}
	in, err := c.input.Check(args, c.sys.InTTY)
	if err := errors.Join(wrong, err, c.view.Check()); err != nil {
		return err
	}
	c.view.NodeName = in.NodeNames()
	p := scan.New(c.sys, in, scan.Options{Logs: scan.LogUse{Beside: true}})
	f := p.Follow()
	trees := nested.NewTrees(f.Nested(), func(r *track.RPC) bool { return r.XID == xid })
	f.Add(follow.Hooks{Done: trees.Done})
	p.Add(scan.Consumer{End: func() error {
		roots := trees.Roots()
		if len(roots) == 0 {
			p.Note("no RPC has the xid %d", xid)
			return nil
		}
		w := c.sys.NewWriter(in.FlushPolicy())
		return errors.Join(w.Write(c.render(roots, p)), w.Close())
	}})
	return p.Run()
}

func (c *traceOptions) render(roots []*nested.Node, p *scan.Pass) (text []byte) {
	switch c.view.Form.Value {
	case "json":
		return render.NewTraceJSON().Append(nil, roots)
	case "otlp":
		return append(monitor.AppendTraces(nil, roots, p.Last(), flags.Version()), '\n')
	}
	t := newTraceText(c.sys, &c.view)
	for i, n := range roots {
		if i > 0 {
			text = append(text, '\n')
		}
		text = t.Append(text, n, render.Moment{First: p.First()})
	}
	return text
}

func newTraceText(sys *scan.System, v *flags.View) *render.Trace {
	t := render.NewTrace(v.Options(sys.IO))
	t.ASCII = !sys.UTF8()
	return t
}
