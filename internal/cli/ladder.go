package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/nested"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render/ladder"
)

// ladderOptions are the flags of the command that draws sequence diagrams.
type ladderOptions struct {
	sys       *scan.System
	input     scan.Flags
	selection flags.Selection
	view      flags.View
	xid       string
	lock      string
	fid       flags.FID
	width     int
	what      ladder.Selection // after check
}

func newLadder(sys *scan.System) *cobra.Command {
	c := &ladderOptions{sys: sys, view: flags.NewView("text", "svg", "json")}
	cmd := &cobra.Command{
		Use:   "ladder [flags] [FILE…|-]",
		Short: "Draw messages as a sequence diagram, in text or as SVG",
		Long: "ladder draws a column for each node and an arrow for each message, time from top to bottom: the number of the frame, the time, " +
			"the operation, and what matters of the message, in several lines where there is no room. Bulk data are double arrows. A time " +
			"without messages takes up to three lines. " +
			"Through routers, arrows go from end to end. With captures of several nodes, a message is drawn once, as the first of them saw it. " +
			"With --log, what the logs say about the RPCs stands at the nodes that wrote it, with log and line in place of the frame.\n\n" +
			"When a message is selected, the other messages of its RPC are drawn, too. --xid, --fid and --lock also draw what belongs together " +
			"beyond an RPC. Flags that select are combined: what any of them selects is drawn.\n\n" +
			"Marks on an arrow: R parts of the message were sent again by TCP or InfiniBand, A the request was sent again, " +
			"? no reply was captured; a broken line, × at its end: bytes were not captured. A legend explains those that occur.\n\n" +
			"Where there is no room for all nodes, those with the fewest messages share a column.",
		Example: `  # what happened to an RPC
  lshark ladder --xid 1882453915469056 mount.pcap

  # who waited for a lock and why, with what each node saw
  lshark ladder --lock 0x641be85d7ae7c880 client.pcap server.pcap

  # everything about a file, as a picture for a ticket
  lshark ladder --fid 0x200000403:0x2:0x0 -T svg client.pcap

  # the same messages for a script
  lshark ladder --fid 0x200000403:0x2:0x0 -T json client.pcap | jq .text

  # errors with their requests, in 80 columns
  lshark ladder -Y 'kind == reply && pb_status < 0' --width 80 client.pcap`,
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags.AddInput(cmd, sys, &c.input)
	flags.Add(cmd, flags.InputGroup, c.input.RegisterLogs)
	flags.Add(cmd, flags.SelectionGroup, func(f *pflag.FlagSet) {
		f.StringVarP(&c.selection.Display, "display", "Y", "", "messages that match the display filter `EXPR`, and the other messages of their RPCs; or RPCs, such as 'rpc.latency > 1s'; \"lshark fields\" lists the names")
		f.BoolVar(&c.what.Alone, "alone", false, "with -Y, not the other messages of the RPCs")
		f.StringVar(&c.xid, "xid", "", "the RPC with that `XID`, and those that servers sent to other nodes because of it; if it asks for a lock, also the callbacks to others that it caused, how they gave up their locks, and what became of the lock")
		f.StringVar(&c.fid.Text, "fid", "", "RPCs that name the file or object with that `FID`, or are about its objects or locks")
		f.StringVar(&c.lock, "lock", "", "RPCs about the lock with that `HANDLE` of client or server, and the requests of those who waited for it")
		f.IntVarP(&c.selection.Count, "count", "c", 1000, "draw the first `N` messages; a live capture ends with them")
	})
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) {
		c.view.RegisterForm(f)
		f.IntVar(&c.width, "width", 0, "fit the diagram into `N` columns (default those of the terminal; without one, lines may be of any length)")
		c.view.Register(f, flags.TimeHelp("message"))
		c.input.RegisterNotes(f)
	})
	return cmd
}

// Bounds of flags.
const (
	minLadderWidth = 40
	maxLadderWidth = 10000
	maxLadderCount = 1_000_000
)

// check checks the flags, and makes the selection of them.
func (c *ladderOptions) check() (err error) {
	if c.xid != "" {
		if c.what.XID, err = strconv.ParseUint(strings.TrimPrefix(c.xid, "x"), 10, 64); err != nil {
			return exit.Usagef("--xid %s: must be a number", c.xid)
		}
		c.what.HasXID = true
	}
	if c.lock != "" {
		if c.what.Lock, err = strconv.ParseUint(c.lock, 0, 64); err != nil || c.what.Lock == 0 {
			return exit.Usagef("--lock %s: must be a handle, such as 0xfec13fbea991f704", c.lock)
		}
	}
	switch {
	case c.selection.Count < 1 || c.selection.Count > maxLadderCount:
		return exit.Usagef("-c %d: must be between 1 and %d", c.selection.Count, maxLadderCount)
	case c.width != 0 && (c.width < minLadderWidth || c.width > maxLadderWidth):
		return exit.Usagef("--width %d: must be between %d and %d", c.width, minLadderWidth, maxLadderWidth)
	case c.what.Alone && (c.selection.Display == "" || c.xid != "" || c.lock != "" || c.fid.IsSet()):
		return exit.Usagef("--alone needs -Y, and excludes --xid, --fid and --lock")
	}
	if err := errors.Join(c.fid.Check(), c.view.Check()); err != nil {
		return err
	}
	c.what.FID = c.fid.Value
	return nil
}

// title returns what is drawn, in words.
func (c *ladderOptions) title() string {
	var parts []string
	if c.xid != "" {
		parts = append(parts, fmt.Sprintf("RPC x%d", c.what.XID))
	}
	if c.fid.IsSet() {
		parts = append(parts, "file "+c.fid.Text)
	}
	if c.lock != "" {
		parts = append(parts, fmt.Sprintf("lock 0x%x", c.what.Lock))
	}
	if c.selection.Display != "" {
		parts = append(parts, c.selection.Display)
	}
	return strings.Join(parts, ", ")
}

func (c *ladderOptions) run(args []string) error {
	in, err := c.input.Check(args, c.sys.InTTY)
	if err := errors.Join(err, c.check()); err != nil {
		return err
	}
	c.view.NodeName = in.NodeNames()
	o := c.view.Options(c.sys.IO)
	d := &ladder.Diagram{Title: c.title(), Limit: c.selection.Count, NIDs: o.NIDs}
	d.SetFiles(in.FileNames())
	d.Logs = in.LogNames()
	p := scan.New(c.sys, in, scan.Options{Distinct: true, Logs: scan.LogUse{Beside: true}})
	if err := c.compile(p); err != nil {
		return err
	}
	c.collect(p, in, d, func(files *files.Files) []byte {
		d.First = p.First()
		if path := files.Path(c.fid.Value); path != "" {
			d.Title += " " + path
		}
		switch c.view.Form.Value {
		case "json":
			return d.AppendJSON(nil)
		case "svg":
			return d.AppendSVG(nil, ladder.SVGOptions{Width: c.width, Time: o.Time})
		}
		text := ladder.TextOptions{Colors: o.Colors, Width: o.Width, Time: o.Time}
		if c.width > 0 {
			text.Width = c.width
		}
		return d.AppendText(nil, text)
	})
	return p.Run()
}

// compile compiles the display filter, over messages if it has no keys of RPCs. Without
// any flag that selects, all messages match.
func (c *ladderOptions) compile(p *scan.Pass) error {
	messages, err := c.selection.Messages()
	if err == nil {
		if c.selection.Display != "" || c.title() == "" {
			c.what.Match = func(m *dissect.Message) bool { return messages.Match(m, p.First()) }
		}
		return nil
	}
	rpcs, wrong := c.selection.RPCs()
	if wrong != nil || c.what.Alone {
		return err
	}
	c.what.MatchRPC = rpcs.Match
	c.what.Mark = func(m *dissect.Message, r *track.RPC) { rpcs.Mark(m, p.First(), r) }
	return nil
}

// collect follows what a diagram is made of, selects its messages, and at the end writes
// what draw returns.
func (c *ladderOptions) collect(p *scan.Pass, in *scan.Input, d *ladder.Diagram, draw func(*files.Files) []byte) {
	names := track.NewNames()
	f := p.Follow()
	var calls *nested.Tracker
	if c.what.HasXID {
		calls = f.Nested()
	}
	s := ladder.NewSelector(d, c.what, names, f.Locks(), f.Files(), calls)
	f.Add(follow.Hooks{
		Message: func(r *track.RPC, m *dissect.Message) {
			if names.Message(m); m.Target == "" && r != nil {
				m.Target = r.Target()
			}
			s.Message(m, r)
			if in.Live() && d.Len() >= c.selection.Count {
				p.Fail(scan.ErrStop)
			}
		},
		Done:           s.Done,
		TransferUpdate: s.TransferUpdate,
		Lost:           s.Lost,
	})
	p.Add(scan.Consumer{End: func() error {
		s.Close()
		if s.Dropped > 0 {
			p.Note("%d messages were not kept until their RPC had ended; some of them may belong to the diagram", s.Dropped)
		}
		if d.Len() == 0 {
			p.Note("no message is selected")
			return nil
		}
		if err := p.ReadLogLines(d.Subjects(), d.AddLine); err != nil {
			return err
		}
		w := c.sys.NewWriter(in.FlushPolicy())
		return errors.Join(w.Write(draw(f.Files())), w.Close())
	}})
}
