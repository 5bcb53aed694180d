package cli

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/track"
)

// stats is the command that counts and measures RPCs.
type stats struct {
	in       *input
	look     look
	by       string
	sort     string
	interval time.Duration
	timeout  time.Duration
	bars     bool
}

func newStats(sys *IO) *cobra.Command {
	c := &stats{in: &input{sys: sys, display: display{rpcs: true}}, look: look{sys: sys, forms: []string{"table", "json", "tsv"}}}
	cmd := &cobra.Command{
		Use:   "stats [flags] [FILE…|-]",
		Short: "Count and measure RPCs",
		Long: "stats counts RPCs and measures them: replies, errors by name, latencies, bytes, and how many were\n" +
			"under way at a time, on average and at most. Errors in brackets are those that no final status\n" +
			"tells: of an intent, of a range, or before an RPC was sent again. Percentiles are the nearest rank,\n" +
			"within one percent. An interval has the RPCs whose requests were sent in it; those without any are\n" +
			"left out. On a terminal, a live capture is a table that refreshes; its keys are shown below it.",
		Example: "  lshark stats x.pcap                          by operation\n" +
			"  lshark stats --by target,op --sort p99 x.pcap\n" +
			"  lshark stats --by job --interval 1s -T tsv x.pcap\n" +
			"  lshark stats -i eth0                         live",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := c.in.check(args); err != nil {
				return err
			}
			return c.run()
		},
	}
	c.in.flags(cmd)
	c.look.flags(cmd, "what is printed: table, json or tsv")
	f := cmd.Flags()
	f.StringVar(&c.by, "by", "op", "group by `KEYS`: "+strings.Join(track.DimNames(), ", "))
	f.StringVar(&c.sort, "sort", "count", "order of rows: "+strings.Join(render.StatsSorts(), ", "))
	f.DurationVar(&c.interval, "interval", 0, "a table for each `TIME`, for example 1s")
	f.BoolVar(&c.bars, "histogram", false, "latencies and sizes as bars below the table")
	f.DurationVar(&c.timeout, "timeout", time.Hour, "`TIME` after which an RPC is unanswered, by the capture's clock")
	return cmd
}

func (c *stats) dims() ([]track.Dim, error) {
	var by []track.Dim
	for _, name := range strings.Split(c.by, ",") {
		d, ok := track.ParseDim(strings.TrimSpace(name))
		if !ok {
			return nil, unknown("key for --by", name, track.DimNames())
		}
		for _, have := range by {
			if have == d {
				return nil, usagef("--by %s: %s is there twice", c.by, name)
			}
		}
		by = append(by, d)
	}
	return by, nil
}

func (c *stats) options() (render.StatsOptions, error) {
	o := render.StatsOptions{Step: int64(c.interval), Sort: c.sort, Bars: c.bars}
	by, err := c.dims()
	if err != nil {
		return o, err
	}
	if err := c.look.check(); err != nil {
		return o, err
	}
	known := false
	for _, s := range render.StatsSorts() {
		known = known || s == c.sort
	}
	switch {
	case !known:
		return o, unknown("order", c.sort, render.StatsSorts())
	case c.interval < 0 || c.interval > 0 && c.interval < time.Microsecond:
		return o, usagef("--interval %v: too short", c.interval)
	case c.timeout <= 0:
		return o, usagef("--timeout %v: must be more than zero", c.timeout)
	case c.bars && c.look.form != "table":
		return o, usagef("--histogram is for tables")
	}
	l := c.look.options()
	o.By, o.Colors, o.Width, o.Raw = by, l.Colors, l.Width, l.Raw
	return o, nil
}

// livePatience is how long an interval of a live capture waits for replies.
const livePatience = 5 * time.Second

func (c *stats) run() error {
	o, err := c.options()
	if err != nil {
		return err
	}
	if c.in.live() && c.look.form == "table" && c.look.sys.OutTTY && c.interval == 0 {
		return c.top(o)
	}
	w := newWriter(c.look.sys, c.in)
	show := func(dst []byte, i *track.Interval) []byte { return nil }
	var buf []byte
	switch c.look.form {
	case "table":
		show = render.NewStatsTable(o).AppendInterval
	case "json":
		show = render.NewStatsJSON(o).AppendInterval
	case "tsv":
		t := render.NewStatsTSV(o)
		show = t.AppendInterval
		buf = t.Header(buf)
	}
	failed := w.write(buf)
	so := track.StatsOptions{By: o.By, Step: o.Step, Flush: func(i *track.Interval) {
		if failed == nil {
			buf = show(buf[:0], i)
			failed = w.write(buf)
		}
	}}
	if c.in.live() {
		so.Patience = int64(livePatience)
	}
	s := track.NewStats(so)
	t := c.tracker(s)
	err = c.in.run(func(m *dissect.Message, first int64) error {
		c.in.belongs(m, first, t.Message(m))
		return failed
	}, func() error {
		c.in.advance(t.Advance, s.Advance)
		return failed
	})
	if failed == nil {
		t.Close()
		s.Close()
	}
	if err == nil {
		err = failed
	}
	return errors.Join(err, c.in.saved(), w.close())
}

// tracker makes the RPCs that statistics are made of.
func (c *stats) tracker(s *track.Stats) *track.RPCs {
	o := track.Options{Timeout: int64(c.timeout), Sent: s.Sent, Answered: s.Answered, Done: func(r *track.RPC) {
		carriers := c.in.saver.ended(r)
		if !c.in.display.matchRPC(r) {
			s.Drop(r)
			return
		}
		if c.in.saver != nil {
			c.in.saver.rpc(r, carriers)
		}
		s.Done(r)
	}}
	if c.in.live() {
		o.Linger = int64(liveLinger)
	}
	return track.NewRPCs(o)
}
