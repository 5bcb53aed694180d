package cli

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/comparison"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// importsOptions are the flags of the command that shows connections and what happened to them.
type importsOptions struct {
	flags.Job
	filter   flags.MessageFilter
	timeline bool
	compared string // of --compare
	a, b     string // the clients of it
	atText   string // of --at
	at       moment
}

func newImports(sys *scan.System) *cobra.Command {
	c := &importsOptions{Job: flags.NewJob(sys, flags.RecordForms("table", "timeline")...)}
	return flags.Command(&cobra.Command{
		Use:   "imports [flags] [FILE…|-]",
		Short: "Show the connections between clients and targets over time",
		Long: "imports follows the connections between clients and targets: connects, connect flags, recovery, evictions " +
			"and pings. Lustre calls such a connection an import on the client and an export on the server. States are proven by frames; the " +
			"table shows those at the end of the capture. The names of a connection from before the capture are unknown until the client " +
			"reconnects.",
		Example: `  # one line per connection
  lshark imports client.pcap

  # one line per event
  lshark imports --timeline client.pcap

  # in what two clients differ
  lshark imports --compare 192.0.2.3 192.0.2.4 client.pcap server.pcap

  # as lctl get_param shows them, 12 s after the first frame
  lshark imports --at 12 client.pcap

  # clients that were evicted
  lshark imports -T json server.pcap | jq 'select(.evictions > 0)'`,
	}, c, flags.Help{
		Display: "only connections of messages that match the display filter `EXPR`, such as 'pb_opc == OST_WRITE && pb_status == ENOSPC'; " +
			"\"lshark fields\" lists the names",
		Counted: "messages, when those have their replies",
		Time:    "event",
		Saved:   "messages that match",
		Logs:    true,
		Output: func(f *pflag.FlagSet) {
			f.BoolVar(&c.timeline, "timeline", false, "one line per event, same as -T timeline; in other forms one record")
			f.StringVar(&c.compared, "compare", "", "compare the connect flags and releases of two `CLIENTS`, A B or A,B: NIDs or uuids")
			f.StringVar(&c.atText, "at", "", "as at `TIME`: seconds after the first frame, or the time of day or date and time, local, or UTC with -t u or a Z at the end")
		},
	}, (*importsOptions).check, (*importsOptions).run)
}

func (c *importsOptions) check() (err error) {
	switch form := &c.Form.Value; {
	case *form == "timeline":
		c.timeline = true
	case c.timeline && *form == "table":
		*form = "timeline"
	}
	if err := c.checkCompared(c.Args); err != nil {
		return err
	}
	c.filter, err = flags.Messages(c.Display)
	var wrong error
	c.at, wrong = parseMoment(c.atText, c.Time.Value == "u")
	return errors.Join(err, wrong)
}

func (c *importsOptions) run() error {
	switch {
	case c.compared != "":
		return runImports(c, &records.ClientDifferences, c.compare)
	case c.timeline:
		return runImports(c, &records.ImportEvents, c.showEvents)
	}
	return runImports(c, &records.Imports, c.show)
}

// runImports follows the connections, and shows records about those that the flags select. Func
// show returns the hooks that it needs, and what it does when the input has been read.
func runImports[R any](c *importsOptions, keys *records.Table[R], show func(*flags.Run[R], *track.Imports) (follow.Hooks, func([]*track.Import))) error {
	x := flags.Open(&c.Job, keys, scan.Options{
		Select: c.filter,
		Names:  track.NewNames(),
		Limit:  c.Count, Concurrent: true,
		Until: c.at,
		Logs:  scan.LogUse{Beside: true, Elsewhere: true, Flag: "ha", Unknown: "connect flags, releases and counts of messages are not known"},
	})
	var rpc *track.RPC // of the message
	f := x.Follow()
	imports := f.Imports()
	hooks, end := show(x, imports)
	hooks.Message = func(r *track.RPC, _ *dissect.Message) { rpc = r }
	f.Add(hooks)
	x.Add(scan.Consumer{
		Message: func(*dissect.Message) error {
			if rpc != nil {
				imports.Select(rpc)
			}
			return nil
		},
		Finish: f.Finish,
	})
	return x.Run(func() { end(imports.List()) })
}

func (c *importsOptions) shows(i *track.Import) bool { return c.Display == "" || i.Selected }

func (c *importsOptions) selected(list []*track.Import) []*track.Import {
	return slices.DeleteFunc(list, func(i *track.Import) bool { return !c.shows(i) })
}

// show shows connections.
func (c *importsOptions) show(x *flags.Run[*records.Import], imports *track.Imports) (hooks follow.Hooks, end func([]*track.Import)) {
	parameters := &tables.ImportParameters{InFlight: make(map[*track.Import]int)}
	asTable := flags.Table(x.Reading, &tables.Imports)
	x.List = func(dst *schema.Marked, list []*records.Import) {
		slices.SortStableFunc(list, func(a, b *records.Import) int {
			return cmp.Compare(tables.Trouble(b.Import), tables.Trouble(a.Import))
		})
		asTable(dst, list)
	}
	var shown []*track.Import
	if c.at != nil {
		hooks.Done = func(r *track.RPC) {
			if i := imports.Of(r); i != nil && r.Missing == track.CaptureEnded && !opcodes.IsCallback(r.Opcode) {
				parameters.InFlight[i]++
			}
		}
		x.List = func(dst *schema.Marked, _ []*records.Import) {
			parameters.At = c.at(x.First())
			dst.Text = parameters.Append(dst.Text, shown)
		}
	}
	return hooks, func(list []*track.Import) {
		shown = c.selected(list)
		x.Emit(tables.ImportRecords(shown)...)
	}
}

// showEvents shows what happened to connections, in live captures when it does.
func (c *importsOptions) showEvents(x *flags.Run[*records.ImportEvent], _ *track.Imports) (hooks follow.Hooks, end func([]*track.Import)) {
	timeline := sync.OnceValue(func() *tables.Timeline { // when the first frame, whose time it needs, has been read
		if x.IsText() {
			return tables.NewTimeline(x.Options(), x.First())
		}
		return tables.NewTimelineRecords(func(e *records.ImportEvent) { x.Emit(e) })
	})
	x.List = func(*schema.Marked, []*records.ImportEvent) {} // lines are written
	var text schema.Marked
	if x.In.Live() {
		hooks.Import = func(i *track.Import, at track.Point) {
			if c.shows(i) {
				text.Reset()
				timeline().AppendChange(&text, i, at)
				x.Fail(x.Print(&text))
			}
		}
		return hooks, func([]*track.Import) {}
	}
	return hooks, func(list []*track.Import) {
		timeline().Append(&text, c.selected(list))
		x.Fail(x.Print(&text))
	}
}

// joinCompared makes one argument of the two clients behind --compare.
func joinCompared(args []string) []string {
	const flag = "--compare"
	at := slices.Index(args, flag)
	if at < 0 || at+2 >= len(args) || strings.Contains(args[at+1], ",") || strings.HasPrefix(args[at+2], "-") {
		return args
	}
	return slices.Concat(args[:at], []string{flag + "=" + args[at+1] + "," + args[at+2]}, args[at+3:])
}

// checkCompared checks the flag --compare; files are the arguments.
func (c *importsOptions) checkCompared(files []string) error {
	if c.compared == "" {
		return nil
	}
	c.a, c.b, _ = strings.Cut(c.compared, ",")
	ok := c.a != "" && c.b != "" && !strings.Contains(c.b, ",")
	if len(files)+len(c.Input.Read) == 0 && len(c.Input.Interfaces) == 0 {
		if _, err := os.Stat(c.b); err == nil {
			ok = false // b was meant to be the capture
		}
	}
	switch {
	case !ok:
		return exit.Usagef("--compare %s: needs two clients, --compare A B or --compare A,B", c.compared)
	case c.a == c.b:
		return exit.Usagef("--compare: %s is given twice", c.a)
	case c.timeline:
		return exit.Usagef("--compare has no timeline")
	}
	return nil
}

// isOf reports whether a connection is of a client, by its NID, with or without
// @tcp, or its uuid.
func isOf(i *track.Import, client string) bool {
	return client == i.Client.String() || client == string(render.NIDs{}.Append(nil, i.Client)) || client == i.ClientUUID
}

// compare shows in what the connections of two clients differ, and notes which of the clients has
// none.
func (c *importsOptions) compare(x *flags.Run[*comparison.Connection], _ *track.Imports) (follow.Hooks, func([]*track.Import)) {
	x.List = func(dst *schema.Marked, list []*comparison.Connection) {
		tables.NewNegotiatedText(c.Options(), c.a, c.b).Append(dst, list)
	}
	return follow.Hooks{}, func(list []*track.Import) {
		of := func(client string) (found []*track.Import) {
			known := false
			for _, i := range list {
				if isOf(i, client) {
					known = true
					if c.shows(i) && (i.HasAsked || i.HasGranted) {
						found = append(found, i)
					}
				}
			}
			switch {
			case !known:
				x.Note("no connection of a client %s", client)
			case len(found) == 0:
				x.Note("no connect of %s was captured", client)
			}
			return found
		}
		x.Emit(comparison.Connections(of(c.a), of(c.b))...)
	}
}

// moment returns a moment of a capture in nanoseconds since the epoch; first is the time of its first
// frame. nil: no moment is given.
type moment func(first int64) int64

// parseMoment parses the value of --at. Times without a zone are local, or UTC.
func parseMoment(text string, utc bool) (moment, error) {
	if text == "" {
		return nil, nil
	}
	seconds := text
	if n, err := strconv.ParseFloat(text, 64); err == nil && n < 1e9 {
		seconds += "s"
	}
	if d, err := time.ParseDuration(seconds); err == nil && d >= 0 {
		return func(first int64) int64 { return first + int64(d) }, nil
	}
	clock, hasZone := strings.CutSuffix(strings.Replace(text, "T", " ", 1), "Z")
	zone := time.Local
	if utc || hasZone {
		zone = time.UTC
	}
	if t, err := time.ParseInLocation("2006-01-02 15:04:05", clock, zone); err == nil {
		return func(int64) int64 { return t.UnixNano() }, nil
	}
	t, err := time.Parse("15:04:05", clock)
	if err != nil {
		return nil, exit.Usagef("--at %s: must be seconds after the first frame, such as 12.5, or a time, such as 08:06:41.5 or 2026-11-21 08:06:41", text)
	}
	return func(first int64) int64 {
		begin := time.Unix(0, first).In(zone)
		at := time.Date(begin.Year(), begin.Month(), begin.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
		if at.Before(begin) {
			at = at.AddDate(0, 0, 1)
		}
		return at.UnixNano()
	}, nil
}
