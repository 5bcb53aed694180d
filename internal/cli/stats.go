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
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// statsOptions are the flags of the command that counts and measures RPCs.
type statsOptions struct {
	flags.Job
	filter    *flags.RPCFilter
	by        string
	sort      flags.Choice
	interval  time.Duration
	window    time.Duration // for rates; 0: none
	timeout   time.Duration
	histogram bool
	nested    bool
	table     tables.StatsOptions // after check
}

func newStats(sys *scan.System) *cobra.Command {
	c := &statsOptions{Job: flags.NewJob(sys, flags.RecordForms("table", "tsv")...),
		sort: flags.Choice{Value: "count", Words: tables.StatsSorts(), Flag: "--sort", Placeholder: "ORDER", Noun: "order"}}
	return flags.Command(&cobra.Command{
		Use:   "stats [flags] [FILE…|-]",
		Short: "Count RPCs and measure their latency and size",
		Long: "stats counts RPCs and measures them: replies, errors by name, latencies, bytes, and how many were " +
			"in flight at the same time (column depth: average/maximum). Errors in parentheses are not in the final status. " +
			"A live capture on a terminal is a table that refreshes, sorted by the keys shown below it, with rates over the last 5 seconds.",
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
	}, c, flags.Help{
		Display: "only RPCs that match the display filter `EXPR`, such as 'pb_opc == OST_WRITE && pb_status == ENOSPC'; \"lshark fields\" lists the names",
		Counted: "messages",
		Saved:   "RPCs",
		Logs:    true,
		Selection: func(f *pflag.FlagSet) {
			registerTimeout(f, &c.timeout)
		},
		Output: func(f *pflag.FlagSet) {
			f.StringVar(&c.by, "by", "op", "group by `KEYS`, separated by commas: "+flags.WordList(track.DimensionNames())+
				"; or path: what each host sends to each other, of all messages")
			f.Var(&c.sort, "sort", "order of the rows: "+flags.WordList(c.sort.Words))
			f.DurationVar(&c.interval, "interval", 0, "a table for each interval of `TIME`, such as 1s, in which the requests were sent")
			f.DurationVar(&c.window, "window", 0, "show rates, of RPCs and of bytes, over the last `TIME` of the capture, such as 5s; live tables always do")
			f.BoolVar(&c.histogram, "histogram", false, "histograms of latencies and sizes below the table")
			f.BoolVar(&c.nested, "nested", false, "split latencies: what servers waited for RPCs that they sent because of others, and the rest")
		},
	}, (*statsOptions).check, (*statsOptions).run)
}

func parseDimensions(names string) ([]track.Dimension, error) {
	var by []track.Dimension
	for _, name := range strings.Split(names, ",") {
		d, ok := track.ParseDimension(strings.TrimSpace(name))
		switch {
		case !ok:
			return nil, exit.UnknownName("key for --by", name, track.DimensionNames())
		case slices.Contains(by, d):
			return nil, exit.Usagef("--by %s: %s is given twice", names, name)
		}
		by = append(by, d)
	}
	return by, nil
}

func (c *statsOptions) check() (err error) {
	if c.by == byPath {
		return c.checkPaths()
	}
	if c.isLive() && c.window == 0 {
		c.window = liveWindow
	}
	by, err := parseDimensions(c.by)
	var wrong error
	c.filter, wrong = flags.RPCs(c.Display)
	if err := errors.Join(err, wrong, checkTimeout(c.timeout)); err != nil {
		return err
	}
	switch {
	case c.interval < 0 || c.interval > 0 && c.interval < time.Microsecond:
		return exit.Usagef("--interval %v: must be at least 1µs", c.interval)
	case c.window < 0 || c.window > 0 && c.window < minWindow:
		return exit.Usagef("--window %v: must be at least %v", c.window, minWindow)
	case c.window > 0 && c.interval > 0:
		return exit.Usagef("--window cannot be combined with --interval")
	case c.sort.Value == tables.SortByRate && c.window == 0:
		return exit.Usagef("--sort rate needs --window")
	case c.histogram && c.Form.Value != "table":
		return exit.Usagef("--histogram needs -T table")
	}
	c.table = tables.StatsOptions{By: by, Step: int64(c.interval), Rates: c.window > 0, Nested: c.nested, Sort: c.sort.Value, Bars: c.histogram}
	return nil
}

// Windows for rates: the shortest one, which is longer than RPCs of a live capture
// are held back, and that of a live table.
const (
	minWindow  = time.Second
	liveWindow = 5 * time.Second
)

// livePatience is how long an interval of a live capture waits for replies.
const livePatience = 5 * time.Second

func (c *statsOptions) run() error {
	if c.by == byPath {
		return c.runPaths()
	}
	text := c.Options()
	c.table.Width, c.table.NIDs = text.Width, text.NIDs
	x := flags.Open(&c.Job, c.table.Keys(), scan.Options{Limit: c.Count, SaveRPCs: true, Logs: scan.LoggedRPCs,
		Concurrent: c.namesTargets(c.table.By)})
	if c.isLive() {
		return c.runTop(x.Reading)
	}
	so := track.StatsOptions{By: c.table.By, Step: c.table.Step, Window: int64(c.window), Flush: c.show(x)}
	if x.In.Live() {
		so.Patience = int64(livePatience)
	}
	s := c.follow(x.Pass, so, x.In.Live())
	x.Add(scan.Consumer{Idle: func(now int64) error {
		s.Advance(now)
		return nil
	}})
	return x.Run(func() {
		s.SetWindow(x.First(), x.Last())
		s.Close()
	})
}

// isLive reports whether the output is a table that refreshes.
func (c *statsOptions) isLive() bool {
	return len(c.Input.Interfaces) > 0 && c.Form.Value == "table" && c.Sys.OutTTY && c.interval == 0
}

// show returns the func that shows the rows of an interval.
func (c *statsOptions) show(x *flags.Run[*records.Row]) func(*track.Interval) {
	var text schema.Marked
	switch c.Form.Value {
	case "tsv":
		x.Separate(tables.NewStatsTSV(&c.table))
	case "table":
		t := tables.NewStatsTable(c.table)
		x.List = func(*schema.Marked, []*records.Row) { x.Hide(t.Omitted()) } // the tables are written
		return func(i *track.Interval) {
			text.Reset()
			t.AppendInterval(&text, i)
			x.Fail(x.Print(&text))
		}
	}
	return func(i *track.Interval) { x.Emit(c.table.Rows(i)...) }
}

// namesTargets reports whether rows, or the filter, have names of targets.
func (c *statsOptions) namesTargets(by []track.Dimension) bool {
	return c.Display != "" || slices.Contains(by, track.ByTarget)
}

func (c *statsOptions) follow(p *scan.Pass, o track.StatsOptions, live bool) *track.Stats {
	filter := c.filter
	options := p.FollowOptions()
	options.Live = live
	if !c.namesTargets(o.By) {
		options.LookAhead, options.Targets = nil, nil
	}
	filter.Nested = filter.Nested || c.nested
	f := followRPCs(p, filter, c.timeout, options)
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

// byPath is the key of --by for what hosts send to each other.
const byPath = "path"

// checkPaths checks the flags with --by path: those that are about RPCs do not apply.
func (c *statsOptions) checkPaths() error {
	for _, f := range []struct {
		isSet bool
		name  string
	}{
		{c.Display != "", "-Y"}, {c.Save != "", "-w"}, {c.interval != 0, "--interval"}, {c.window != 0, "--window"},
		{c.nested, "--nested"}, {c.histogram, "--histogram"},
	} {
		if f.isSet {
			return exit.Usagef("--by path cannot be combined with %s", f.name)
		}
	}
	if !tables.SortsPaths(c.sort.Value) {
		return exit.Usagef("--by path has no --sort %s", c.sort.Value)
	}
	return nil
}

// runPaths shows what hosts send to each other.
func (c *statsOptions) runPaths() error {
	x := flags.Open(&c.Job, &records.HostPaths, scan.Options{Limit: c.Count, Concurrent: true})
	x.List = flags.Table(x.Reading, &tables.Paths)
	if c.Form.Value == "tsv" {
		x.Separate(tables.NewPathsTSV())
	}
	f := follow.New(follow.Options{Live: x.In.Live()})
	all := f.Paths()
	all.KeepTimes()
	x.Observe(f)
	return x.Run(func() { x.Emit(tables.PathRecords(all, c.sort.Value)...) })
}
