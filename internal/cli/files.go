package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// filesOptions are the flags of the command that shows files: their paths and layouts, and who did what
// with them.
type filesOptions struct {
	flags.Job
	filter *filter.RecordFilter[*files.File]
	by     flags.Choice
	sort   flags.Choice
	top    int
	path   string
	fid    flags.FID

	timeline flags.FID
}

func newFiles(sys *scan.System) *cobra.Command {
	c := &filesOptions{Job: flags.NewJob(sys, flags.RecordForms("table")...),
		by:   flags.Choice{Value: "file", Words: []string{"file", "dir"}, Flag: "--by", Placeholder: "KEY", Noun: "key"},
		sort: flags.Choice{Value: "bytes", Words: fileOrderNames(), Flag: "--sort", Placeholder: "ORDER", Noun: "order"}}
	return flags.Command(&cobra.Command{
		Use:   "files [flags] [FILE…|-]",
		Short: "Show files: path, layout, who read and wrote what, and how",
		Long: "files shows one row or record per file: its path and layout, how often it was opened, how much was read and written, by whom, " +
			"whether its offsets are sequential, strided or random, what failed, and how long its locks waited and were held. Bytes are " +
			"those that servers and clients moved: what a client reads from its page cache is on no wire.",
		Example: `  # the files with the most bytes
  lshark files client.pcap

  # what was done below a directory, by directory
  lshark files --by dir --path /data client.pcap

  # who wrote the files with more than 100 KiB
  lshark files -Y 'file.write_bytes > 100K' -T json server.pcap |
    jq -c '[.path, .clients, .write_bytes]'

  # what cp waited for: RPCs about a file by process, in their order
  lshark files --timeline 0x200000403:0x2:0x0 client.pcap

  # files with errors, with the most RPCs first
  lshark files -Y file.errors --sort rpcs client.pcap`,
	}, c, flags.Help{
		Display: "only files that match the display filter `EXPR` over keys of files, such as 'file.write_bytes > 1M'",
		Counted: "messages",
		Time:    "RPC of --timeline",
		Selection: func(f *pflag.FlagSet) {
			f.IntVar(&c.top, "top", 0, "only the first `N` files in the order of --sort")
			f.StringVar(&c.path, "path", "", "only files with `TEXT` in their path")
			f.Var(&c.timeline, "timeline", "the RPCs about the file with that `FID`, by job, or process, as lines or with -T json")
			f.Var(&c.fid, "fid", "only the file with that `FID`, or that with an OST object of that FID")
		},
		Output: func(f *pflag.FlagSet) {
			f.Var(&c.by, "by", "sum up by: "+flags.WordList(c.by.Words))
			f.Var(&c.sort, "sort", "order of the rows: "+flags.WordList(c.sort.Words))
		},
	}, (*filesOptions).check, (*filesOptions).run)
}

// fileOrders are the orders of files: by how much, the most first. Files that have as much are in the
// order of the others.
var fileOrders = []struct {
	name string
	of   func(*files.Actions) int64
}{
	{"bytes", func(a *files.Actions) int64 { return int64(a.Read.Bytes + a.Write.Bytes) }},
	{"rpcs", func(a *files.Actions) int64 { return int64(a.RPCs) }},
	{"opens", func(a *files.Actions) int64 { return int64(a.Count[files.Open]) }},
}

func fileOrderNames() (names []string) {
	for _, o := range fileOrders {
		names = append(names, o.name)
	}
	return names
}

func (c *filesOptions) check() (err error) {
	c.filter, err = flags.Filter(c.Display, &records.Files)
	return err
}

func (c *filesOptions) selects(f *files.File) bool {
	if fid := c.fid.Value; c.fid.IsSet() && f.FID != fid {
		objects, _ := f.Objects()
		if !slices.ContainsFunc(objects, func(o files.Object) bool { return o.FID == fid }) {
			return false
		}
	}
	return strings.Contains(f.Path(), c.path) && c.filter.Match(f)
}

// compareActions compares two files by an order.
func compareActions(order string, a, b *files.Actions) int {
	first, others := 0, 0
	for _, o := range fileOrders {
		n := cmp.Compare(o.of(b), o.of(a))
		if o.name == order {
			first = n
		}
		others = cmp.Or(others, n)
	}
	return cmp.Or(first, others)
}

func sortFiles(list []*files.File, order string) {
	slices.SortStableFunc(list, func(a, b *files.File) int {
		return cmp.Or(compareActions(order, &a.Actions, &b.Actions), cmp.Compare(a.First, b.First))
	})
}

func (c *filesOptions) run() error {
	o := scan.Options{Limit: c.Count, Concurrent: true}
	if c.timeline.IsSet() {
		return c.runTimeline(o)
	}
	if c.by.Value == "dir" {
		return runFiles(c, &records.Directories, &tables.Directories, o, c.directories)
	}
	return runFiles(c, &records.Files, &tables.Files, o, func(list []*files.File) []*files.File { return list })
}

// runFiles shows what records makes of the files that the flags select.
func runFiles[R any](c *filesOptions, keys *records.Table[R], kind *tables.Kind[R], o scan.Options, of func([]*files.File) []R) error {
	x := flags.Open(&c.Job, keys, o)
	x.List = flags.Table(x.Reading, kind)
	f := x.Follow()
	f.Locks() // their waits count
	followed := f.Files()
	return x.Run(func() {
		if n := followed.Dropped; n > 0 {
			x.Note("%d files that were not used for the longest time are not shown", n)
		}
		list := slices.DeleteFunc(followed.List(), func(f *files.File) bool { return !c.selects(f) })
		sortFiles(list, c.sort.Value)
		shown := of(list)
		if c.top > 0 {
			shown = shown[:min(c.top, len(shown))]
		}
		x.Emit(shown...)
	})
}

const (
	maxTimeline = 1 << 14 // RPCs
	maxObjects  = 1 << 12 // RPCs about OST objects whose file is not known yet
)

// runTimeline shows the RPCs about one file, by process.
func (c *filesOptions) runTimeline(o scan.Options) error {
	x := flags.Open(&c.Job, &records.RPCs, o)
	f := x.Follow()
	f.Locks()
	fid, followed := c.timeline.Value, f.Files()
	var list []*track.RPC
	later := make(map[track.FID][]*track.RPC) // by object
	omitted, waiting := 0, 0
	shared := make(files.SharedThreads)
	f.Add(follow.Hooks{Done: func(r *track.RPC) {
		shared.Add(r)
		switch file, object := followed.Subject(r); {
		case file != fid && object != fid && (file != track.FID{} || object == track.FID{}):
		case file != fid && object != fid && waiting < maxObjects:
			waiting++
			later[object] = append(later[object], r.Clone())
		case len(list) < maxTimeline && (file == fid || object == fid):
			list = append(list, r.Clone())
		default:
			omitted++
		}
	}})
	var processes []*files.Process
	x.List = func(dst *schema.Marked, _ []*track.RPC) {
		lines := render.NewRPCSummary(x.Options())
		for i, p := range processes {
			if i > 0 {
				dst.Plain("\n")
			}
			render.AppendProcess(dst, p, lines, render.Moment{First: x.First()})
		}
		x.Hide(lines.Omitted())
	}
	return x.Run(func() {
		if file := followed.File(fid); file != nil {
			objects, _ := file.Objects()
			for _, o := range objects {
				list = append(list, later[o.FID]...)
			}
		}
		if omitted > 0 {
			x.Note("%d more RPCs are not shown", omitted)
		}
		processes = files.Processes(list, shared)
		for _, p := range processes {
			x.Emit(p.RPCs...)
		}
	})
}

// directories returns the sums of files by directory, in their order.
func (c *filesOptions) directories(of []*files.File) []*files.Directory {
	list := files.Directories(of)
	slices.SortStableFunc(list, func(a, b *files.Directory) int {
		return cmp.Or(compareActions(c.sort.Value, &a.Actions, &b.Actions), cmp.Compare(a.Path, b.Path))
	})
	return list
}
