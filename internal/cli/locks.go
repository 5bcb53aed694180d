package cli

import (
	"cmp"
	"fmt"
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
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// locksOptions are the flags of the command that shows locks, and who kept whom waiting.
type locksOptions struct {
	flags.Job
	filter   *filter.RecordFilter[*locks.Lock]
	slowest  int
	blockers bool
	stuck    bool
	resource string
	fid      flags.FID
}

func newLocks(sys *scan.System) *cobra.Command {
	c := &locksOptions{Job: flags.NewJob(sys, flags.RecordForms("table")...)}
	return flags.Command(&cobra.Command{
		Use:   "locks [flags] [FILE…|-]",
		Short: "Show locks: how long they waited and were held, and who kept them waiting",
		Long: "locks shows one row or record per lock, in the order in which they were asked for: who asked for it, how long it waited, " +
			"who kept it waiting, how long it was held, and how it ended. Of a lock from before the capture only what messages say is known. " +
			"Debug logs of nodes (--log) show locks without a capture, too.",
		Example: `  # the ten locks that waited longest, and for whom
  lshark locks --slowest 10 client.pcap

  # who kept others waiting
  lshark locks --blockers server.pcap

  # the queue of an object, as JSON
  lshark locks --resource 0x300000402:0x3a:0x0 -T json server.pcap | jq .

  # extent locks that waited for more than 5 ms
  lshark locks -Y 'lock.type == extent && lock.waited > 5ms' server.pcap`,
	}, c, flags.Help{
		Display: "only locks that match the display filter `EXPR` over keys of locks, such as 'lock.type == extent && lock.waited > 10ms'",
		Counted: "messages",
		Time:    "lock",
		Logs:    true,
		Selection: func(f *pflag.FlagSet) {
			f.IntVar(&c.slowest, "slowest", 0, "only the `N` locks that waited longest, longest first")
			f.BoolVar(&c.stuck, "stuck", false, "only locks that were never granted, or with a callback that was not answered or not obeyed")
			f.StringVar(&c.resource, "resource", "", "only locks on resources with `TEXT` in their name, such as an object or \"lustre config\"")
			f.Var(&c.fid, "fid", "only locks on the file or object with that `FID`")
		},
		Output: func(f *pflag.FlagSet) {
			f.BoolVar(&c.blockers, "blockers", false, "sum up who kept others waiting")
		},
	}, (*locksOptions).check, (*locksOptions).run)
}

func (c *locksOptions) check() (err error) {
	if c.blockers && c.slowest > 0 {
		return exit.Usagef("--blockers and --slowest exclude each other")
	}
	c.filter, err = flags.Filter(c.Display, &records.Locks)
	return err
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
	return c.filter.Match(l)
}

func (c *locksOptions) run() error {
	o := scan.Options{Limit: c.Count, Concurrent: true, Logs: scan.LoggedLocks}
	if c.blockers {
		return c.runBlockers(o)
	}
	x := flags.Open(&c.Job, &records.Locks, o)
	kind := &tables.Locks
	if c.stuck {
		kind = &tables.StuckLocks
	}
	x.List = flags.Table(x.Reading, kind)
	slowest := track.Top[*locks.Lock]{Limit: c.slowest}
	var list []*locks.Lock // for a table
	dropped := 0
	noteLogs := c.follow(x.Reading, !x.IsText(), func(l *locks.Lock) {
		switch waited, _ := l.Waited(); {
		case c.slowest > 0 && !l.Asked.IsZero():
			slowest.Add(waited, l, nil)
		case c.slowest > 0:
		case !x.IsText():
			x.Emit(l)
		default:
			if list = append(list, l); len(list) > maxLockRows {
				half := len(list) / 2
				dropped += half
				list = slices.Delete(list, 0, half)
			}
		}
	})
	return x.Run(func() {
		noteLogs()
		if c.slowest > 0 {
			list = slowest.List()
		} else { // those from before the capture first
			slices.SortStableFunc(list, func(a, b *locks.Lock) int { return cmp.Compare(a.Asked.Time, b.Asked.Time) })
		}
		x.Emit(list...)
		var longest int64
		for _, l := range list {
			if waited, _ := l.Waited(); waited > longest && l.Handle != 0 {
				longest, x.Next = waited, fmt.Sprintf("ladder --lock 0x%x", l.Handle)
			}
		}
		if dropped > 0 {
			x.Note("%d locks are not in the table; -T json has all", dropped)
		}
	})
}

// maxLockRows is how many locks are kept for a table.
const maxLockRows = 1 << 12

// runBlockers sums up who kept others waiting.
func (c *locksOptions) runBlockers(o scan.Options) error {
	x := flags.Open(&c.Job, &records.Holders, o)
	x.List = flags.Table(x.Reading, &tables.Holders)
	var sums locks.Blockers
	noteLogs := c.follow(x.Reading, false, sums.Add)
	return x.Run(func() {
		noteLogs()
		if sums.Dropped > 0 {
			x.Note("%d waits for further holders are not shown", sums.Dropped)
		}
		x.Emit(sums.List()...)
	})
}

// follow passes the locks that the flags select to add, with the lines of logs when lines is set.
// It returns a func for the end, which notes that the logs have nothing about locks.
func (c *locksOptions) follow(x *flags.Reading, lines bool, add func(*locks.Lock)) (noteLogs func()) {
	logged := len(x.In.LogNames()) == 0
	f := x.Follow(follow.Hooks{Lock: func(l *locks.Lock) {
		if logged = logged || len(l.Lines) > 0; c.selects(l) {
			add(l)
		}
	}})
	f.LockLines()
	f.Locks().KeepLines = lines
	return func() {
		if !logged && !x.In.OnlyLogs() {
			x.Note("the logs have nothing about locks of the capture; lctl set_param debug=+dlmtrace lets a node log it")
		}
	}
}
