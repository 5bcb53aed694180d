package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/logs"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/parquet/rows"
	"github.com/lshark/lshark/render/records"
)

// messages is lshark without a command: it shows every message.
type messagesOptions struct {
	flags.Job
	filter    flags.MessageFilter
	tree, hex bool
	diff      bool
	pdu       bool
	fields    *render.RecordFields[*records.Message] // of -e, set by check
	columns   *records.Table[*records.Message]       // of -T parquet, likewise
	names     *track.Names
	logs      *logs.Recent // nil: none are given
}

func newMessages(sys *scan.System) *cobra.Command {
	c := &messagesOptions{Job: flags.NewJob(sys, "summary", "tree", "json", "fields", "flags", flags.ParquetForm)}
	return flags.Command(&cobra.Command{
		Use:   "lshark [flags] [FILE…|-]",
		Short: "Dissect Lustre network traffic",
		Long: "lshark reads Lustre network traffic from capture files or a live interface, reassembles the LNet " +
			"streams and dissects every message. Without a command it shows one line per message. FILE is a pcap or pcapng file, plain or " +
			"compressed; several are merged by time. Without FILE, or with -, standard input is read.",
		Example: `  # one line per message
  lshark mount.pcap

  # all fields of the first ten messages
  lshark -V -c 10 mount.pcap

  # replies with an error
  lshark -Y 'kind == reply && pb_status < 0' mount.pcap

  # JSON, one object per line
  lshark -T json client.pcap.zst | jq -r 'select(.error) | .opcode'

  # for Wireshark: replies with an error, all fields of them
  lshark -Y error -w errors.pcapng --pdu mount.pcap

  # live
  lshark -i eth0`,
		Args: mistypedCommand,
	}, c, flags.Help{
		Display: "only messages that match the display filter `EXPR`, such as 'pb_opc == OST_WRITE && pb_status == ENOSPC'; \"lshark fields\" lists the names",
		Counted: "messages",
		Time:    "message",
		Saved:   "messages",
		Prints:  true,
		Fields:  "field",
		Logs:    true,
		Output: func(f *pflag.FlagSet) {
			f.BoolVarP(&c.tree, "tree", "V", false, "all fields of each message, same as -T tree")
			f.BoolVarP(&c.hex, "hex", "x", false, "all fields of each message, with their offsets and bytes; bulk data in full, also with -T json")
			f.BoolVar(&c.diff, "diff", false, "with -T flags, only connects, and of those only the flags that were asked for and not granted, or "+
				"granted and not asked for")
			f.BoolVar(&c.pdu, "pdu", false, "with -w, write the messages themselves in place of frames, with all fields as JSON, which Wireshark "+
				"shows without a plugin")
		},
	}, (*messagesOptions).check, (*messagesOptions).run)
}

// newShow returns the command that does by its name what lshark does without a command.
func newShow(sys *scan.System) *cobra.Command {
	cmd := newMessages(sys)
	cmd.Args, cmd.Use, cmd.Short = nil, "show [flags] [FILE…|-]", "Show messages, as without a command"
	cmd.Long = "show is lshark without a command, for files that have the name of one: it shows one line per message, or what -V, -x and -T choose."
	return cmd
}

// mistypedCommand returns an error if the first argument is not a file, but
// similar to the name of a command.
func mistypedCommand(_ *cobra.Command, args []string) error {
	if len(args) == 0 || strings.ContainsAny(args[0], "./") {
		return nil
	}
	if _, err := os.Stat(args[0]); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if near := nearCommands(args[0]); len(near) > 0 {
		return fmt.Errorf("%s: no such file; did you mean lshark %s?", args[0], strings.Join(near, ", lshark "))
	}
	return nil
}

// nearCommands returns the commands that begin with a name, else the one that is most like it.
func nearCommands(name string) (near []string) {
	const least = 2 // letters
	var all []string
	for _, c := range subcommands() {
		all = append(all, c.name)
		if len(name) >= least && strings.HasPrefix(c.name, strings.ToLower(name)) {
			near = append(near, c.name)
		}
	}
	if len(near) == 0 {
		near = schema.Nearest(name, all, 1)
	}
	return near
}

func (c *messagesOptions) check() (err error) {
	if (c.tree || c.hex) && c.Form.Value == "summary" {
		c.Form.Value = "tree"
	}
	form := c.Form.Value
	switch {
	case c.pdu && c.Save == "":
		return exit.Usagef("--pdu needs -w")
	case c.pdu && c.SaveAll:
		return exit.Usagef("--pdu writes messages in place of frames: leave out --all-frames")
	case len(c.Input.Logs) > 0 && form != "tree" && form != "json":
		return exit.Usagef("--log needs -V or -T json; lshark rpcs, stats, trace, ladder and diagnose read logs, too")
	case c.diff && form != "flags":
		return exit.Usagef("--diff needs -T flags")
	}
	if c.filter, err = flags.Messages(c.Display); err != nil || form != "fields" && form != flags.ParquetForm {
		return err
	}
	var unknown string
	if c.fields, unknown = render.NewFields(c.Fields); c.fields == nil {
		last := unknown[strings.LastIndexByte(unknown, '.')+1:]
		return exit.Usagef("unknown field %q%s", unknown, exit.DidYouMean(schema.Nearest(last, render.FieldNames(), 3)))
	}
	if form == flags.ParquetForm {
		c.columns = flags.MessageTable()
		for _, k := range c.fields.Keys() {
			if !slices.ContainsFunc(rows.Describe(c.columns), func(c rows.Column) bool { return c.Key == k.Name }) {
				c.columns = c.columns.With(k)
			}
		}
		if name := rows.Duplicate(c.columns); name != "" {
			return exit.Usagef("-e: two columns would have the name %s", name)
		}
	}
	return nil
}

func (c *messagesOptions) run() error {
	c.names = track.NewNames()
	form := c.Form.Value
	limit := c.Count
	if form == "flags" {
		limit = 0 // a connect counts with its reply
	}
	// Trees and JSON of a message do not depend on those before it. On one core the copies of the
	// messages would only take time.
	parallel := (form == "tree" || form == "json") && runtime.GOMAXPROCS(0) > 1 && c.FlushPolicy() == iostreams.FlushWhenFull
	x := c.Open(scan.Options{
		Select:   c.filter,
		Limit:    limit,
		SavePDUs: c.pdu,
		Distinct: true,
		BulkData: c.hex,
		Names:    c.names,
		// A filter takes less time than the copies of the messages that it does not select.
		Concurrent: !parallel && c.Display == "" && c.Count == 0,
	})
	c.logs = x.RecentLogs()
	var header []byte
	if form == "fields" && c.Header() {
		header = c.fields.Header(nil)
	}
	x.Add(scan.Consumer{Begin: func() error { return x.Out.Write(header) }}) // also without a header: a file is made by the first Write
	switch {
	case !c.Prints() && !c.tree && !c.hex:
	case form == "flags":
		c.addFlagWords(x)
	case parallel:
		c.addParallel(x)
	default:
		c.addMessages(x)
	}
	return x.Run(nil)
}

// renderer returns what renders messages in the form that the flags choose, all but flag words.
func (c *messagesOptions) renderer(x *flags.Reading) render.Renderer {
	o, colors := x.Options(), render.NewColors(c.Colored())
	switch c.Form.Value {
	case "tree":
		return colors.Renderer(render.NewTree(render.TreeOptions{Width: o.Width, Time: o.Time, Hex: c.hex}))
	case "json":
		r := render.NewJSON()
		r.BulkData = c.hex
		return r
	case flags.ParquetForm:
		return &recordRenderer{add: flags.ParquetFunc(x, c.columns)}
	case "fields":
		return &recordRenderer{add: c.fields.Append}
	}
	o.Names = c.names
	return colors.Renderer(render.NewSummary(o))
}

// recordRenderer renders messages in the forms that all records have.
type recordRenderer struct {
	add func([]byte, *records.Message) []byte
	msg records.Message
}

func (r *recordRenderer) Append(dst []byte, m *dissect.Message, at render.Moment) []byte {
	r.msg.Set(m, at.First)
	return r.add(dst, &r.msg)
}

// logLines returns the lines of logs about the RPC of a message.
func (c *messagesOptions) logLines(m *dissect.Message) []*track.LogLine {
	if c.logs == nil {
		return nil
	}
	return c.logs.Of(m)
}

func (c *messagesOptions) addMessages(x *flags.Reading) {
	show := c.renderer(x)
	var buf []byte
	at := render.Moment{}
	x.Add(scan.Consumer{
		Message: func(m *dissect.Message) error {
			at.First, at.Log = x.First(), c.logLines(m)
			buf = show.Append(buf[:0], m, at)
			at.Before = m.Time
			return x.Out.Write(buf)
		},
	})
}

// addFlagWords renders the flag words of messages, those of a connect together with those of its
// reply when one of the two is selected. It stops after as many tables as -c says; a connect and its
// reply are one, messages of LNet do not count. With --diff, it renders in what the reply to a
// connect differs from the request, and notes when there is nothing to render.
func (c *messagesOptions) addFlagWords(x *flags.Reading) {
	o := c.Options()
	r := render.NewFlags(o)
	var text schema.Marked
	shown, compared, pairs := 0, 0, 0
	enough := func() bool { return c.Count > 0 && shown == c.Count }
	write := func(counts bool) {
		if len(text.Text) == 0 {
			return
		}
		x.Fail(x.Print(&text))
		if counts {
			shown++
		}
		if enough() {
			x.Fail(scan.ErrStop)
		}
	}
	matches := func(m *dissect.Message) bool { return m != nil && c.filter(m, x.First()) }
	at := render.Moment{}
	connects := track.NewConnects(func(pair *track.ConnectPair) {
		if enough() || !matches(pair.Request) && !matches(pair.Reply) {
			return
		}
		text.Reset()
		if c.diff {
			pairs++
			if r.AppendConnectDiff(&text, pair, x.First()) {
				compared++
			}
		} else {
			r.AppendConnect(&text, pair, x.First())
		}
		write(true)
	})
	inPair := false
	x.Add(scan.Consumer{
		All: func(m *dissect.Message) { inPair = connects.Message(m, at.Before) },
		Message: func(m *dissect.Message) error {
			if !inPair && !c.diff && !enough() {
				at.First = x.First()
				text.Reset()
				r.Append(&text, m, at)
				write(m.Kind == lnet.Request || m.Kind == lnet.Reply || m.Kind == lnet.EarlyReply)
			}
			at.Before = m.Time
			return nil
		},
		End: func() error {
			connects.Close()
			if !c.diff || enough() {
				return nil
			}
			if n := pairs - compared; n > 0 {
				x.Note("not compared: connects that were refused, or whose request or reply was not captured: %d", n)
			}
			switch {
			case pairs == 0:
				x.Note("no connects to compare")
			case shown == 0 && compared > 0:
				x.Note("all flags were granted as asked for, in %d connects", compared)
			}
			return nil
		},
	})
}
