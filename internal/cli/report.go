package cli

import (
	"cmp"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/track"
	trackedfiles "github.com/lshark/lshark/dissect/track/files"
	trackedlocks "github.com/lshark/lshark/dissect/track/locks"
	trackedrecovery "github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/dissect/track/sizes"
	trackedslowest "github.com/lshark/lshark/dissect/track/slowest"
	"github.com/lshark/lshark/dissect/track/timeline"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/html"
)

// htmlReport is the command that writes a page about a capture.
type htmlReport struct {
	sys      *scan.System
	input    scan.Flags
	output   string
	count    int
	fullNIDs bool
}

func newReport(sys *scan.System) *cobra.Command {
	c := &htmlReport{sys: sys}
	cmd := &cobra.Command{
		Use:   "report -o FILE [flags] [FILE…|-]",
		Short: "Write one HTML page about a capture, to look at, print or send",
		Long: "report writes a page that holds everything that it needs: it loads nothing from the network and sends nothing. " +
			"What was captured and what limits it comes first, then the findings of lshark diagnose, latencies over time, percentiles by operation, the mix of operations over time, " +
			"jobs, clients and targets, files, sizes and offsets, connections and evictions, locks and their waits, and the slowest RPCs with all their fields.\n\n" +
			"The numbers are those of stats, diagnose, files, imports and locks. Tables have their first rows only, and so the page stays small. " +
			"They can be searched and sorted; without JavaScript everything is visible, too.\n\n" +
			"The page is written when the capture has ended: to a temporary name first, which becomes FILE when it is complete. " +
			"A live capture (-i) ends with -a duration:SECS, -c N or Ctrl-C.",
		Example: `  # a page to look at in a browser
  lshark report -o report.html client.pcap

  # both sides of the network, merged, with names of targets and nodes
  lshark report -o report.html client.pcap server.pcap

  # to the standard output
  lshark report -o - evicted.pcap | gzip > ~/report.html.gz

  # what happens in the next minute
  lshark report -o report.html -i eth0 -a duration:60`,
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags.AddInput(cmd, sys, &c.input)
	flags.Add(cmd, flags.SelectionGroup, func(f *pflag.FlagSet) {
		f.IntVarP(&c.count, "count", "c", 0, "stop after `N` messages")
	})
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) {
		f.StringVarP(&c.output, "output", "o", "", "write the page to `FILE`, - for the standard output")
		f.BoolVarP(&c.fullNIDs, "no-names", "n", false, "show full NIDs, including @tcp, and no names of nodes")
		c.input.RegisterNotes(f)
	})
	return cmd
}

func (c *htmlReport) run(args []string) error {
	in, err := c.input.Check(args, c.sys.InTTY)
	switch {
	case c.output == "":
		err = errors.Join(err, exit.Usagef("report needs -o FILE; -o - is the standard output"))
	case c.count < 0:
		err = errors.Join(err, exit.Usagef("-c %d: must not be negative", c.count))
	}
	if err != nil {
		return err
	}
	w, err := in.NewWriter(c.sys, "-o", c.output)
	if err != nil {
		return err
	}
	return errors.Join(c.write(in, w.Write), w.Close())
}

// write reads the input and passes the page to a func.
func (c *htmlReport) write(in *scan.Input, write func(page []byte) error) error {
	p := scan.New(c.sys, in, scan.Options{Limit: c.count})
	t := newPageTrackers(p, in)
	e := t.engine
	p.Add(scan.Consumer{
		Message: func(m *dissect.Message) error {
			e.Message(m)
			return nil
		},
		Later:   e.Later,
		Lost:    e.Lost,
		Marked:  e.Marked,
		Refused: e.Refused,
		Idle: func(now int64) error {
			e.Advance(now)
			t.files.Advance(now)
			return nil
		},
		End: func() error {
			captured := p.Quality().Capture()
			if captured.Damaged != "" && captured.Frames == 0 {
				return nil // it is no capture
			}
			e.Close(captured)
			page := t.page()
			page.Program = "lshark " + flags.Version()
			page.NIDs = render.NIDs{Full: c.fullNIDs, Name: in.NodeNames()}
			page.Capture = html.Capture{Sources: in.Sources(), IsLive: in.Live(), First: p.First(), Last: p.Last(), Capture: captured}
			return write(html.Append(nil, page))
		},
	})
	return p.Run()
}

// The numbers of records that a page shows.
const (
	pageRPCs       = 25
	pageLocks      = 25
	pageFiles      = 50
	pageRecoveries = 100
)

// pageTrackers follow what a page shows, in one pass: those of the engine of lshark
// diagnose, and others beside them.
type pageTrackers struct {
	engine   *diagnose.Engine
	files    *trackedfiles.Files
	timeline *timeline.Timeline
	sizes    sizes.Sizes
	slowest  *trackedslowest.Slowest

	operations, jobs, clients, targets *track.Stats

	locks      html.Locks
	holders    trackedlocks.Blockers
	recoveries []*trackedrecovery.Recovery
}

func newPageTrackers(p *scan.Pass, in *scan.Input) *pageTrackers {
	t := &pageTrackers{files: trackedfiles.New(), timeline: timeline.New(), slowest: trackedslowest.New(pageRPCs)}
	statsBy := func(d track.Dimension) *track.Stats {
		return track.NewStats(track.StatsOptions{By: []track.Dimension{d}})
	}
	t.operations, t.jobs, t.clients, t.targets = statsBy(track.ByOp), statsBy(track.ByJob), statsBy(track.ByClient), statsBy(track.ByTarget)
	stats := []*track.Stats{t.operations, t.jobs, t.clients, t.targets}
	o := diagnose.Options{Rules: rules.All(), Hooks: []diagnose.Hooks{{
		Sent: func(r *track.RPC, m *dissect.Message) {
			t.files.Sent(r, m)
			t.sizes.Sent(r, m)
			t.slowest.Sent(r, m)
			for _, s := range stats {
				s.Sent(r, m)
			}
		},
		Answered: func(r *track.RPC, m *dissect.Message) {
			t.files.Answered(r, m)
			t.slowest.Answered(r, m)
			for _, s := range stats {
				s.Answered(r, m)
			}
		},
		Done: func(r *track.RPC) {
			t.files.Done(r)
			t.sizes.Done(r)
			t.slowest.Done(r)
			t.timeline.Done(r)
			for _, s := range stats {
				s.Done(r)
			}
		},
		Lock:     t.lock,
		Recovery: t.recovery,
	}}}
	o.RPCs, o.Locks = in.TrackOptions()
	o.RPCs.Bulk = t.files.Bulk
	o.RPCs = p.FindTargets(o.RPCs)
	t.engine = diagnose.New(o)
	return t
}

// lock takes a lock that has ended.
func (t *pageTrackers) lock(l *trackedlocks.Lock) {
	t.files.Lock(l)
	t.holders.Add(l)
	l0 := &t.locks
	l0.Count++
	waited, known := l.Waited()
	if !l.Blocked && len(l.BlockedBy) == 0 || !known || l.Asked.Frame == 0 {
		return
	}
	l0.Waiting++
	at, _ := slices.BinarySearchFunc(l0.Slowest, waited, func(x *trackedlocks.Lock, waited int64) int {
		ns, _ := x.Waited()
		return cmp.Or(cmp.Compare(waited, ns), -1)
	})
	if at < pageLocks {
		l0.Slowest = slices.Insert(l0.Slowest, at, l)
		l0.Slowest = l0.Slowest[:min(pageLocks, len(l0.Slowest))]
	}
}

// recovery takes what happened to a target that clients had lost.
func (t *pageTrackers) recovery(r *trackedrecovery.Recovery) {
	if r.Kind.IsOutage() && len(t.recoveries) < pageRecoveries {
		t.recoveries = append(t.recoveries, r)
	}
}

// page returns what was followed, when the capture has ended.
func (t *pageTrackers) page() *html.Page {
	p := &html.Page{Timeline: t.timeline, Sizes: &t.sizes, Slowest: t.slowest.List(), Locks: t.locks}
	p.Findings = html.Findings{List: t.engine.Findings(), Dropped: t.engine.Dropped()}
	for _, s := range []struct {
		stats *track.Stats
		to    **track.Interval
	}{{t.operations, &p.Operations}, {t.jobs, &p.Jobs}, {t.clients, &p.Clients}, {t.targets, &p.Targets}} {
		if list := s.stats.Intervals(); len(list) > 0 {
			*s.to = list[0]
		}
	}
	list := t.files.List()
	sortFiles(list, fileOrderList[0].name)
	p.Files = html.Files{List: list[:min(pageFiles, len(list))], Count: int64(len(list))}
	for _, f := range list {
		p.Files.Accesses.Reads.Add(&f.Read.Accesses)
		p.Files.Accesses.Writes.Add(&f.Write.Accesses)
	}
	slices.SortStableFunc(t.recoveries, func(a, b *trackedrecovery.Recovery) int { return cmp.Compare(a.Begin(), b.Begin()) })
	p.Connections = html.Connections{List: t.engine.Imports(), Recoveries: t.recoveries}
	p.Locks.Holders = t.holders.List()
	return p
}
