package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
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
	return errors.Join(c.fid.Check(), c.by.Check(), c.sort.Check(), c.Check())
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
