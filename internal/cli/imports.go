package cli

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/comparison"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// importsOptions are the flags of the command that shows connections and what happened to them.
type importsOptions struct {
	flags.Job
	selection flags.Selection
	timeline  bool
	compared  string // the clients of --compare
	at        momentFlag
}

func newImports(sys *scan.System) *cobra.Command {
	c := &importsOptions{Job: flags.Job{Sys: sys, View: flags.NewView("table", "json", "timeline", flags.ParquetForm)}}
	cmd := &cobra.Command{
		Use:   "imports [flags] [FILE…|-]",
		Short: "Show the connections between clients and targets over time",
		Long: "imports follows the connections between clients and targets: connects, connect flags, recovery, evictions " +
			"and pings. Lustre calls such a connection an import on the client and an export on the server. The names of " +
			"a connection from before the capture are unknown until the client reconnects.\n\n" +
			"States are proven by frames. The table shows the state at the end of the capture, and in column since " +
			"when it began. Column fails counts connects and security contexts that were refused, by error; ungranted counts flags that the client " +
			"asked for and did not get.\n\n" +
			"With --at the connections are shown as at that moment: as a table, in the form in which lctl get_param prints import and state on the client. " +
			"What is not on the wire is left out.\n\n" +
			"The timeline has one line per event, in live captures as it happens, with the state after it; with -T json one object per event.\n\n" +
			"--compare A B shows for each target in what two clients differ: releases, flags asked for and flags granted. Clients are named by " +
			"their NID or uuid; the connects of both must be captured, in one file or in several.",
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
	}
	cmd.RunE = flags.RunE(c, (*importsOptions).run)
	flags.AddInput(cmd, sys, &c.Input)
	flags.Add(cmd, flags.SelectionGroup, func(f *pflag.FlagSet) {
		c.selection.Register(f, "connections of messages", "messages, when those have their replies")
	})
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) {
		c.View.RegisterForm(f)
		f.BoolVar(&c.timeline, "timeline", false, "one line per event, same as -T timeline; with -T json, one object")
		f.StringVar(&c.compared, "compare", "", "compare the connect flags and releases of two `CLIENTS`, A B or A,B: NIDs or uuids")
		f.StringVar(&c.at.text, "at", "", "as at `TIME`: seconds after the first frame, or the time of day or date and time, local, or UTC with -t u or a Z at the end")
		c.View.Register(f, flags.TimeHelp("event"))
		c.Output.Register(cmd, f)
		c.selection.RegisterSave(f, "messages that match")
		c.Input.RegisterRing(f)
		c.Input.RegisterNotes(f)
	})
	return cmd
}

func (c *importsOptions) run() error {
	switch form := &c.View.Form.Value; {
	case c.timeline && *form == flags.ParquetForm:
		return exit.Usagef("--timeline and -T parquet exclude each other")
	case *form == "timeline":
		c.timeline = true
	case c.timeline && *form != "json":
		*form = "timeline"
	}
	if err := c.checkCompared(c.Args); err != nil {
		return err
	}
	in, err := c.Input.Check(c.Args, c.Sys.InTTY)
	selected, wrong := c.selection.Messages()
	if err := errors.Join(err, wrong, c.selection.Check(), c.View.Check(), c.at.check(c.View.IsUTC())); err != nil {
		return err
	}
	c.View.NodeName = in.NodeNames()
	p := scan.New(c.Sys, in, scan.Options{
		Select: selected.Match,
		Names:  track.NewNames(),
		Limit:  c.selection.Count, Concurrent: true,
		Until:  c.at.until(),
		SaveTo: c.selection.Save, SaveAll: c.selection.All,
		Logs: scan.LogUse{Flag: "ha", Unknown: "connect flags, releases and counts of messages are not known"},
	})
	w, err := c.Output.NewWriter(c.Sys, in, c.View.Form.Value)
	if err != nil {
		return err
	}
	var hidden string
	var rpc *track.RPC // of the message
	hooks := follow.Hooks{Message: func(r *track.RPC, _ *dissect.Message) { rpc = r }}
	parameters := &tables.ImportParameters{InFlight: make(map[*track.Import]int)}
	var imports *track.Imports
	if c.at.isSet() {
		hooks.Done = func(r *track.RPC) {
			if i := imports.Of(r); i != nil && r.Missing == track.CaptureEnded && !opcodes.IsCallback(r.Opcode) {
				parameters.InFlight[i]++
			}
		}
	}
	follows := in.Live() && c.timeline
	if follows {
		hooks.Import = c.timelineFunc(p, w)
	}
	f := p.Follow(hooks)
	imports = f.Imports()
	p.Add(scan.Consumer{
		Message: func(*dissect.Message) error {
			if rpc != nil {
				imports.Select(rpc)
			}
			return nil
		},
		Finish: f.Finish,
		Idle:   func(int64) error { return w.Flush() },
		End: func() error {
			if follows {
				return nil
			}
			if c.compared != "" {
				return w.Write(c.compare(p, imports.List()))
			}
			var buf []byte
			if c.at.isSet() && c.View.Form.Value == "table" {
				parameters.At = c.at.time(p.First())
				return w.Write(parameters.Append(nil, slices.DeleteFunc(imports.List(), func(i *track.Import) bool { return !c.shows(i) })))
			}
			buf, hidden = c.render(in, p, w, imports.List())
			return w.Write(buf)
		},
	})
	err = errors.Join(p.Run(), w.Close())
	p.NoteHidden(hidden)
	return err
}

func (c *importsOptions) timelineFunc(p *scan.Pass, w *iostreams.Writer) func(*track.Import, track.Point) {
	var t *tables.Timeline
	var buf []byte
	return func(i *track.Import, at track.Point) {
		if !c.shows(i) {
			return
		}
		if t == nil {
			t = c.newTimeline(c.View.Options(c.Sys.IO), p)
		}
		buf = t.AppendChange(buf[:0], i, at)
		p.Fail(w.Write(buf))
	}
}

func (c *importsOptions) newTimeline(o render.SummaryOptions, p *scan.Pass) *tables.Timeline {
	if c.View.Form.Value == "json" {
		return tables.NewTimelineJSON()
	}
	return tables.NewTimeline(o, p.First())
}

func (c *importsOptions) shows(i *track.Import) bool { return c.selection.Display == "" || i.Selected }

// render returns the connections of an input in the form that the flags choose,
// and the columns that are hidden.
func (c *importsOptions) render(in *scan.Input, p *scan.Pass, w *iostreams.Writer, list []*track.Import) (buf []byte, hidden string) {
	list = slices.DeleteFunc(list, func(i *track.Import) bool { return !c.shows(i) })
	o := c.View.Options(c.Sys.IO)
	o.Files = in.FileNames()
	if c.timeline {
		return c.newTimeline(o, p).Append(buf, list), ""
	}
	switch c.View.Form.Value {
	case "json":
		return render.NewRecordJSON(records.Imports.Keys(), false).AppendLines(buf, tables.ImportRecords(list)), ""
	case flags.ParquetForm:
		add := flags.ParquetFunc(&c.Output, w, &records.Imports, in, p)
		for _, imp := range tables.ImportRecords(list) {
			buf = add(buf, imp)
		}
		return buf, ""
	}
	slices.SortStableFunc(list, func(a, b *track.Import) int { return cmp.Compare(tables.Trouble(b), tables.Trouble(a)) })
	t := tables.Imports.New(o, p.First())
	buf = t.Append(buf, tables.ImportRecords(list))
	return buf, t.Omitted.String()
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

func (c *importsOptions) clients() (a, b string, ok bool) {
	a, b, ok = strings.Cut(c.compared, ",")
	return a, b, ok && a != "" && b != "" && !strings.Contains(b, ",")
}

// checkCompared checks the flag --compare; files are the arguments.
func (c *importsOptions) checkCompared(files []string) error {
	if c.compared == "" {
		return nil
	}
	a, b, ok := c.clients()
	if len(files)+len(c.Input.Read) == 0 && len(c.Input.Interfaces) == 0 {
		if _, err := os.Stat(b); err == nil {
			ok = false // b was meant to be the capture
		}
	}
	switch {
	case !ok:
		return exit.Usagef("--compare %s: needs two clients, --compare A B or --compare A,B", c.compared)
	case a == b:
		return exit.Usagef("--compare: %s is given twice", a)
	case c.timeline:
		return exit.Usagef("--compare has no timeline")
	case c.View.Form.Value == flags.ParquetForm:
		return exit.Usagef("--compare has no -T parquet")
	}
	return nil
}

// isOf reports whether a connection is of a client, by its NID, with or without
// @tcp, or its uuid.
func isOf(i *track.Import, client string) bool {
	return client == i.Client.String() || client == string(render.NIDs{}.Append(nil, i.Client)) || client == i.ClientUUID
}

// compare returns in what the connections of two clients differ, in the form that
// the flags choose, and notes which of the clients has none.
func (c *importsOptions) compare(p *scan.Pass, list []*track.Import) (buf []byte) {
	a, b, _ := c.clients()
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
			p.Note("no connection of a client %s", client)
		case len(found) == 0:
			p.Note("no connect of %s was captured", client)
		}
		return found
	}
	connections := comparison.Connections(of(a), of(b))
	if c.View.Form.Value == "json" {
		return render.NewRecordJSON(records.ClientDifferences.Keys(), false).AppendLines(buf, connections)
	}
	return tables.NewNegotiatedText(c.View.Options(c.Sys.IO), a, b).Append(buf, connections)
}
