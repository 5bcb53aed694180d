package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	trackedlocks "github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// locks is the command that shows locks, and who kept whom waiting.
type locks struct {
	flags.Records[*trackedlocks.Lock]
	sys      *scan.System
	slowest  int
	blockers bool
	stuck    bool
	resource string
	fid      flags.FID
}

func newLocks(sys *scan.System) *cobra.Command {
	c := &locks{sys: sys, Records: flags.NewRecords(&records.Locks, "table", "json", "fields", flags.ParquetForm)}
	cmd := &cobra.Command{
		Use:   "locks [flags] [FILE…|-]",
		Short: "Show locks: how long they waited and were held, and who kept them waiting",
		Long: "locks shows one row or record per lock: who asked for it, how long it waited, who kept it waiting, how long it was held, " +
			"and how it ended. Extent locks, locks of inodes, flocks and group locks are shown, those of configuration logs and quota, too.\n\n" +
			"A lock keeps another one waiting when the server said so: with a blocking callback to its holder that describes the other lock, or that " +
			"is not obeyed yet while the other lock is in conflict. For flocks and group locks, which have no such callbacks, both are on the same range or object. " +
			"Locks of the servers themselves are never sent, so who waits for one has no holder.\n\n" +
			"Of a lock from before the capture only what messages say is known: its handle, in a blocking callback its resource. " +
			"In the table, locks are in the order in which they were asked for; bl counts callbacks that ask the client for the lock.\n\n" +
			"--blockers sums up who kept others waiting, by node, job and resource.",
		Example: `  # the ten locks that waited longest, and for whom
  lshark locks --slowest 10 client.pcap

  # who kept others waiting
  lshark locks --blockers server.pcap

  # the queue of an object, as JSON
  lshark locks --resource 0x300000402:0x3a:0x0 -T json server.pcap | jq .

  # extent locks that waited for more than 5 ms
  lshark locks -Y 'lock.type == extent && lock.waited > 5ms' server.pcap`,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.Output.Run(sys, c.Input, args, c.View.Form.Value, func(j flags.Job) error {
				one := *c
				one.sys, one.Input, one.Output = j.Sys, j.Input, j.Output
				return one.run(j.Args)
			})
		},
	}
	flags.AddInput(cmd, sys, &c.Input)
	flags.Add(cmd, flags.SelectionGroup, func(f *pflag.FlagSet) {
		c.RegisterSelection(f, "only locks that match the display filter `EXPR` over keys of locks, such as 'lock.type == extent && lock.waited > 10ms'")
		f.IntVar(&c.slowest, "slowest", 0, "only the `N` locks that waited longest, longest first")
		f.BoolVar(&c.stuck, "stuck", false, "only locks that were never granted, or with a callback that was not answered or not obeyed")
		f.StringVar(&c.resource, "resource", "", "only locks on resources with `TEXT` in their name, such as an object or \"lustre config\"")
		f.StringVar(&c.fid.Text, "fid", "", "only locks on the file or object with that `FID`")
	})
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) {
		c.View.RegisterForm(f)
		f.BoolVar(&c.blockers, "blockers", false, "sum up who kept others waiting")
		c.Columns.Register(f, "the JSON key")
		c.Output.Register(cmd, f)
		c.View.Register(f, flags.TimeHelp("lock"))
		c.Input.RegisterNotes(f)
	})
	return cmd
}

func (c *locks) check() error {
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

// selects reports whether the flags select a lock.
func (c *locks) selects(l *trackedlocks.Lock) bool {
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

func (c *locks) run(args []string) error {
	in, err := c.Input.Check(args, c.sys.InTTY)
	if err := errors.Join(err, c.check()); err != nil {
		return err
	}
	c.View.NodeName = in.NodeNames()
	p := scan.New(c.sys, in, scan.Options{Limit: c.Count})
	w, err := c.Open(c.sys, in, p)
	if err != nil {
		return err
	}
	out := &locksOutput{w: w, slowest: c.slowest}
	var sums trackedlocks.Blockers
	o, linger := in.TrackOptions()
	imports := track.NewImports()
	follow := trackedlocks.New(imports, linger, func(l *trackedlocks.Lock) {
		switch {
		case !c.selects(l):
		case c.blockers:
			sums.Add(l)
		default:
			out.add(l)
		}
	})
	o.Follow(imports, follow)
	t := track.NewPairing(p.FindTargets(o))
	p.Add(scan.Consumer{
		Begin: func() error { return w.Write(w.Header) },
		Message: func(m *dissect.Message) error {
			t.Message(m)
			return out.err
		},
		Later: t.Later,
		Lost:  t.Lost,
		Idle: func(now int64) error {
			t.Advance(now)
			follow.Advance(now)
			return errors.Join(out.err, out.w.Flush())
		},
		End: func() error {
			t.Advance(p.Last())
			t.Close()
			follow.Advance(p.Last())
			follow.Close()
			if c.blockers {
				if sums.Dropped > 0 {
					p.Note("%d waits for further holders are not shown", sums.Dropped)
				}
				return errors.Join(out.err, out.w.Write(c.renderHolders(sums.List(), p)))
			}
			return c.finish(out, p)
		},
	})
	return errors.Join(p.Run(), out.w.Close())
}

// finish writes the locks that are kept until the end.
func (c *locks) finish(out *locksOutput, p *scan.Pass) error {
	list := out.sorted()
	if out.dropped > 0 {
		p.Note("%d locks are not in the table; -T json has all", out.dropped)
	}
	if out.w.Append != nil {
		for _, l := range list {
			out.write(l)
		}
		return out.err
	}
	if len(list) == 0 {
		return out.err
	}
	t := tables.NewLocksTable(c.View.Options(c.sys.IO), p.First())
	buf := t.Append(nil, list)
	p.NoteHidden(t.Omitted.String())
	return errors.Join(out.err, out.w.Write(buf))
}

// renderHolders returns who kept others waiting in the form that the flags choose.
func (c *locks) renderHolders(list []*trackedlocks.Holder, p *scan.Pass) (buf []byte) {
	if c.View.Form.Value == "json" {
		return render.NewRecordJSON(records.Holders.Keys(), false).AppendLines(nil, list)
	}
	if len(list) == 0 {
		return nil
	}
	t := tables.NewHoldersTable(c.View.Options(c.sys.IO))
	buf = t.Append(nil, list)
	p.NoteHidden(t.Omitted.String())
	return buf
}

// locksOutput writes locks as records when they end, or keeps them until the end
// of the capture: for a table, and to find the slowest.
type locksOutput struct {
	w       *flags.RecordWriter[*trackedlocks.Lock]
	slowest int // 0: all
	kept    []*trackedlocks.Lock
	dropped int
	buf     []byte
	err     error
}

// maxLockRows is the number of locks that are kept for a table.
const maxLockRows = 1 << 16

func (o *locksOutput) add(l *trackedlocks.Lock) {
	if o.w.Append != nil && o.slowest == 0 {
		o.write(l)
		return
	}
	o.kept = append(o.kept, l)
	switch {
	case o.slowest > 0 && len(o.kept) >= 2*max(o.slowest, 1<<10):
		o.kept = o.sorted()
	case o.slowest == 0 && len(o.kept) > maxLockRows:
		half := len(o.kept) / 2
		o.dropped += half
		o.kept = slices.Delete(o.kept, 0, half)
	}
}

func (o *locksOutput) write(l *trackedlocks.Lock) {
	if o.err == nil {
		o.buf = o.w.Append(o.buf[:0], l)
		o.err = o.w.Write(o.buf)
	}
}

// sorted returns the locks that are kept: those that waited longest, or all in the
// order in which they were asked for, behind those from before the capture.
func (o *locksOutput) sorted() []*trackedlocks.Lock {
	if o.slowest == 0 {
		slices.SortStableFunc(o.kept, func(a, b *trackedlocks.Lock) int { return cmp.Compare(a.Asked.Time, b.Asked.Time) })
		return o.kept
	}
	o.kept = slices.DeleteFunc(o.kept, func(l *trackedlocks.Lock) bool { return l.Asked.Frame == 0 })
	slices.SortStableFunc(o.kept, func(a, b *trackedlocks.Lock) int {
		x, _ := a.Waited()
		y, _ := b.Waited()
		return cmp.Compare(y, x)
	})
	return o.kept[:min(o.slowest, len(o.kept))]
}
