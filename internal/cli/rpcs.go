package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/nested"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

type rpcsOptions struct {
	flags.Job
	filter     *flags.RPCFilter
	timeout    time.Duration
	slowest    int
	unanswered bool
	noReply    bool
	errors     bool
	tree       bool
}

func newRPCs(sys *scan.System) *cobra.Command {
	c := &rpcsOptions{Job: flags.NewJob(sys, flags.RecordForms("summary")...)}
	return flags.Command(&cobra.Command{
		Use:   "rpcs [flags] [FILE…|-]",
		Short: "Show RPCs: request, early replies, bulk data and reply as one record",
		Long: "rpcs shows one line or record per RPC: the request with its resends, early replies, bulk data and the reply, " +
			"matched by xid and client. RPCs are shown when they end, those without a reply at the end of the capture. " +
			"With captures of several nodes, an RPC is one record of what each node saw.",
		Example: `  # the ten slowest RPCs
  lshark rpcs --slowest 10 client.pcap

  # RPCs that failed, as JSON
  lshark rpcs --errors -T json client.pcap | jq .

  # writes to one target that took longer than 10 ms
  lshark rpcs -Y 'pb_opc == OST_WRITE && rpc.target == "lustre-OST0000" &&
    rpc.latency > 10ms' server.pcap

  # time on the network and in the server, from both sides
  lshark rpcs client.pcap server.pcap`,
	}, c, flags.Help{
		Display: "only RPCs that match the display filter `EXPR`, such as 'pb_opc == OST_WRITE && pb_status == ENOSPC'; \"lshark fields\" lists the names",
		Counted: "RPCs",
		Time:    "RPC",
		Saved:   "RPCs",
		Prints:  true,
		Logs:    true,
		Selection: func(f *pflag.FlagSet) {
			f.IntVar(&c.slowest, "slowest", 0, "only the `N` slowest RPCs, slowest first, by latency or lock wait, whichever is longer")
			f.BoolVar(&c.unanswered, "unanswered", false, "only RPCs that the server did not answer, though the capture went on and lacks nothing "+
				"of the server")
			f.BoolVar(&c.noReply, "no-reply", false, "only RPCs without a reply, whatever the reason")
			f.BoolVar(&c.errors, "errors", false, "only RPCs with an error: in the status of the reply, inside the reply, or before a resend")
			registerTimeout(f, &c.timeout)
		},
		Output: func(f *pflag.FlagSet) {
			f.BoolVar(&c.tree, "tree", false, "below each RPC those that its server sent because of it, as lshark trace does; at the end of the capture")
		},
	}, (*rpcsOptions).check, (*rpcsOptions).run)
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

func (c *rpcsOptions) check() (err error) {
	if c.filter, err = flags.RPCs(c.Display); err != nil {
		return err
	}
	if form := c.Form.Value; c.tree && (form == "fields" || form == flags.ParquetForm || c.Save != "") {
		return exit.Usagef("--tree cannot be combined with -T fields, -T parquet and -w")
	}
	return checkTimeout(c.timeout)
}

// selects reports whether the flags --unanswered, --no-reply and --errors select
// an RPC.
func (c *rpcsOptions) selects(r *track.RPC) bool {
	if !c.unanswered && !c.noReply && !c.errors {
		return true
	}
	return c.unanswered && r.Unanswered() || c.noReply && r.LacksReply() || c.errors &&
		(r.Failed() && !r.IsExpectedError() || len(r.OtherErrors) > 0)
}

func (c *rpcsOptions) run() error {
	o := scan.Options{SaveRPCs: true, Logs: scan.LoggedRPCs, Concurrent: c.Count == 0}
	if c.tree {
		return c.runTree(o)
	}
	x := flags.Open(&c.Job, &records.RPCs, o)
	lines, at := render.NewRPCSummary(c.Options()), render.Moment{}
	x.Line = func(dst *schema.Marked, r *track.RPC) {
		at.First = x.First()
		lines.AppendRPC(dst, r, at)
		at.Before = r.Begin()
	}
	shown := 0
	show := func(r *track.RPC, frames scan.RPCFrames) {
		if c.Count > 0 && shown == c.Count {
			return
		}
		x.SaveRPC(r, frames)
		if c.Prints() {
			x.Emit(r)
		}
		if shown++; shown == c.Count {
			x.Fail(scan.ErrStop)
		}
	}
	type keptRPC struct {
		*track.RPC
		frames scan.RPCFrames // for -w
	}
	slow := track.Top[*keptRPC]{Limit: c.slowest}
	done := func(r *track.RPC, frames scan.RPCFrames) {
		switch {
		case !c.filter.Match(r) || !c.selects(r):
		case c.slowest > 0:
			if ns, ok := r.Waited(); ok && slow.Takes(ns) {
				slow.Add(ns, &keptRPC{r.Clone(), slices.Clone(frames)}, nil)
			}
		default:
			show(r, frames)
		}
	}
	form := c.Form.Value
	c.filter.Nested = c.filter.Nested || form == "json" || form == flags.ParquetForm || slices.ContainsFunc(c.Fields, flags.UsesNested)
	followRPCs(x.Pass, c.filter, c.timeout, x.FollowOptions()).Add(follow.Hooks{
		Done:   func(r *track.RPC) { done(r, x.RPCFrames(r)) },
		Unseen: func(r *track.RPC) { done(r, nil) },
	})
	return x.Run(func() {
		for i, s := range slow.List() {
			if show(s.RPC, s.frames); i == 0 {
				x.Next = fmt.Sprintf("ladder --xid %d", s.XID)
			}
		}
		x.Hide(lines.Omitted())
	})
}

// runTree prints RPCs with those that are nested in them.
func (c *rpcsOptions) runTree(o scan.Options) error {
	x := flags.Open(&c.Job, &records.RPCs, o)
	f := followRPCs(x.Pass, c.filter, c.timeout, x.FollowOptions())
	selected := 0
	trees := nested.NewTrees(f.Nested(), c.slowest, func(r *track.RPC) bool {
		if !c.filter.Match(r) || !c.selects(r) {
			return false
		}
		if selected++; selected == c.Count {
			x.Fail(scan.ErrStop)
		}
		return true
	})
	f.Add(follow.Hooks{Done: trees.Done})
	x.Own(func(dst *schema.Marked, _ []*track.RPC) {
		switch roots := trees.Roots(); {
		case c.Form.Value == "json":
			dst.Text = render.AppendTraceJSON(dst.Text, roots)
		case len(roots) > 0:
			render.NewTrace(c.Options()).AppendList(dst, roots, render.Moment{First: x.First()})
		}
		if n := trees.Dropped; n > 0 {
			x.Note("%d more RPCs are not shown: select fewer with -Y, or --slowest", n)
		}
	})
	return x.Run(nil)
}

// followRPCs returns a Follower of a pass that selects RPCs. The filter is applied to each
// message when it arrives.
func followRPCs(p *scan.Pass, filter *flags.RPCFilter, timeout time.Duration, o follow.Options) *follow.Follower {
	o.Timeout = int64(timeout)
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
