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
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/parquet/rows"
	"github.com/lshark/lshark/render/records"
)

// messages is lshark without a command: it shows every message.
type messagesOptions struct {
	flags.Job
	filter    *flags.MessageFilter
	tree, hex bool
	diff      bool
	pdu       bool
	names     *track.Names
	logs      *logs.Recent // nil: none are given
}

func newMessages(sys *scan.System) *cobra.Command {
	c := &messagesOptions{Job: flags.NewJob(sys, "summary", "tree", "json", "fields", "flags", flags.ParquetForm)}
	cmd := &cobra.Command{
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
	}
	cmd.RunE = flags.RunE(c, (*messagesOptions).run)
	c.Register(cmd, flags.Help{
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
	})
	return cmd
}

// newShow returns the command that does by its name what lshark does without a command.
func newShow(sys *scan.System) *cobra.Command {
	cmd := newMessages(sys)
	cmd.Args, cmd.Use, cmd.Short = nil, "show [flags] [FILE…|-]", "Show messages, as without a command"
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

func (c *messagesOptions) run() error {
	in, err := c.Check(c.check)
	if err != nil {
		return err
	}
	c.names = track.NewNames()
	show, err := c.messageView(in)
	if err != nil {
		return err
	}
	limit := c.Count
	if show.flags != nil {
		limit = 0 // a connect counts with its reply
	}
	// On one core the copies of the messages would only take time.
	parallel := runtime.GOMAXPROCS(0) > 1 && show.flags == nil && show.independent && c.FlushPolicy(in) == iostreams.FlushWhenFull
	x, err := c.OpenInput(in, scan.Options{
		Select:   func(m *dissect.Message, first int64) bool { return c.filter.Match(m, first) },
		Limit:    limit,
		SavePDUs: c.pdu,
		Distinct: true,
		BulkData: c.hex,
		Names:    c.names,
		// A filter takes less time than the copies of the messages that it does not select.
		Concurrent: !parallel && c.Display == "" && c.Count == 0,
	})
	if err != nil {
		return err
	}
	c.logs = x.RecentLogs()
	if show.table != nil {
		show.Renderer = &messageFile{add: flags.ParquetFunc(x, show.table)}
	}
	x.Add(scan.Consumer{Begin: func() error { return x.Out.Write(show.header) }}) // also without a header: a file is made by the first Write
	switch {
	case !c.Prints() && !c.tree && !c.hex:
	case show.flags != nil:
		addFlagWords(x, show.flags, c.filter, c.Count, c.diff)
	case parallel:
		c.addParallel(x.Pass, in, x.Out)
	default:
		c.addMessages(x.Pass, x.Out, show)
	}
	return x.Run(nil)
}

func (c *messagesOptions) check() (err error) {
	if (c.tree || c.hex) && c.Form.Value == "summary" {
		c.Form.Value = "tree"
	}
	if c.pdu && c.Save == "" {
		return exit.Usagef("--pdu needs -w")
	}
	if c.pdu && c.SaveAll {
		return exit.Usagef("--pdu writes messages in place of frames: leave out --all-frames")
	}
	if form := c.Form.Value; len(c.Input.Logs) > 0 && form != "tree" && form != "json" {
		return exit.Usagef("--log needs -V or -T json; lshark rpcs, stats, trace, ladder and diagnose read logs, too")
	}
	if c.diff && c.Form.Value != "flags" {
		return exit.Usagef("--diff needs -T flags")
	}
	c.filter, err = flags.Messages(c.Display)
	return err
}

type messageView struct {
	render.Renderer
	independent bool          // each message can be rendered without those before it
	header      []byte        // printed first
	flags       *render.Flags // of -T flags, in place of the Renderer: it needs connects in pairs

	// table has the columns of -T parquet, whose Renderer needs the Writer; else nil.
	table *records.Table[*records.Message]
}

func (c *messagesOptions) messageView(in *scan.Input) (messageView, error) {
	o, colors := c.Options(), render.NewColors(c.Colored())
	switch c.Form.Value {
	case "tree":
		return messageView{independent: true, Renderer: colors.Renderer(render.NewTree(render.TreeOptions{
			Width: o.Width, Time: o.Time, Hex: c.hex}))}, nil
	case "json":
		r := render.NewJSON()
		r.BulkData = c.hex
		return messageView{independent: true, Renderer: r}, nil
	case "flags":
		return messageView{flags: render.NewFlags(render.FlagsOptions{Width: o.Width, Time: o.Time})}, nil
	case flags.ParquetForm:
		keys, err := c.fileKeys()
		return messageView{table: keys}, err
	case "fields":
		r, err := render.NewFields(c.Fields, opcodes.FieldIndex())
		if err != nil {
			return messageView{}, exit.UsageError{Err: err}
		}
		v := messageView{Renderer: r}
		if c.Header() {
			v.header = r.Header(nil)
		}
		return v, nil
	}
	o.Names, o.Files = c.names, in.FileNames()
	return messageView{Renderer: colors.Renderer(render.NewSummary(o))}, nil
}

// fileKeys returns the keys of -T parquet, with the fields of -e.
func (c *messagesOptions) fileKeys() (*records.Table[*records.Message], error) {
	extra, err := render.NewFields(c.Fields, opcodes.FieldIndex())
	if err != nil {
		return nil, exit.UsageError{Err: err}
	}
	t := flags.MessageTable()
	for _, k := range extra.Keys() {
		if !slices.ContainsFunc(rows.Describe(t), func(c rows.Column) bool { return c.Key == k.Name }) {
			t = t.With(k)
		}
	}
	if name := rows.Duplicate(t); name != "" {
		return nil, exit.Usagef("-e: two columns would have the name %s", name)
	}
	return t, nil
}

type messageFile struct {
	add func([]byte, *records.Message) []byte
	msg records.Message
}

// Append adds a message and appends nothing.
func (f *messageFile) Append(dst []byte, m *dissect.Message, at render.Moment) []byte {
	f.msg.Set(m, at.First)
	return f.add(dst, &f.msg)
}

// logLines returns the lines of logs about the RPC of a message.
func (c *messagesOptions) logLines(m *dissect.Message) []*track.LogLine {
	if c.logs == nil {
		return nil
	}
	return c.logs.Of(m)
}

func (c *messagesOptions) addMessages(p *scan.Pass, w *iostreams.Writer, show messageView) {
	var buf []byte
	at := render.Moment{}
	p.Add(scan.Consumer{
		Message: func(m *dissect.Message) error {
			at.First, at.Log = p.First(), c.logLines(m)
			buf = show.Append(buf[:0], m, at)
			at.Before = m.Time
			return w.Write(buf)
		},
	})
}

// addFlagWords renders the flag words of messages, those of a connect together with
// those of its reply when one of the two is selected. It stops after limit tables,
// 0: never; a connect and its reply are one, messages of LNet do not count. With diff,
// it renders in what the reply to a connect differs from the request, and notes when
// there is nothing to render.
func addFlagWords(x *flags.Reading, r *render.Flags, selected *flags.MessageFilter, limit int, diff bool) {
	p := x.Pass
	var text schema.Marked
	var failed error
	shown, compared, pairs := 0, 0, 0
	write := func(counts bool) {
		if failed != nil || len(text.Text) == 0 {
			return
		}
		failed = x.Print(&text)
		if counts {
			shown++
		}
		if failed == nil && limit > 0 && shown == limit {
			failed = scan.ErrStop
		}
	}
	matches := func(m *dissect.Message) bool { return m != nil && selected.Match(m, p.First()) }
	at := render.Moment{}
	connects := track.NewConnects(func(pair *track.ConnectPair) {
		switch {
		case failed != nil || !matches(pair.Request) && !matches(pair.Reply):
			return
		case diff:
			text.Reset()
			if r.AppendConnectDiff(&text, pair, p.First()) {
				compared++
			}
			pairs++
		default:
			text.Reset()
			r.AppendConnect(&text, pair, p.First())
		}
		write(true)
	})
	inPair := false
	p.Add(scan.Consumer{
		All: func(m *dissect.Message) { inPair = connects.Message(m, at.Before) },
		Message: func(m *dissect.Message) error {
			if !inPair && !diff && failed == nil {
				at.First = p.First()
				text.Reset()
				r.Append(&text, m, at)
				write(m.Kind == lnet.Request || m.Kind == lnet.Reply || m.Kind == lnet.EarlyReply)
			}
			at.Before = m.Time
			return failed
		},
		Idle: func(int64) error { return failed },
		End: func() error {
			connects.Close()
			if diff && failed == nil {
				noteFlagDiffs(p, shown, compared, pairs)
			}
			return failed
		},
	})
}

// noteFlagDiffs notes how many connects were not compared, and when all others had
// the same flags in the reply as in the request.
func noteFlagDiffs(p *scan.Pass, shown, compared, connects int) {
	if n := connects - compared; n > 0 {
		p.Note("not compared: connects that were refused, or whose request or reply was not captured: %d", n)
	}
	switch {
	case connects == 0:
		p.Note("no connects to compare")
	case shown == 0 && compared > 0:
		p.Note("all flags were granted as asked for, in %d connects", compared)
	}
}
