package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/comparison"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/tables"
)

// diffOptions are the flags of the command that compares two captures.
type diffOptions struct {
	flags.Job
	by       string
	before   []string
	after    []string
	all      bool
	timeout  time.Duration
	messages bool

	table tables.StatsOptions // By is that of check
}

func newDiff(sys *scan.System) *cobra.Command {
	c := &diffOptions{Job: flags.NewJob(sys, "table", "json")}
	return flags.Command(&cobra.Command{
		Use:   "diff [flags] BEFORE AFTER",
		Short: "Compare two captures: what has changed beyond noise",
		Long: "diff compares the statistics of two captures: rates of operations, errors, latencies, round trips, retransmission, sizes, and the " +
			"releases and connect flags of the connections to each target. It shows what has changed beyond noise; --all shows everything. " +
			"A few RPCs prove nothing, and that servers were busier that day is no change of the server. docs/usage.md says how it decides.",
		Example: `  # what has changed
  lshark diff before.pcap after.pcap

  # by target and operation, everything
  lshark diff --by target,op --all before.pcap after.pcap

  # only RPCs of one client
  lshark diff -Y 'rpc.client == 192.0.2.3@tcp' before.pcap after.pcap

  # operations with other latencies, as JSON
  lshark diff -T json before.pcap after.pcap |
    jq 'select(.changed | index("p50"))'

  # two messages field by field
  lshark diff --messages before.pcap:24 after.pcap:32

  # the requests of two RPCs, and their replies
  lshark diff --messages mds.pcap:x1882522806458496 mds.pcap:x1882522806472448

  # the second capture is in two files
  lshark diff --before before.pcap --after after.pcap --after after2.pcap`,
	}, c, flags.Help{
		Display: "only RPCs that match the display filter `EXPR`, and their connections, such as " +
			"'pb_opc == OST_WRITE && rpc.target == \"lustre-OST0000\"'; \"lshark fields\" lists the names",
		Counted: "messages of each capture",
		Pair:    true,
		ToOut:   true,
		Selection: func(f *pflag.FlagSet) {
			f.StringArrayVar(&c.before, "before", nil, "read `FILE` as part of the first capture, instead of BEFORE; may be repeated")
			f.StringArrayVar(&c.after, "after", nil, "read `FILE` as part of the second capture, instead of AFTER; may be repeated")
			f.BoolVar(&c.messages, "messages", false, "compare two messages, given as FILE:FRAME or FILE:xXID, field by field: values, sizes, "+
				"structs, and what only one has")
			f.BoolVar(&c.all, "all", false, "also what has not changed")
			registerTimeout(f, &c.timeout)
		},
		Output: func(f *pflag.FlagSet) {
			f.StringVar(&c.by, "by", "op", "group by `KEYS`, separated by commas: "+flags.WordList(comparedKeys()))
		},
	}, (*diffOptions).check, (*diffOptions).run)
}

func (c *diffOptions) inputs() (before, after *scan.Input, err error) {
	files := append(slices.Clone(c.Input.Read), c.Args...)
	switch {
	case len(c.before)+len(c.after) == 0:
		if len(files) != 2 {
			return nil, nil, exit.Usagef("diff needs two captures, BEFORE and AFTER, not %d; for several files each, use --before and --after",
				len(files))
		}
		c.before, c.after = files[:1], files[1:]
	case len(files) > 0:
		return nil, nil, exit.Usagef("%s: with --before and --after, all files need one of them", files[0])
	case len(c.before) == 0 || len(c.after) == 0:
		return nil, nil, exit.Usagef("--before and --after need each other")
	}
	if slices.Contains(c.before, "-") && slices.Contains(c.after, "-") {
		return nil, nil, exit.Usagef("standard input is named twice, but can be read only once")
	}
	for _, file := range slices.Concat(c.before, c.after) {
		// Found out now, and not when the first capture has been read.
		switch info, err := scan.Stat(file); {
		case err != nil:
			return nil, nil, fmt.Errorf("open %s: %w", file, errors.Unwrap(err))
		case info.IsDir():
			return nil, nil, fmt.Errorf("open %s: is a directory", file)
		}
	}
	check := func(files, others []string) (*scan.Input, error) {
		f := c.Input
		f.Read, f.Offsets = files, nil
		for _, o := range c.Input.Offsets {
			if !isOffsetOf(o, others) || isOffsetOf(o, files) {
				f.Offsets = append(f.Offsets, o)
			}
		}
		return f.Check(nil, false)
	}
	before, err = check(c.before, c.after)
	if err == nil {
		after, err = check(c.after, c.before)
	}
	return before, after, err
}

func comparedKeys() []string {
	return slices.DeleteFunc(slices.Clone(track.DimensionNames()), func(name string) bool {
		d, _ := track.ParseDimension(name)
		return d.NeedsSubject()
	})
}

func (c *diffOptions) check() (err error) {
	if c.messages {
		return nil
	}
	c.table.By, err = parseDimensions(c.by)
	_, wrong := flags.RPCs(c.Display)
	if slices.ContainsFunc(c.table.By, track.Dimension.NeedsSubject) {
		err = exit.Usagef("--by %s: files and objects of two captures are not compared", c.by)
	}
	return errors.Join(err, wrong, checkTimeout(c.timeout))
}

type measured struct {
	*scan.Pass
	stats   *comparison.Stats
	imports *track.Imports
}

func (c *diffOptions) measure(in *scan.Input) *measured {
	s := &measured{stats: comparison.NewStats(c.table.By), Pass: scan.New(c.Sys, in, scan.Options{Limit: c.Count})}
	filter, err := flags.RPCs(c.Display) // keeps what it has seen of a capture
	s.Fail(err)
	f := followRPCs(s.Pass, filter, c.timeout, s.FollowOptions())
	s.imports = f.Imports()
	f.Add(follow.Hooks{
		Sent:     s.stats.Sent,
		Answered: s.stats.Answered,
		Done: func(r *track.RPC) {
			if !filter.Match(r) {
				s.stats.Drop(r)
				return
			}
			s.imports.Select(r)
			s.stats.Done(r)
		},
	})
	return s
}

// connections returns the connections of the RPCs that match.
func (s *measured) connections() []*track.Import {
	return slices.DeleteFunc(s.imports.List(), func(i *track.Import) bool { return !i.Selected })
}

func (c *diffOptions) run() error {
	if c.messages {
		return c.runMessages()
	}
	first, second, err := c.inputs()
	if err != nil {
		return err
	}
	c.NodeName = first.NodeNames()
	before, after := c.measure(first), c.measure(second)
	failed := before.Run()
	if errors.As(failed, new(exit.Interrupted)) {
		return failed // there is nothing to compare it with
	}
	return errors.Join(failed, after.Run(), c.write(c.compare(before, after)))
}

func (c *diffOptions) write(text *schema.Marked) error {
	w := c.Sys.NewWriter(iostreams.FlushWhenFull)
	return errors.Join(w.Write(render.NewColors(c.Colored()).Paint(nil, text)), w.Close())
}

// compare returns what has changed, in the form that the flags choose.
func (c *diffOptions) compare(before, after *measured) *schema.Marked {
	text := &schema.Marked{}
	for _, s := range []*measured{before, after} {
		s.stats.SetTime(s.First(), s.Last())
		if n := s.stats.Dropped(); n > 0 {
			s.Note("too many rows: %d RPCs are in (all) only", n)
		}
	}
	rows := comparison.Rows(before.stats, after.stats)
	connections := comparison.Connections(before.connections(), after.connections())
	compared, connects, tooFew := len(rows), len(connections), 0
	for _, r := range rows {
		if r.TooFew() {
			tooFew++
		}
	}
	if !c.all {
		rows = slices.DeleteFunc(rows, func(r *comparison.Row) bool { return len(r.Changed) == 0 })
		connections = slices.DeleteFunc(connections, func(n *comparison.Connection) bool { return len(n.Changed) == 0 })
	}
	if len(rows)+len(connections) == 0 && compared > 0 {
		few := ""
		if tooFew > 0 {
			few = fmt.Sprintf(", %d of them too few to prove a change", tooFew)
		}
		after.Note("nothing has changed beyond noise: %d rows of RPCs%s, and the connects to %d targets compared", compared, few, connects)
	}
	if c.Form.Value == "json" {
		text.Text = tables.AppendChangesJSON(nil, c.table.By, rows, connections)
		return text
	}
	o := c.Options()
	c.table.Width, c.table.NIDs = o.Width, o.NIDs
	t := tables.NewChangesTable(c.table, c.all)
	t.Append(text, rows)
	after.NoteHidden(t.Omitted())
	if len(rows) > 0 && len(connections) > 0 {
		text.Plain("\n")
	}
	tables.NewNegotiatedText(o, "before", "after").Append(text, connections)
	return text
}

func isOffsetOf(offset string, files []string) bool {
	file := offset[:max(0, strings.LastIndexByte(offset, '='))] // a file name may have one, too
	return slices.Contains(files, file)
}
