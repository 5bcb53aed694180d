package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/nested"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

type rpcsOptions struct {
	flags.Job
	selection  flags.Selection
	columns    flags.Columns
	timeout    time.Duration
	slowest    int
	unanswered bool
	noReply    bool
	errors     bool
	tree       bool
}

func newRPCs(sys *scan.System) *cobra.Command {
	c := &rpcsOptions{Job: flags.Job{Sys: sys, View: flags.NewView("summary", "json", "fields", flags.ParquetForm)}}
	cmd := &cobra.Command{
		Use:   "rpcs [flags] [FILE…|-]",
		Short: "Show RPCs: request, early replies, bulk data and reply as one record",
		Long: "rpcs shows one line or record per RPC: the request with its resends, early replies, bulk data and the " +
			"reply. They are matched by xid and client, whichever connection, rail or router carried them.\n\n" +
			"RPCs are shown when they end; those without a reply are shown at the end of the capture. A lock request whose lock " +
			"has to wait ends when the lock is granted, in live captures after 5 seconds at most. An RPC that failed because the target was not " +
			"there (ENOTCONN " +
			"and the like) ends when it was sent again and answered, when its client has connected again and works on without it, or after " +
			"--timeout, in live captures after 5 minutes at most. With captures " +
			"of several nodes, an RPC is one record that holds what each node saw.\n\n" +
			"Where a file begins after the connects, the names of targets are looked for ahead in at most its first 32 MiB; one that is proven later " +
			"is shown from then on.",
		Example: `  # the ten slowest RPCs
  lshark rpcs --slowest 10 client.pcap

  # RPCs that failed, as JSON
  lshark rpcs --errors -T json client.pcap | jq .

  # writes to one target that took longer than 10 ms
  lshark rpcs -Y 'pb_opc == OST_WRITE && rpc.target == "lustre-OST0000" && rpc.latency > 10ms' server.pcap

  # time on the network and in the server, from both sides
  lshark rpcs client.pcap server.pcap`,
	}
	cmd.RunE = flags.RunE(c, (*rpcsOptions).run)
	flags.AddInput(cmd, sys, &c.Input)
	flags.Add(cmd, flags.InputGroup, c.Input.RegisterLogs)
	flags.Add(cmd, flags.SelectionGroup, func(f *pflag.FlagSet) {
		c.selection.Register(f, "RPCs", "RPCs")
		f.IntVar(&c.slowest, "slowest", 0, "only the `N` slowest RPCs, slowest first, by latency or lock wait, whichever is longer")
		f.BoolVar(&c.unanswered, "unanswered", false, "only RPCs that the server did not answer, though the capture went on and lacks nothing "+
			"of the server")
		f.BoolVar(&c.noReply, "no-reply", false, "only RPCs without a reply, whatever the reason")
		f.BoolVar(&c.errors, "errors", false, "only RPCs with an error: in the status of the reply, inside the reply, or before a resend")
		registerTimeout(f, &c.timeout)
	})
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) {
		f.BoolVar(&c.tree, "tree", false, "below each RPC those that its server sent because of it, as lshark trace does; at the end of the capture")
		c.View.RegisterForm(f)
		c.columns.Register(f, "the JSON key")
		c.Output.Register(cmd, f)
		c.View.Register(f, flags.TimeHelp("RPC"))
		c.selection.RegisterSave(f, "RPCs")
		c.Input.RegisterRing(f)
		c.Input.RegisterNotes(f)
	})
	return cmd
}

func registerTimeout(f *pflag.FlagSet, timeout *time.Duration) {
	f.DurationVar(timeout, "timeout", time.Hour, "count an RPC as unanswered after `TIME` without a reply")
}

func checkTimeout(timeout time.Duration) error {
	if timeout <= 0 {
		return exit.Usagef("--timeout %v: must be more than zero", timeout)
	}
	return nil
}

func (c *rpcsOptions) check() error {
	if c.slowest < 0 {
		return exit.Usagef("--slowest %d: must not be negative", c.slowest)
	}
	if form := c.View.Form.Value; c.tree && (form == "fields" || form == flags.ParquetForm || c.selection.Save != "") {
		return exit.Usagef("--tree cannot be combined with -T fields, -T parquet and -w")
	}
	return errors.Join(c.selection.Check(), c.View.Check(), c.columns.Check(c.View.Form.Value), checkTimeout(c.timeout))
}

// renderer returns the renderer that the flags choose, nil for Parquet, and what it
// prints before the first RPC.
func (c *rpcsOptions) renderer() (r render.RPCRenderer, header []byte, err error) {
	switch c.View.Form.Value {
	case "json":
		return render.RPCFunc(render.NewRecordJSON(records.RPCs.Keys(), false).AppendLine), nil, nil
	case "fields":
		f, unknown := render.NewRecordFields(&records.RPCs, c.columns.Names)
		if f == nil {
			return nil, nil, exit.UnknownName("field", unknown, render.KeyNames(&records.RPCs))
		}
		if c.columns.Header {
			header = f.Header(nil)
		}
		return render.RPCFunc(f.Append), header, nil
	case flags.ParquetForm:
		return nil, nil, nil
	}
	return render.NewRPCSummary(c.View.Options(c.Sys.IO)), nil, nil
}

// selects reports whether the flags --unanswered, --no-reply and --errors select
// an RPC.
func (c *rpcsOptions) selects(r *track.RPC) bool {
	if !c.unanswered && !c.noReply && !c.errors {
		return true
	}
	return c.unanswered && r.Unanswered() || c.noReply && r.Missing != track.NotMissing || c.errors &&
		(r.Failed() && !r.IsExpectedError() || len(r.OtherErrors) > 0)
}

func (c *rpcsOptions) run() error {
	in, err := c.Input.Check(c.Args, c.Sys.InTTY)
	filter, wrong := c.selection.RPCs()
	if err := errors.Join(err, wrong, c.check()); err != nil {
		return err
	}
	c.View.NodeName = in.NodeNames()
	show, header, err := c.renderer()
	if err != nil {
		return err
	}
	p := scan.New(c.Sys, in, scan.Options{SaveTo: c.selection.Save, SaveAll: c.selection.All, SaveRPCs: true, Logs: scan.LoggedRPCs,
		Concurrent: c.selection.Count == 0})
	w, err := c.Output.NewWriter(c.Sys, in, c.View.Form.Value)
	if err != nil {
		return err
	}
	if show == nil {
		show = render.RPCFunc(flags.ParquetFunc(&c.Output, w, &records.RPCs, in, p))
	}
	out := &rpcOutput{pass: p, w: w, renderer: show, limit: c.selection.Count}
	slow := slowestRPCs{limit: c.slowest}
	o := p.FollowOptions()
	o.Timeout = int64(c.timeout)
	form := c.View.Form.Value
	filter.Nested = filter.Nested || c.tree || form == "json" || form == flags.ParquetForm || c.columns.UseNested()
	if c.tree {
		return errors.Join(c.runTree(p, filter, o, w), w.Close())
	}
	done := func(r *track.RPC, frames scan.RPCFrames) {
		switch {
		case !filter.Match(r) || !c.selects(r):
		case c.slowest > 0:
			slow.add(r, frames)
		default:
			out.show(r, frames)
		}
	}
	followRPCs(p, filter, o).Add(follow.Hooks{
		Done:   func(r *track.RPC) { done(r, p.RPCFrames(r)) },
		Unseen: func(r *track.RPC) { done(r, nil) },
	})
	p.Add(scan.Consumer{
		Begin: func() error { return out.w.Write(header) },
		Idle:  func(int64) error { return out.w.Flush() },
		End: func() error {
			for _, s := range slow.sorted() {
				out.show(s.rpc, s.frames)
			}
			return nil
		},
	})
	err = errors.Join(p.Run(), out.w.Close())
	if lines, ok := show.(*render.RPCSummary); ok {
		p.NoteHidden(lines.Omitted())
	}
	return err
}

// runTree prints RPCs with those that are nested in them.
func (c *rpcsOptions) runTree(p *scan.Pass, filter *flags.RPCFilter, o follow.Options, w *iostreams.Writer) error {
	f := followRPCs(p, filter, o)
	selected := 0
	trees := nested.NewTrees(f.Nested(), func(r *track.RPC) bool {
		if !filter.Match(r) || !c.selects(r) {
			return false
		}
		if selected++; selected == c.selection.Count {
			p.Fail(scan.ErrStop)
		}
		return true
	})
	trees.Slowest = c.slowest
	f.Add(follow.Hooks{Done: trees.Done})
	p.Add(scan.Consumer{End: func() error {
		roots := trees.Roots()
		if n := trees.Dropped; n > 0 {
			p.Note("%d more RPCs are not shown: select fewer with -Y, or --slowest", n)
		}
		if c.View.Form.Value == "json" {
			return w.Write(render.NewTraceJSON().Append(nil, roots))
		}
		if len(roots) == 0 {
			return nil
		}
		return w.Write(newTraceText(c.Sys, &c.View).AppendList(nil, roots, render.Moment{First: p.First()}))
	}})
	return p.Run()
}

// followRPCs returns a Follower of a pass that selects RPCs. The filter is applied to each
// message when it arrives.
func followRPCs(p *scan.Pass, filter *flags.RPCFilter, o follow.Options) *follow.Follower {
	f := follow.New(o, follow.Hooks{Message: func(r *track.RPC, m *dissect.Message) {
		if r != nil {
			filter.Mark(m, p.First(), r)
			p.NoteFrames(m, r)
		}
	}})
	if filter.Nested {
		f.Nested()
	}
	p.Observe(f)
	p.Add(scan.Consumer{Finish: f.Finish})
	return f
}

type rpcOutput struct {
	pass     *scan.Pass
	w        *iostreams.Writer
	renderer render.RPCRenderer
	limit    int // 0: none
	shown    int
	at       render.Moment
	buf      []byte
	ended    bool // the limit is reached, or writing has failed
}

func (o *rpcOutput) show(r *track.RPC, frames scan.RPCFrames) {
	if o.ended {
		return
	}
	o.pass.SaveRPC(r, frames)
	o.at.First = o.pass.First()
	o.buf = o.renderer.AppendRPC(o.buf[:0], r, o.at)
	o.at.Before = r.Begin()
	err := o.w.Write(o.buf)
	if o.shown++; err == nil && o.shown == o.limit {
		err = scan.ErrStop
	}
	o.ended = err != nil
	o.pass.Fail(err)
}
