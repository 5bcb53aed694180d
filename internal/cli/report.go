package cli

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/journal"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/dissect/track/sizes"
	"github.com/lshark/lshark/dissect/track/slowest"
	"github.com/lshark/lshark/dissect/track/timeline"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render/html"
	"github.com/lshark/lshark/render/ladder"
)

// reportOptions are the flags of the command that writes a page about a capture.
type reportOptions struct {
	flags.Job
	filter *flags.RPCFilter
	title  string
}

func newReport(sys *scan.System) *cobra.Command {
	c := &reportOptions{Job: flags.NewJob(sys, "html")}
	return flags.Command(&cobra.Command{
		Use:   "report -o FILE [flags] [FILE…|-]",
		Short: "Write one HTML page about a capture, to look at, print or send",
		Long: "report writes a page that holds everything that it needs: findings, latencies over time, operations, jobs, clients and targets, " +
			"files, connections, locks, and the slowest RPCs with all their fields. Tables have their first rows only. " +
			"The page is complete when the capture has ended: a live one (-i) with -a duration:SECS, -c N or Ctrl-C.",
		Example: `  # a page to look at in a browser
  lshark report -o report.html client.pcap

  # both sides of the network, merged, with names of targets and nodes
  lshark report -o report.html client.pcap server.pcap

  # to the standard output
  lshark report -o - evicted.pcap | gzip > ~/report.html.gz

  # what happens in the next minute
  lshark report -o report.html -i eth0 -a duration:60`,
	}, c, flags.Help{
		Display: "count only RPCs that match the display filter `EXPR`, such as 'rpc.client == 192.0.2.3@tcp', in charts, statistics, sizes and the slowest RPCs; " +
			"findings, files, connections and locks are always those of the whole capture; \"lshark fields\" lists the names",
		Counted: "messages",
		Logs:    true,
		Output: func(f *pflag.FlagSet) {
			f.StringVar(&c.title, "title", "", "the heading of the page is `TEXT` (default: the names of the files)")
			c.Time.Words, c.Time.Noun = []string{"r", "a", "u"}, "time"
			f.VarP(&c.Time, "time", "t", "times when the page opens: r relative to the first frame, a local time of the reader, u UTC; the page "+
				"has a switch")
		},
	}, (*reportOptions).check, (*reportOptions).run)
}

func (c *reportOptions) check() (err error) {
	if c.filter, err = flags.RPCs(c.Display); err == nil && c.Output == "" {
		err = exit.Usagef("report needs -o FILE; -o - is the standard output")
	}
	return err
}

func (c *reportOptions) run() error {
	x := c.Open(scan.Options{Limit: c.Count, Concurrent: true, Logs: scan.LogUse{Beside: true, Elsewhere: true, Flag: "ha",
		Unknown: "the page has findings and connections"}})
	t := newPageTrackers(x.Pass, x.In.OnlyLogs(), c.filter, c.Display != "")
	return x.Run(func() error {
		captured := x.Captured()
		if captured.Damaged != "" && captured.Frames == 0 {
			return nil // it is no capture
		}
		page := t.end()
		page.Program, page.Title, page.Filter, page.Times = "lshark "+flags.Version(), c.title, c.Display, c.Time.Value
		page.NIDs = x.Options().NIDs
		page.Findings.Ladders = t.ladders(page.Findings.List, ladder.Diagram{First: x.First(), NIDs: page.NIDs}, x.In.FileNames())
		page.Capture = html.Capture{Sources: x.In.Sources(), IsLive: x.In.Live(), OnlyLogs: x.In.OnlyLogs(), First: x.First(), Last: x.Last(), Capture: captured}
		if err := x.Interrupted(); err != nil {
			page.Capture.Partial = err.Error()
		}
		return x.Out.Write(html.Append(nil, page))
	})
}

// The numbers of records that a page shows.
const (
	pageRPCs       = 25
	pageLocks      = 25
	pageFiles      = 50
	pageRecoveries = 100
	pageLadders    = 20
	pageMessages   = 16 // of a ladder, and as many others of their RPCs
)

// pageTrackers follow what a page shows, in one pass: those of the engine of lshark
// diagnose, and others beside them.
type pageTrackers struct {
	engine       *diagnose.Engine
	page         html.Page
	slowest      *slowest.Slowest
	journal      journal.Journal
	stats        []pageStats
	slowestLocks track.Top[*locks.Lock]
	holders      locks.Blockers
}

// pageStats are statistics, and where they are in the page.
type pageStats struct {
	*track.Stats
	to **track.Interval
}

// measure is what RPCs are counted or measured by, if they are selected when they have ended.
type measure interface {
	Sent(*track.RPC, *dissect.Message)
	Answered(*track.RPC, *dissect.Message)
	Done(*track.RPC)
	Drop(*track.RPC)
}

func newPageTrackers(p *scan.Pass, onlyLogs bool, filter *flags.RPCFilter, selects bool) *pageTrackers {
	t := &pageTrackers{slowest: slowest.New(pageRPCs), slowestLocks: track.Top[*locks.Lock]{Limit: pageLocks}}
	t.page.Timeline, t.page.Sizes = timeline.New(), &sizes.Sizes{}
	t.slowest.Selects = selects
	measures := []measure{t.slowest}
	for _, x := range []struct {
		by track.Dimension
		to **track.Interval
	}{{track.ByOp, &t.page.Operations}, {track.ByJob, &t.page.Jobs}, {track.ByClient, &t.page.Clients}, {track.ByTarget, &t.page.Targets}} {
		stats := track.NewStats(track.StatsOptions{By: []track.Dimension{x.by}})
		t.stats = append(t.stats, pageStats{stats, x.to})
		measures = append(measures, stats)
	}
	hooks := []follow.Hooks{{Sent: t.page.Sizes.Sent, Lock: t.lock, Recovery: t.recovery, Message: t.journal.Message, TCPEvent: t.journal.TCPEvent,
		Done: func(r *track.RPC) {
			if !filter.Match(r) {
				t.page.Sizes.Drop(r)
				for _, m := range measures {
					m.Drop(r)
				}
				return
			}
			t.page.Sizes.Done(r)
			t.page.Timeline.Done(r)
			for _, m := range measures {
				m.Done(r)
			}
		}}}
	if selects {
		hooks = append(hooks, follow.Hooks{Message: func(r *track.RPC, m *dissect.Message) {
			if r != nil {
				filter.Mark(m, p.First(), r)
			}
		}})
	}
	for _, m := range measures {
		hooks = append(hooks, follow.Hooks{Sent: m.Sent, Answered: m.Answered})
	}
	t.engine = diagnose.New(diagnose.Options{Rules: rules.All(), Follow: p.FollowOptions(), Capture: p.Captured, Hooks: hooks, OnlyLogs: onlyLogs})
	t.engine.Files()
	if filter.Nested {
		t.engine.Nested()
	}
	p.Observe(t.engine)
	return t
}

// lock takes a lock that has ended.
func (t *pageTrackers) lock(l *locks.Lock) {
	t.holders.Add(l)
	t.page.Locks.Count++
	waited, known := l.Waited()
	if !l.Blocked && len(l.BlockedBy) == 0 || !known || l.Asked.IsZero() {
		return
	}
	t.page.Locks.Waiting++
	t.slowestLocks.Add(waited, l, nil)
}

// recovery takes what happened to a target that clients had lost.
func (t *pageTrackers) recovery(r *recovery.Recovery) {
	if list := &t.page.Connections.Recoveries; r.Kind.IsOutage() && len(*list) < pageRecoveries {
		*list = append(*list, r)
	}
}

// ladders returns diagrams of what happened, by the findings that follow from no other.
func (t *pageTrackers) ladders(list []*diagnose.Finding, empty ladder.Diagram, files []string) map[*diagnose.Finding]*ladder.Diagram {
	var diagrams []*ladder.Diagram
	var remarks [][]ladder.Remark
	ladders := make(map[*diagnose.Finding]*ladder.Diagram)
	for _, s := range diagnose.Stories(list) {
		if !s.Opens() || s.Root.AboutCapture() || len(diagrams) == pageLadders {
			continue
		}
		d := empty
		d.Files = files
		var said []ladder.Remark
		for _, f := range append([]*diagnose.Finding{s.Root}, s.Followed...) {
			d.AddTarget(f.Server, cmp.Or(f.Target, f.TargetIndex))
			for _, e := range f.Evidence {
				said = append(said, ladder.Remark{Point: e.Point, Text: e.Text, Nodes: []lnet.NID{f.Client, f.Server}})
			}
		}
		ladders[s.Root] = &d
		diagrams, remarks = append(diagrams, &d), append(remarks, said)
	}
	ladder.Draw(&t.journal, diagrams, remarks, pageMessages)
	return ladders
}

// end returns the page with what was followed, when the capture has ended.
func (t *pageTrackers) end() *html.Page {
	p := &t.page
	p.Slowest = t.slowest.List()
	p.Findings = html.Findings{List: t.engine.Findings(), Dropped: t.engine.Dropped()}
	for _, s := range t.stats {
		if list := s.Intervals(); len(list) > 0 {
			*s.to = list[0]
		}
	}
	list := t.engine.Files().List()
	sortFiles(list, fileOrders[0].name)
	p.Files = html.Files{List: list[:min(pageFiles, len(list))], Count: int64(len(list))}
	for _, f := range list {
		p.Files.Reads.Add(&f.Read.Accesses)
		p.Files.Writes.Add(&f.Write.Accesses)
	}
	slices.SortStableFunc(p.Connections.Recoveries, func(a, b *recovery.Recovery) int { return cmp.Compare(a.Begin(), b.Begin()) })
	p.Connections.List = t.engine.Imports().List()
	p.Locks.Slowest, p.Locks.Holders = t.slowestLocks.List(), t.holders.List()
	return p
}
