package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/iostreams"
	"github.com/lshark/lshark/cli/scan"
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/track"
)

// rpcs is the command that shows RPCs.
type rpcs struct {
	sys        *scan.System
	input      scan.Flags
	selection  selection
	view       view
	columns    columns
	timeout    time.Duration
	slowest    int
	unanswered bool
	errors     bool
}

func newRPCs(sys *scan.System) *cobra.Command {
	c := &rpcs{sys: sys, view: newView("summary", "json", "fields")}
	cmd := &cobra.Command{
		Use:   "rpcs [flags] [FILE…|-]",
		Short: "Show RPCs: request, early replies, bulk and reply put together",
		Long: "rpcs shows one line or record per RPC: the request however often it was sent, early replies,\n" +
			"bulk data and the reply, found by xid and client whatever connection, rail or router they came by.\n" +
			"RPCs come in the order in which they ended; those without a reply at the end of the capture come\n" +
			"last. With captures of several nodes an RPC is one record with what each of them saw.",
		Example: "  lshark rpcs --slowest 10 client.pcap         the ten that took longest\n" +
			"  lshark rpcs --errors -T json x.pcap | jq .   those that failed\n" +
			"  lshark rpcs --unanswered x.pcap              those without a reply\n" +
			"  lshark rpcs client.pcap server.pcap          time on the wire and in the server",
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	readsPackets(cmd, sys, &c.input)
	c.selection.register(cmd, "RPCs")
	f := cmd.Flags()
	f.IntVar(&c.slowest, "slowest", 0, "only the `N` RPCs that took longest, slowest first")
	f.BoolVar(&c.unanswered, "unanswered", false, "only RPCs without a reply")
	f.BoolVar(&c.errors, "errors", false, "only RPCs with an error: their reply, one before they were sent again, or inside the reply")
	registerTimeout(cmd, &c.timeout)
	c.view.registerForm(cmd)
	c.columns.register(cmd, "key `NAME` of the JSON")
	c.view.register(cmd, "record")
	return cmd
}

// registerTimeout defines the flag for when an RPC counts as unanswered.
func registerTimeout(cmd *cobra.Command, timeout *time.Duration) {
	cmd.Flags().DurationVar(timeout, "timeout", time.Hour, "`TIME` after which an RPC is unanswered, by the capture's clock")
}

func checkTimeout(timeout time.Duration) error {
	if timeout <= 0 {
		return exit.Usagef("--timeout %v: must be more than zero", timeout)
	}
	return nil
}

func (c *rpcs) check() error {
	if c.slowest < 0 {
		return exit.Usagef("--slowest %d: must not be negative", c.slowest)
	}
	return errors.Join(c.selection.check(), c.view.check(), c.columns.check(c.view.form.value), checkTimeout(c.timeout))
}

// renderer returns the renderer that the flags choose, and what it prints
// before the first RPC.
func (c *rpcs) renderer() (r render.RPCRenderer, header []byte, err error) {
	switch c.view.form.value {
	case "json":
		return render.NewRPCJSON(), nil, nil
	case "fields":
		r, wrong := render.NewRPCFields(c.columns.names)
		if r == nil {
			return nil, nil, exit.UnknownName("field", wrong, render.RPCKeys())
		}
		if c.columns.header {
			header = r.Header(nil)
		}
		return r, header, nil
	}
	return render.NewRPCSummary(c.view.options(c.sys.IO)), nil, nil
}

// selects reports whether the flags --unanswered and --errors select an RPC.
func (c *rpcs) selects(r *track.RPC) bool {
	if !c.unanswered && !c.errors {
		return true
	}
	return c.unanswered && r.Unanswered() || c.errors && (r.Failed() || len(r.OtherErrors) > 0)
}

// liveLinger is how long a complete RPC is kept back in a live capture: a
// message of it may still be late.
const liveLinger = 200 * time.Millisecond

func (c *rpcs) run(args []string) error {
	in, err := c.input.Check(args, c.sys.InTTY)
	filter, wrong := c.selection.rpcs()
	if err := errors.Join(err, wrong, c.check()); err != nil {
		return err
	}
	show, header, err := c.renderer()
	if err != nil {
		return err
	}
	p := scan.New(c.sys, in, scan.Options{SaveTo: c.selection.save, SaveRPCs: true})
	out := &rpcOutput{pass: p, w: c.sys.NewWriter(in.Pace()), renderer: show, limit: c.selection.count}
	slow := slowest{limit: c.slowest}
	addRPCs(p, in, filter, track.Options{Timeout: int64(c.timeout), Done: func(r *track.RPC) {
		frames := p.RPCFrames(r)
		switch {
		case !filter.match(r) || !c.selects(r):
		case c.slowest > 0:
			slow.add(r, frames)
		default:
			out.show(r, frames)
		}
	}})
	p.Add(scan.Consumer{
		Begin:   func() error { return out.w.Write(header) },
		Message: func(*dissect.Message) error { return out.err },
		Idle:    func(int64) error { return errors.Join(out.err, out.w.Flush()) },
		End: func() error {
			for _, s := range slow.sorted() {
				out.show(s.rpc, s.frames)
			}
			return out.err
		},
	})
	return errors.Join(p.Run(), out.w.Close())
}

// addRPCs adds a consumer that puts the messages of RPCs together. RPCs are
// marked for a filter as their messages come.
func addRPCs(p *scan.Pass, in *scan.Input, filter *rpcFilter, o track.Options) *track.RPCs {
	if in.Live() {
		o.Linger = int64(liveLinger)
	}
	t := track.NewRPCs(o)
	p.Add(scan.Consumer{
		Message: func(m *dissect.Message) error {
			if r := t.Message(m); r != nil {
				filter.mark(m, p.First(), r)
				p.NoteFrames(m, r)
			}
			return nil
		},
		Idle: func(now int64) error {
			t.Advance(now)
			return nil
		},
		End: func() error {
			t.Close()
			return nil
		},
	})
	return t
}

// rpcOutput writes RPCs up to a limit.
type rpcOutput struct {
	pass     *scan.Pass
	w        *iostreams.Writer
	renderer render.RPCRenderer
	limit    int // 0: none
	shown    int
	at       render.Moment
	buf      []byte
	err      error // ErrStop once the limit is reached
}

// show writes an RPC and saves its frames.
func (o *rpcOutput) show(r *track.RPC, frames scan.RPCFrames) {
	if o.err != nil {
		return
	}
	o.pass.SaveRPC(r, frames)
	o.at.First = o.pass.First()
	o.buf = o.renderer.AppendRPC(o.buf[:0], r, o.at)
	o.at.Before = r.Begin()
	o.err = o.w.Write(o.buf)
	if o.shown++; o.err == nil && o.shown == o.limit {
		o.err = scan.ErrStop
	}
}
