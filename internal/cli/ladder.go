package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/ladder"
	"github.com/lshark/lshark/render/records"
)

// ladderOptions are the flags of the command that draws sequence diagrams.
type ladderOptions struct {
	flags.Job
	xid   string
	lock  string
	fid   flags.FID
	width int
	what  ladder.Selection // after check
}

func newLadder(sys *scan.System) *cobra.Command {
	c := &ladderOptions{Job: flags.NewJob(sys, flags.RecordForms("text", "svg")...)}
	c.Count = 1000
	return flags.Command(&cobra.Command{
		Use:   "ladder [flags] [FILE…|-]",
		Short: "Draw messages as a sequence diagram, in text or as SVG",
		Long: "ladder draws a column for each node and an arrow for each message, time from top to bottom. " +
			"What any of the flags for selection selects is drawn, with the other messages of its RPCs; --xid, --fid and --lock also draw what " +
			"belongs together beyond an RPC. A legend explains the marks that occur.",
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
	}, c, flags.Help{
		Display: "messages that match the display filter `EXPR`, and the other messages of their RPCs; or RPCs, such as 'rpc.latency > 1s'; \"lshark fields\" lists the names",
		Counted: "messages that are drawn",
		Time:    "message",
		Logs:    true,
		Selection: func(f *pflag.FlagSet) {
			f.BoolVar(&c.what.Alone, "alone", false, "with -Y, not the other messages of the RPCs")
			f.StringVar(&c.xid, "xid", "", "the RPC with that `XID`, and those that servers sent to other nodes because of it; if it asks for a lock, also the callbacks to others that it caused, how they gave up their locks, and what became of the lock")
			f.Var(&c.fid, "fid", "RPCs that name the file or object with that `FID`, or are about its objects or locks")
			f.StringVar(&c.lock, "lock", "", "RPCs about the lock with that `HANDLE` of client or server, and the requests of those who waited for it")
		},
		Output: func(f *pflag.FlagSet) {
			f.IntVar(&c.width, "width", 0, "fit the diagram into `N` columns (default those of the terminal; without one, lines may be of any length)")
		},
	}, (*ladderOptions).check, (*ladderOptions).run)
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
	}
	if c.lock != "" {
		if c.what.Lock, err = strconv.ParseUint(c.lock, 0, 64); err != nil || c.what.Lock == 0 {
			return exit.Usagef("--lock %s: must be a handle, such as 0xfec13fbea991f704", c.lock)
		}
	}
	switch {
	case c.Count == 0 || c.Count > maxLadderCount:
		return exit.Usagef("-c %d: must be between 1 and %d", c.Count, maxLadderCount)
	case c.width > 0 && (c.width < minLadderWidth || c.width > maxLadderWidth):
		return exit.Usagef("--width %d: must be between %d and %d", c.width, minLadderWidth, maxLadderWidth)
	case c.what.Alone && (c.Display == "" || c.xid != "" || c.lock != "" || c.fid.IsSet()):
		return exit.Usagef("--alone needs -Y, and excludes --xid, --fid and --lock")
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
	if c.Display != "" {
		parts = append(parts, c.Display)
	}
	return strings.Join(parts, ", ")
}

func (c *ladderOptions) run() error {
	x := flags.Open(&c.Job, &records.Arrows, scan.Options{Distinct: true, Logs: scan.LogUse{Beside: true, Flag: "ha",
		Unknown: "their lines are drawn, without messages"}})
	if x.In.OnlyLogs() && c.Display != "" {
		x.Fail(exit.Usagef("-Y selects messages, which logs do not have: --xid, --fid and --lock select lines"))
	} else {
		x.Fail(c.compile(x.Pass))
	}
	o := x.Options()
	d := &ladder.Diagram{Title: c.title(), Limit: c.Count, NIDs: o.NIDs}
	d.Files, d.Logs = o.Files, x.In.LogNames()
	x.List = func(dst *schema.Marked, _ []*records.Arrow) {
		switch {
		case d.Len() == 0:
			return
		case c.Form.Value == "svg":
			dst.Text = d.AppendSVG(dst.Text, ladder.SVGOptions{Width: c.width, Time: o.Time})
			return
		}
		d.AppendText(dst, ladder.TextOptions{Width: cmp.Or(c.width, o.Width), Time: o.Time})
	}
	end := c.collect(x.Reading, d)
	return x.Run(func() {
		end()
		x.Emit(d.Records()...)
	})
}

// compile compiles the display filter, over messages if it has no keys of RPCs. Without
// any flag that selects, all messages match.
func (c *ladderOptions) compile(p *scan.Pass) error {
	messages, err := flags.Messages(c.Display)
	if err == nil {
		if c.Display != "" || c.title() == "" {
			c.what.Match = func(m *dissect.Message) bool { return messages(m, p.First()) }
		}
		return nil
	}
	rpcs, wrong := flags.RPCs(c.Display)
	if wrong != nil || c.what.Alone {
		return err
	}
	c.what.MatchRPC = rpcs.Match
	c.what.Mark = func(m *dissect.Message, r *track.RPC) { rpcs.Mark(m, p.First(), r) }
	return nil
}

// selectsLine reports whether a line of a log without a capture is drawn.
func (c *ladderOptions) selectsLine(l *track.LogLine) bool {
	switch {
	case c.xid != "":
		return l.XID == c.what.XID
	case c.lock != "":
		return strings.Contains(l.Text, fmt.Sprintf("/0x%x ", c.what.Lock)) || strings.Contains(l.Text, fmt.Sprintf("remote: 0x%x ", c.what.Lock))
	}
	return !c.fid.IsSet() || strings.Contains(l.Text, strings.Trim(c.fid.Text, "[]"))
}

// collect follows what a diagram is made of, and selects its messages. It returns a func for the
// end of the input, which completes the diagram.
func (c *ladderOptions) collect(x *flags.Reading, d *ladder.Diagram) (end func()) {
	f := x.Follow()
	s := ladder.NewSelector(d, c.what, f)
	anyMessage, elsewhere := x.In.OnlyLogs(), 0
	f.Add(follow.Hooks{
		Message: func(*track.RPC, *dissect.Message) {
			anyMessage = true
			if x.In.Live() && s.Len() >= c.Count {
				x.Fail(scan.ErrStop)
			}
		},
		Line: func(l *track.LogLine) {
			switch {
			case !x.In.OnlyLogs() || !c.selectsLine(l):
			case l.Node.Len == 0:
				elsewhere++
			default:
				d.AddLine(l)
			}
		},
	})
	return func() {
		if s.Close(); elsewhere > 0 {
			x.Note("%d lines are not drawn: the NID of their node is not known; --log NODE=FILE and --names give it", elsewhere)
		}
		if s.Dropped > 0 {
			x.Note("%d messages were not kept until their RPC had ended; some of them may belong to the diagram", s.Dropped)
		}
		d.First = x.First()
		if path := f.Files().Path(c.fid.Value); path != "" {
			d.Title += " " + path
		}
		none := "no message is selected"
		if x.In.OnlyLogs() {
			none = "no line is selected"
		}
		switch {
		case d.Len() > 0:
			x.Fail(x.ReadLogLines(d.Subjects(), d.AddLine))
		case x.In.Live():
			x.Note("%s", none)
		case anyMessage: // without any message, the pass reports that itself
			x.Out.Discard()
			x.Fail(errors.New(none))
		}
	}
}
