package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/track"
)

// rpcs is the command that shows RPCs.
type rpcs struct {
	in      *input
	look    look
	fields  []string
	extra   []string
	header  bool
	timeout time.Duration
	slowest int
	noReply bool
	failed  bool
}

func newRPCs(sys *IO) *cobra.Command {
	c := &rpcs{in: &input{sys: sys, display: display{rpcs: true}}, look: look{sys: sys, forms: []string{"summary", "json", "fields"}}}
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
		RunE: func(_ *cobra.Command, args []string) error {
			if err := c.in.check(args); err != nil {
				return err
			}
			return c.run()
		},
	}
	c.in.flags(cmd)
	cmd.Flags().Lookup("count").Usage = "stop after `N` RPCs"
	c.look.flags(cmd, "what is printed: summary, json or fields")
	f := cmd.Flags()
	f.StringArrayVarP(&c.fields, "field", "e", nil, "with -T fields: print key `NAME` of the JSON; may be repeated")
	f.StringArrayVarP(&c.extra, "fields-option", "E", nil, "with -T fields: `header=y` prints the names first")
	f.IntVar(&c.slowest, "slowest", 0, "only the `N` RPCs that took longest, slowest first")
	f.BoolVar(&c.noReply, "unanswered", false, "only RPCs without a reply")
	f.BoolVar(&c.failed, "errors", false, "only RPCs with an error: their reply, one before they were sent again, or inside the reply")
	f.DurationVar(&c.timeout, "timeout", time.Hour, "`TIME` after which an RPC is unanswered, by the capture's clock")
	return cmd
}

// check completes the flags.
func (c *rpcs) check() error {
	if err := c.look.check(); err != nil {
		return err
	}
	o := output{extra: c.extra, fields: c.fields, form: c.look.form, time: c.look.time, color: c.look.color}
	if err := o.check(); err != nil {
		return err
	}
	c.header = o.header
	switch {
	case c.slowest < 0:
		return usagef("--slowest %d: must not be negative", c.slowest)
	case c.timeout <= 0:
		return usagef("--timeout %v: must be more than zero", c.timeout)
	}
	return nil
}

func (c *rpcs) renderer() (render.RPCRenderer, error) {
	switch c.look.form {
	case "json":
		return render.NewRPCJSON(), nil
	case "fields":
		if len(c.fields) == 0 {
			return nil, usagef("-T fields: name the fields with -e")
		}
		r, wrong := render.NewRPCFields(c.fields)
		if r == nil {
			return nil, unknown("field", wrong, render.RPCKeys())
		}
		return r, nil
	}
	return render.NewRPCSummary(c.look.options()), nil
}

// wanted says whether an RPC is to be shown.
func (c *rpcs) wanted(r *track.RPC) bool {
	switch {
	case !c.in.display.matchRPC(r):
		return false
	case c.noReply && c.failed:
		return r.Unanswered() || failed(r)
	case c.noReply:
		return r.Unanswered()
	case c.failed:
		return failed(r)
	}
	return true
}

// failed says whether an RPC tells of an error.
func failed(r *track.RPC) bool { return r.Failed() || len(r.OtherErrors) > 0 }

// liveLinger is how long a complete RPC is kept back in a live capture.
const liveLinger = 200 * time.Millisecond

func (c *rpcs) run() error {
	if err := c.check(); err != nil {
		return err
	}
	show, err := c.renderer()
	if err != nil {
		return err
	}
	count := c.in.count
	c.in.count = 0 // it counts RPCs here
	w := newWriter(c.look.sys, c.in)
	s := showing{in: c.in, w: w, show: show, left: count}
	if f, ok := show.(*render.RPCFields); ok && c.header {
		s.err = w.write(f.Header(nil))
	}
	slow := slowest{limit: c.slowest}
	o := track.Options{Timeout: int64(c.timeout), Done: func(r *track.RPC) {
		carriers := c.in.saver.ended(r)
		switch {
		case !c.wanted(r):
		case c.slowest > 0:
			slow.add(r, carriers)
		default:
			s.rpc(r, carriers)
		}
	}}
	if c.in.live() {
		o.Linger = int64(liveLinger)
	}
	t := track.NewRPCs(o)
	err = c.in.run(func(m *dissect.Message, first int64) error {
		s.at.First = first
		c.in.belongs(m, first, t.Message(m))
		return s.err
	}, func() error {
		c.in.advance(t.Advance)
		return errors.Join(s.err, w.flush())
	})
	if s.err == nil {
		t.Close()
		for _, k := range slow.sorted() {
			s.rpc(k.rpc, k.carriers)
		}
	}
	if s.err != nil && !errors.Is(s.err, errStop) && err == nil {
		err = s.err
	}
	return errors.Join(err, c.in.saved(), w.close())
}

// showing writes RPCs until there were enough.
type showing struct {
	in   *input
	w    *writer
	show render.RPCRenderer
	at   render.Moment
	left int // 0: no limit
	buf  []byte
	err  error
}

func (s *showing) rpc(r *track.RPC, carriers []carrier) {
	if s.err != nil {
		return
	}
	if s.in.saver != nil {
		s.in.saver.rpc(r, carriers)
	}
	s.buf = s.show.AppendRPC(s.buf[:0], r, s.at)
	s.at.Before = r.Begin()
	if s.err = s.w.write(s.buf); s.err == nil && s.left > 0 {
		if s.left--; s.left == 0 {
			s.err = errStop
		}
	}
}
