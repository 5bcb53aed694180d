package cli

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render/tables"
)

// statsOptions are the flags of the command that counts and measures RPCs.
type statsOptions struct {
	sys       *scan.System
	input     scan.Flags
	selection flags.Selection
	view      flags.View
	by        string
	sort      flags.Choice
	interval  time.Duration
	window    time.Duration // for rates; 0: none
	timeout   time.Duration
	histogram bool
	nested    bool
}

func newStats(sys *scan.System) *cobra.Command {
	c := &statsOptions{sys: sys, view: flags.NewView("table", "json", "tsv"),
		sort: flags.Choice{Value: "count", Words: tables.StatsSorts(), Flag: "--sort", Placeholder: "ORDER", Noun: "order"}}
	cmd := &cobra.Command{
		Use:   "stats [flags] [FILE…|-]",
		Short: "Count RPCs and measure their latency and size",
		Long: "stats counts RPCs and measures them: replies, errors by name, latencies, bytes, and how many were " +
			"in flight at the same time (column depth: average/maximum). Errors in parentheses are not in the final status: they are " +
			"of an intent, of a range, or from before a resend. Percentiles are nearest-rank, within one percent.\n\n" +
			"With --interval, an RPC counts in the interval in which its request was sent; intervals without RPCs are " +
			"left out. With --by path there is a row for each pair of hosts and direction: what one sent to the other, how long acknowledgements " +
			"took, and what TCP sent again or reset. A live capture on a terminal is a table that refreshes, sorted by the keys shown below it, with rates over the last 5 seconds.",
		Example: `  # by operation
  lshark stats client.pcap

  # by target and operation, the slowest first
  lshark stats --by target,op --sort p99 client.pcap

  # by file and operation, the most bytes first
  lshark stats --by file,op --sort bytes client.pcap

  # what each job does in each second, tab separated
  lshark stats --by job --interval 1s -T tsv client.pcap

  # the own time of servers, and what they waited for others
  lshark stats --nested mds.pcap oss.pcap

  # what hosts send to each other, and send again
  lshark stats --by path client.pcap

  # live, with rates over the last ten seconds
  lshark stats -i eth0 --window 10s`,
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags.AddInput(cmd, sys, &c.input)
	flags.Add(cmd, flags.InputGroup, c.input.RegisterLogs)
	flags.Add(cmd, flags.SelectionGroup, func(f *pflag.FlagSet) {
		c.selection.Register(f, "RPCs", "messages")
		registerTimeout(f, &c.timeout)
	})
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) {
		f.StringVar(&c.by, "by", "op", "group by `KEYS`, separated by commas: "+flags.WordList(track.DimensionNames())+
			"; or path: what each host sends to each other, of all messages")
		f.Var(&c.sort, "sort", "order of the rows: "+flags.WordList(c.sort.Words))
		f.DurationVar(&c.interval, "interval", 0, "a table for each interval of `TIME`, such as 1s")
		f.DurationVar(&c.window, "window", 0, "show rates of RPCs and bytes over the last `TIME` of the capture, such as 5s; live tables always do")
		f.BoolVar(&c.histogram, "histogram", false, "histograms of latencies and sizes below the table")
		f.BoolVar(&c.nested, "nested", false, "split latencies: what servers waited for RPCs that they sent because of others, and the rest")
		c.view.RegisterForm(f)
		c.view.Register(f, "accepted as in other commands, without effect: the times of intervals are UTC")
		c.selection.RegisterSave(f, "RPCs")
		c.input.RegisterRing(f)
		c.input.RegisterNotes(f)
	})
	return cmd
}

func parseDimensions(names string) ([]track.Dimension, error) {
	var by []track.Dimension
	for _, name := range strings.Split(names, ",") {
		d, ok := track.ParseDimension(strings.TrimSpace(name))
		if !ok {
			return nil, exit.UnknownName("key for --by", name, track.DimensionNames())
		}
		for _, have := range by {
			if have == d {
				return nil, exit.Usagef("--by %s: %s is given twice", names, name)
			}
		}
		by = append(by, d)
	}
	return by, nil
}

func (c *statsOptions) options() (tables.StatsOptions, error) {
	by, err := parseDimensions(c.by)
	if err := errors.Join(err, c.selection.Check(), c.view.Check(), c.sort.Check(), checkTimeout(c.timeout)); err != nil {
		return tables.StatsOptions{}, err
	}
	switch {
	case c.interval < 0 || c.interval > 0 && c.interval < time.Microsecond:
		return tables.StatsOptions{}, exit.Usagef("--interval %v: must be at least 1µs", c.interval)
	case c.window < 0 || c.window > 0 && c.window < minWindow:
		return tables.StatsOptions{}, exit.Usagef("--window %v: must be at least %v", c.window, minWindow)
	case c.window > 0 && c.interval > 0:
		return tables.StatsOptions{}, exit.Usagef("--window cannot be combined with --interval")
	case c.sort.Value == tables.SortByRate && c.window == 0:
		return tables.StatsOptions{}, exit.Usagef("--sort rate needs --window")
	case c.histogram && c.view.Form.Value != "table":
		return tables.StatsOptions{}, exit.Usagef("--histogram needs -T table")
	}
	o := c.view.Options(c.sys.IO)
	return tables.StatsOptions{By: by, Step: int64(c.interval), Rates: c.window > 0, Nested: c.nested, Sort: c.sort.Value, Bars: c.histogram,
		Colors: o.Colors, Width: o.Width, NIDs: o.NIDs}, nil
}

// Windows for rates: the shortest one, which is longer than RPCs of a live capture
// are held back, and that of a live table.
const (
	minWindow  = time.Second
	liveWindow = 5 * time.Second
)

// livePatience is how long an interval of a live capture waits for replies.
const livePatience = 5 * time.Second

func (c *statsOptions) run(args []string) error {
	if c.by == byPath {
		return c.runPaths(args)
	}
	in, err := c.input.Check(args, c.sys.InTTY)
	live := err == nil && in.Live() && c.view.Form.Value == "table" && c.sys.OutTTY && c.interval == 0
	if live && c.window == 0 {
		c.window = liveWindow
	}
	filter, wrong := c.selection.RPCs()
	o, bad := c.options()
	if err := errors.Join(err, wrong, bad); err != nil {
		return err
	}
	o.NIDs.Name = in.NodeNames()
	p := scan.New(c.sys, in, scan.Options{Limit: c.selection.Count, SaveTo: c.selection.Save, SaveAll: c.selection.All, SaveRPCs: true,
		Logs: scan.LoggedRPCs, Concurrent: c.namesTargets(o.By)})
	if live {
		return c.runTop(p, filter, o)
	}
	w := c.sys.NewWriter(in.FlushPolicy())
	header, appendTo, omitted := c.table(o)
	c.addTables(p, in, filter, o, appendTo, w)
	p.Add(scan.Consumer{Begin: func() error { return w.Write(header) }})
	err = errors.Join(p.Run(), w.Close())
	if omitted != nil {
		p.NoteHidden(omitted.String())
	}
	return err
}

// addTables adds the consumers that write a table for each interval, or one for
// all.
func (c *statsOptions) addTables(p *scan.Pass, in *scan.Input, filter *flags.RPCFilter, o tables.StatsOptions,
	appendTo func([]byte, *track.Interval) []byte, w *iostreams.Writer) {
	var buf []byte
	so := track.StatsOptions{By: o.By, Step: o.Step, Window: int64(c.window), Flush: func(i *track.Interval) {
		buf = appendTo(buf[:0], i)
		p.Fail(w.Write(buf))
	}}
	if in.Live() {
		so.Patience = int64(livePatience)
	}
	s := c.follow(p, filter, so, in.Live())
	p.Add(scan.Consumer{
		Idle: func(now int64) error {
			s.Advance(now)
			return nil
		},
		End: func() error {
			s.SetWindow(p.First(), p.Last())
			s.Close()
			return nil
		},
	})
}

// table returns what is printed before all tables, the func that appends one,
// and the columns that tables omit, nil for other forms.
func (c *statsOptions) table(o tables.StatsOptions) (header []byte, appendTo func([]byte, *track.Interval) []byte,
	omitted *tables.Omitted) {
	switch c.view.Form.Value {
	case "json":
		return nil, tables.NewStatsJSON(o).AppendInterval, nil
	case "tsv":
		t := tables.NewStatsTSV(o)
		return t.Header(nil), t.AppendInterval, nil
	}
	t := tables.NewStatsTable(o)
	return nil, t.AppendInterval, &t.Omitted
}

// namesTargets reports whether rows, or the filter, have names of targets.
func (c *statsOptions) namesTargets(by []track.Dimension) bool {
	return c.selection.Display != "" || slices.Contains(by, track.ByTarget)
}

func (c *statsOptions) follow(p *scan.Pass, filter *flags.RPCFilter, o track.StatsOptions, live bool) *track.Stats {
	options := p.FollowOptions()
	options.Timeout, options.Live = int64(c.timeout), live
	if !c.namesTargets(o.By) {
		options.LookAhead, options.Targets = nil, nil
	}
	filter.Nested = filter.Nested || c.nested
	f := followRPCs(p, filter, options)
	if slices.ContainsFunc(o.By, track.Dimension.NeedsSubject) {
		o.Subject, o.Path = f.Files().Subject, f.Files().Path
	}
	s := track.NewStats(o)
	f.Add(follow.Hooks{Sent: s.Sent, Answered: s.Answered, Done: func(r *track.RPC) {
		frames := p.RPCFrames(r)
		if !filter.Match(r) {
			s.Drop(r)
			return
		}
		p.SaveRPC(r, frames)
		s.Done(r)
	}, Unseen: func(r *track.RPC) {
		if filter.Match(r) {
			s.Done(r)
		}
	}})
	return s
}
