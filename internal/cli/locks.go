package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// locksOptions are the flags of the command that shows locks, and who kept whom waiting.
type locksOptions struct {
	flags.Records[*locks.Lock]
	slowest  int
	blockers bool
	stuck    bool
	resource string
	fid      flags.FID
}

func newLocks(sys *scan.System) *cobra.Command {
	c := &locksOptions{Records: flags.NewRecords(sys, &records.Locks, "table", "json", "fields", flags.ParquetForm)}
	cmd := &cobra.Command{
		Use:   "locks [flags] [FILE…|-]",
		Short: "Show locks: how long they waited and were held, and who kept them waiting",
		Long: "locks shows one row or record per lock: who asked for it, how long it waited, who kept it waiting, how long it was held, " +
			"and how it ended. Extent locks, locks of inodes, flocks and group locks are shown, those of configuration logs and quota, too.\n\n" +
			"A lock keeps another one waiting when the server said so: with a blocking callback to its holder that describes the other lock, or that " +
			"is not obeyed yet while the other lock is in conflict. For flocks and group locks, which have no such callbacks, both are on the " +
			"same range or object. " +
			"Locks of the servers themselves are never sent, so who waits for one has no holder.\n\n" +
			"Of a lock from before the capture only what messages say is known: its handle, in a blocking callback its resource. " +
			"In the table, locks are in the order in which they were asked for; bl counts callbacks that ask the client for the lock.\n\n" +
			"Debug logs of nodes (lctl dk, with debug=+dlmtrace+rpctrace) without a capture show locks, too. A lock keeps another one waiting when the " +
			"thread that works for the other one logs it as incompatible.\n\n" +
			"--blockers sums up who kept others waiting, by node, job and resource.",
		Example: `  # the ten locks that waited longest, and for whom
  lshark locks --slowest 10 client.pcap

  # who kept others waiting
  lshark locks --blockers server.pcap

  # the queue of an object, as JSON
  lshark locks --resource 0x300000402:0x3a:0x0 -T json server.pcap | jq .

  # extent locks that waited for more than 5 ms
  lshark locks -Y 'lock.type == extent && lock.waited > 5ms' server.pcap`,
	}
	cmd.RunE = flags.RunE(c, (*locksOptions).run)
	flags.Add(cmd, flags.InputGroup, c.Input.RegisterLogs)
	c.Register(cmd, flags.Help{
		Display: "only locks that match the display filter `EXPR` over keys of locks, such as 'lock.type == extent && lock.waited > 10ms'",
		Time:    flags.TimeHelp("lock"),
		Selection: func(f *pflag.FlagSet) {
			f.IntVar(&c.slowest, "slowest", 0, "only the `N` locks that waited longest, longest first")
			f.BoolVar(&c.stuck, "stuck", false, "only locks that were never granted, or with a callback that was not answered or not obeyed")
			f.StringVar(&c.resource, "resource", "", "only locks on resources with `TEXT` in their name, such as an object or \"lustre config\"")
			f.StringVar(&c.fid.Text, "fid", "", "only locks on the file or object with that `FID`")
		},
		Output: func(f *pflag.FlagSet) {
			f.BoolVar(&c.blockers, "blockers", false, "sum up who kept others waiting")
		},
	})
	return cmd
}

func (c *locksOptions) check() error {
	switch {
	case c.slowest < 0:
		return exit.Usagef("--slowest %d: must not be negative", c.slowest)
	case c.blockers && c.slowest > 0:
		return exit.Usagef("--blockers and --slowest exclude each other")
	case c.blockers && (c.View.Form.Value == "fields" || c.View.Form.Value == flags.ParquetForm):
		return exit.Usagef("--blockers has no -T %s", c.View.Form.Value)
	}
	return errors.Join(c.fid.Check(), c.Check())
}

func (c *locksOptions) selects(l *locks.Lock) bool {
	if c.stuck && !l.IsStuck() {
		return false
	}
	if c.fid.IsSet() {
		if seq, oid, ver, ok := l.Desc.FID(); !ok || c.fid.Value != (track.FID{Seq: seq, OID: oid, Ver: ver}) {
			return false
		}
	}
	if c.resource != "" && !strings.Contains(string(l.Desc.AppendResource(nil)), c.resource) {
		return false
	}
	return c.Filter.Match(l)
}

func (c *locksOptions) run() error {
	x, err := c.Start(c.check, scan.Options{Logs: scan.LoggedLocks})
	if err != nil {
		return err
	}
	out := &locksOutput{Reading: x, slowest: c.slowest, most: maxLockRows}
	if x.In.OnlyLogs() {
		out.most = maxLoggedRows
	}
	var sums locks.Blockers
	logged := len(x.In.LogNames()) == 0
	f := x.Follow(follow.Hooks{Lock: func(l *locks.Lock) {
		switch logged = logged || len(l.Lines) > 0; {
		case !c.selects(l):
		case c.blockers:
			sums.Add(l)
		default:
			out.add(l)
		}
	}})
	f.LockLines()
	f.Locks().KeepLines = out.Out.Append != nil
	return x.Run(func() error {
		if !logged && !x.In.OnlyLogs() {
			x.Note("the logs have nothing about locks of the capture; lctl set_param debug=+dlmtrace lets a node log it")
		}
		if !c.blockers {
			return c.finish(out)
		}
		if sums.Dropped > 0 {
			x.Note("%d waits for further holders are not shown", sums.Dropped)
		}
		return flags.WriteSums(x, &tables.Holders, sums.List())
	})
}

// finish writes the locks that are kept until the end.
func (c *locksOptions) finish(out *locksOutput) error {
	list := out.sorted()
	if out.dropped > 0 {
		out.Note("%d locks are not in the table; -T json has all", out.dropped)
	}
	kind := &tables.Locks
	if c.stuck {
		kind = &tables.StuckLocks
	}
	return out.WriteAll(list, flags.Table(out.Reading, kind))
}

// locksOutput writes locks as records when they end, or keeps them until the end
// of the capture: for a table, and to find the slowest.
type locksOutput struct {
	*flags.Reading[*locks.Lock]
	slowest int // 0: all
	most    int // are kept for a table
	kept    []*locks.Lock
	dropped int
	buf     []byte
}

// So many locks are kept for a table, and of logs, which are larger than captures.
const (
	maxLockRows   = 1 << 16
	maxLoggedRows = 1 << 12
)

func (o *locksOutput) add(l *locks.Lock) {
	if o.Out.Append != nil && o.slowest == 0 {
		o.buf = o.Out.Append(o.buf[:0], l)
		o.Fail(o.Out.Write(o.buf))
		return
	}
	o.kept = append(o.kept, l)
	switch {
	case o.slowest > 0 && len(o.kept) >= 2*max(o.slowest, 1<<10):
		o.kept = o.sorted()
	case o.slowest == 0 && len(o.kept) > o.most:
		half := len(o.kept) / 2
		o.dropped += half
		o.kept = slices.Delete(o.kept, 0, half)
	}
}

// sorted returns the locks that are kept: those that waited longest, or all in the
// order in which they were asked for, behind those from before the capture.
func (o *locksOutput) sorted() []*locks.Lock {
	if o.slowest == 0 {
		slices.SortStableFunc(o.kept, func(a, b *locks.Lock) int { return cmp.Compare(a.Asked.Time, b.Asked.Time) })
		return o.kept
	}
	o.kept = slices.DeleteFunc(o.kept, func(l *locks.Lock) bool { return l.Asked.IsZero() })
	slices.SortStableFunc(o.kept, func(a, b *locks.Lock) int {
		x, _ := a.Waited()
		y, _ := b.Waited()
		return cmp.Compare(y, x)
	})
	return o.kept[:min(o.slowest, len(o.kept))]
}
