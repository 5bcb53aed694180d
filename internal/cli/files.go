package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// filesOptions are the flags of the command that shows files: their paths and layouts, and who did what
// with them.
type filesOptions struct {
	flags.Records[*files.File]
	by   flags.Choice
	sort flags.Choice
	top  int
	path string
	fid  flags.FID

	timeline flags.FID
}

func newFiles(sys *scan.System) *cobra.Command {
	c := &filesOptions{Records: flags.NewRecords(sys, &records.Files, "table", "json", "fields", flags.ParquetForm),
		by:   flags.Choice{Value: "file", Words: []string{"file", "dir"}, Flag: "--by", Placeholder: "KEY", Noun: "key"},
		sort: flags.Choice{Value: "bytes", Words: fileOrders(), Flag: "--sort", Placeholder: "ORDER", Noun: "order"}}
	cmd := &cobra.Command{
		Use:   "files [flags] [FILE…|-]",
		Short: "Show files: path, layout, who read and wrote what, and how",
		Long: "files shows one row or record per file: its path and layout, how often it was opened, how much was read and written, by whom, " +
			"whether its offsets are sequential, strided or random, what failed, and how long its locks waited and were held. " +
			"Directories and other files are shown, too, when an RPC was about them.\n\n" +
			"Paths are put together from lookups, opens, creates, renames, links, removes, directory pages and fid2path in the capture; where " +
			"directories are unknown they begin with …. An OST object whose file is unknown has a row of its own, of the kind object.\n\n" +
			"Bytes are those that servers and clients moved: what a client reads from its page cache is on no wire, and what it reads ahead is. " +
			"Data of small files on the MDT may be part of the reply to an open; these bytes count, too.",
		Example: `  # the files with the most bytes
  lshark files client.pcap

  # what was done below a directory, by directory
  lshark files --by dir --path /data client.pcap

  # who wrote the files with more than 100 KiB
  lshark files -Y 'file.write_bytes > 100K' -T json server.pcap | jq -c '[.path, .clients, .write_bytes]'

  # what cp waited for: RPCs about a file by process, in their order
  lshark files --timeline 0x200000403:0x2:0x0 client.pcap

  # files with errors, with the most RPCs first
  lshark files -Y file.errors --sort rpcs client.pcap`,
	}
	cmd.RunE = flags.RunE(c, (*filesOptions).run)
	c.Register(cmd, flags.Help{
		Display: "only files that match the display filter `EXPR` over keys of files, such as 'file.write_bytes > 1M'",
		Time:    "accepted as in other commands, without effect: the table has no times",
		Selection: func(f *pflag.FlagSet) {
			f.IntVar(&c.top, "top", 0, "only the first `N` files in the order of --sort")
			f.StringVar(&c.path, "path", "", "only files with `TEXT` in their path")
			f.StringVar(&c.timeline.Text, "timeline", "", "the RPCs about the file with that `FID`, by job, or process, as lines or with -T json")
			f.StringVar(&c.fid.Text, "fid", "", "only the file with that `FID`, or that with an OST object of that FID")
		},
		Output: func(f *pflag.FlagSet) {
			f.Var(&c.by, "by", "sum up by: "+flags.WordList(c.by.Words))
			f.Var(&c.sort, "sort", "order of the rows: "+flags.WordList(c.sort.Words))
		},
	})
	return cmd
}

type fileOrder struct {
	name    string
	compare func(a, b *files.Actions) int // larger first
}

var fileOrderList = []fileOrder{
	{"bytes", func(a, b *files.Actions) int {
		return cmp.Compare(b.Read.Bytes+b.Write.Bytes, a.Read.Bytes+a.Write.Bytes)
	}},
	{"rpcs", func(a, b *files.Actions) int { return cmp.Compare(b.RPCs, a.RPCs) }},
	{"opens", func(a, b *files.Actions) int {
		return cmp.Compare(b.Count[files.Open], a.Count[files.Open])
	}},
}

func fileOrders() (names []string) {
	for _, o := range fileOrderList {
		names = append(names, o.name)
	}
	return names
}

func (c *filesOptions) check() error {
	switch {
	case c.top < 0:
		return exit.Usagef("--top %d: must not be negative", c.top)
	case c.by.Value == "dir" && (c.View.Form.Value == "fields" || c.View.Form.Value == flags.ParquetForm):
		return exit.Usagef("--by dir has no -T %s", c.View.Form.Value)
	}
	if form := c.View.Form.Value; c.timeline.IsSet() && form != "table" && form != "json" {
		return exit.Usagef("--timeline has no -T %s", form)
	}
	return errors.Join(c.timeline.Check(), c.fid.Check(), c.by.Check(), c.sort.Check(), c.Check())
}

func (c *filesOptions) selects(f *files.File) bool {
	if fid := c.fid.Value; c.fid.IsSet() {
		objects, _ := f.Objects()
		if f.FID != fid && !slices.ContainsFunc(objects, func(o files.Object) bool { return o.FID == fid }) {
			return false
		}
	}
	if c.path != "" && !strings.Contains(f.Path(), c.path) {
		return false
	}
	return c.Filter.Match(f)
}

// compareActions is the order of two files: that with a name of fileOrderList, then by
// bytes, RPCs and opens.
func compareActions(order string, a, b *files.Actions) int {
	for _, o := range fileOrderList {
		if o.name == order {
			if n := o.compare(a, b); n != 0 {
				return n
			}
		}
	}
	for _, o := range fileOrderList {
		if n := o.compare(a, b); n != 0 {
			return n
		}
	}
	return 0
}

func sortFiles(list []*files.File, order string) {
	slices.SortStableFunc(list, func(a, b *files.File) int {
		return cmp.Or(compareActions(order, &a.Actions, &b.Actions), cmp.Compare(a.First, b.First))
	})
}

func (c *filesOptions) run() error {
	x, err := c.Start(c.check, scan.Options{})
	if err != nil {
		return err
	}
	f := x.Follow()
	f.Locks() // their waits count
	followed := f.Files()
	if c.timeline.IsSet() {
		return c.runTimeline(x, f)
	}
	return x.Run(func() error {
		if n := followed.Dropped; n > 0 {
			x.Note("%d files that were not used for the longest time are not shown", n)
		}
		list := c.sorted(followed.List())
		if c.by.Value == "dir" {
			return flags.WriteSums(x, &tables.Directories, c.directories(list))
		}
		return x.WriteAll(list, flags.Table(x, &tables.Files))
	})
}

const (
	maxTimeline = 1 << 14 // RPCs
	maxObjects  = 1 << 12 // RPCs about OST objects whose file is not known yet
)

// runTimeline shows the RPCs about one file, by process.
func (c *filesOptions) runTimeline(x *flags.Reading[*files.File], f *follow.Follower) error {
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
	return x.Run(func() error {
		if file := followed.File(fid); file != nil {
			objects, _ := file.Objects()
			for _, o := range objects {
				list = append(list, later[o.FID]...)
			}
		}
		if omitted > 0 {
			x.Note("%d more RPCs are not shown", omitted)
		}
		processes := files.Processes(list, shared)
		if c.View.Form.Value == "json" {
			j := render.NewRecordJSON(records.RPCs.Keys(), false)
			var buf []byte
			for _, p := range processes {
				buf = j.AppendLines(buf, p.RPCs)
			}
			return x.Out.Write(buf)
		}
		var buf []byte
		lines := render.NewRPCSummary(x.Options())
		for i, p := range processes {
			if i > 0 {
				buf = append(buf, '\n')
			}
			buf = render.AppendProcess(buf, p, lines, render.Moment{First: x.First()})
		}
		x.NoteHidden(lines.Omitted())
		return x.Out.Write(buf)
	})
}

// sorted returns the files that the flags select, in their order.
func (c *filesOptions) sorted(list []*files.File) []*files.File {
	list = slices.DeleteFunc(list, func(f *files.File) bool { return !c.selects(f) })
	sortFiles(list, c.sort.Value)
	if c.top > 0 && c.by.Value == "file" {
		list = list[:min(c.top, len(list))]
	}
	return list
}

// directories returns the sums of files by directory, in their order.
func (c *filesOptions) directories(of []*files.File) []*files.Directory {
	list := files.Directories(of)
	slices.SortStableFunc(list, func(a, b *files.Directory) int {
		return cmp.Or(compareActions(c.sort.Value, &a.Actions, &b.Actions), cmp.Compare(a.Path, b.Path))
	})
	if c.top > 0 {
		list = list[:min(c.top, len(list))]
	}
	return list
}
