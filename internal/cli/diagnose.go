package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/trouble"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

type diagnoseOptions struct {
	flags.Job
	filter   *filter.RecordFilter[*diagnose.Finding]
	only     []string
	verify   bool // checksums of data
	pdu      bool
	severity flags.Choice
	trouble  flags.Trouble
	exitCode bool

	rules []*diagnose.Rule
	least diagnose.Severity

	out  *flags.Run[*diagnose.Finding]
	text func() *tables.FindingsText // is called when the first frame has been read, whose time the text needs
	list []*diagnose.Finding         // those that are selected, at the end
}

func newDiagnose(sys *scan.System) *cobra.Command {
	c := &diagnoseOptions{Job: flags.NewJob(sys, flags.RecordForms("text")...),
		severity: flags.SeverityChoice("--severity", diagnose.Note)}
	return flags.Command(&cobra.Command{
		Use:   "diagnose [flags] [FILE…|-]",
		Short: "Report what is wrong: evictions, refused connects, what is slow, and the frames that prove it",
		Long: "diagnose reports what is wrong, the worst first: errors that an application or an administrator got, warnings about what is slow " +
			"or may become an error, and notes. A finding has a code, when it happened, whom it is about, the frames that prove it, and what to " +
			"look at next. It says only what messages prove. lshark explain CODE describes its rule.",
		Example: `  # what is wrong?
  lshark diagnose evicted.pcap

  # both sides of the network, merged
  lshark diagnose evicted.pcap server.pcap

  # evictions only
  lshark diagnose --only evicted evicted.pcap

  # errors that concern one target, as JSON
  lshark diagnose --severity error -T json evicted.pcap \
    -Y 'finding.target == lustre-OST0000' | jq .

  # cut the minutes around each error out of a large capture
  lshark diagnose --trouble cut evicted.pcap

  # the messages, and the findings as expert information, in Wireshark
  lshark diagnose -w evicted.pcapng --pdu evicted.pcap

  # what the kernels of this site report, as it happens
  lshark diagnose --log /var/log/messages --follow

  # is anything wrong? for scripts
  lshark diagnose --exit-code evicted.pcap > found.txt || echo see found.txt

  # what a rule does
  lshark explain evicted.lock_callback`,
	}, c, flags.Help{
		Display: "only findings that match the display filter `EXPR` over keys of findings, such as 'finding.client == 192.0.2.3@tcp'",
		Counted: "messages",
		Time:    "finding",
		Logs:    true,
		Follow:  true,
		Selection: func(f *pflag.FlagSet) {
			f.StringSliceVar(&c.only, "only", nil, "only rules with these `CODES` or beginnings of codes, separated by commas, such as evicted,slow.network")
			f.Var(&c.severity, "severity", "only findings that are at least as severe: "+flags.WordList(c.severity.Words))
			f.BoolVar(&c.verify, "checksums", false, "compute the checksums of the data of all reads and writes, to find out who changed them; "+
				"takes longer")
		},
		Output: func(f *pflag.FlagSet) {
			f.BoolVar(&c.exitCode, "exit-code", false, "for scripts: exit with status 4 if there is an error among the findings, else with 5 if there is a warning")
			f.StringVarP(&c.Save, "write", "w", "", "with --pdu, also write all messages and the findings to `FILE`, as pcapng")
			c.Input.RegisterRing(f)
			f.BoolVar(&c.pdu, "pdu", false, "with -w, as packets of JSON for Wireshark")
			c.trouble.Register(f, "write a folder in `DIR` for each trouble that is shown, with the frames around it")
		},
	}, (*diagnoseOptions).check, (*diagnoseOptions).run)
}

func (c *diagnoseOptions) check() error {
	c.least = flags.Severity(&c.severity)
	var unknown string
	var err error
	if c.rules, unknown = diagnose.Choose(rules.All(), c.only); unknown != "" {
		return exit.UnknownName("rule", unknown, diagnose.Codes(rules.All()))
	}
	if c.pdu != (c.Save != "") {
		return exit.Usagef("-w and --pdu need each other: diagnose writes messages, not frames")
	}
	c.filter, err = flags.Filter(c.Display, &records.Findings)
	return errors.Join(c.trouble.Check(), err)
}

func (c *diagnoseOptions) selects(f *diagnose.Finding) bool {
	return f.Severity >= c.least && c.filter.Match(f)
}

func (c *diagnoseOptions) run() error {
	o := scan.Options{Limit: c.Count, BulkData: c.verify, JoinBulk: c.verify, Concurrent: true, Logs: scan.LogUse{Beside: true, Elsewhere: true, Flag: "ha",
		Unknown: "what needs messages is not looked for, such as locks and what the network does"}}
	if c.Save != "" {
		o.SavePDUs, o.Names = true, track.NewNames()
	}
	if c.trouble.Dir != "" {
		o.Files.Write = []string{c.trouble.Dir}
	}
	x := flags.Open(&c.Job, &records.Findings, o)
	c.out = x
	c.text = sync.OnceValue(func() *tables.FindingsText { return tables.NewFindingsText(x.Options(), c.first(), c.Input.Verbose) })
	x.Line = func(dst *schema.Marked, f *diagnose.Finding) {
		if c.Input.Verbose || c.chooses() || !tables.IsUsual(f) { // which end writes
			c.text().Append(dst, f)
		}
	}
	d := diagnose.Options{Rules: c.rules, Follow: x.FollowOptions(), Data: c.verify, Capture: x.Captured}
	if x.In.OnlyLogs() {
		d.Capture, d.OnlyLogs = nil, true
	}
	if x.In.Live() {
		d.Found = func(f *diagnose.Finding) {
			if c.selects(f) {
				x.Emit(f)
			}
		}
	}
	var recorder *trouble.Recorder // of an input that is read once
	records := c.trouble.Dir != "" && !x.In.Rereadable()
	if records {
		d.Counted = func(f *diagnose.Finding) {
			if c.isTrouble(f) {
				recorder.Finding(f)
			}
		}
	}
	e := diagnose.New(d)
	x.Observe(e)
	troubles := c.trouble.Options(c.Sys, x.In, execute)
	names := func() []byte { return targets.AppendConnections([]byte(targets.CommentTitle), e.Imports().List()) }
	if records {
		var err error
		if recorder, err = c.record(x.Reading, troubles, e.Findings, names); err != nil {
			return err
		}
	}
	err := x.Run(func() {
		c.end(e)
		for _, f := range c.list {
			x.SaveFinding(f)
			if x.Next == "" {
				x.Next = ladderOf(f)
			}
		}
		if n := e.Dropped(); n > 0 {
			x.Note("%d findings were too many to keep", n)
		}
	})
	switch {
	case recorder != nil:
		err = errors.Join(err, recorder.Close())
	case err == nil && c.trouble.Dir != "":
		var paths []string
		paths, err = trouble.Write(troubles, e.Findings(), c.isTrouble, names(), x.Reread)
		for _, path := range paths {
			x.Note("%s", path)
		}
	}
	if err == nil && !x.IsText() && len(c.list) == 0 && e.RPCs() > 0 {
		what := "nothing found"
		if c.chooses() {
			what = "no such findings"
		}
		x.Note("%s in %d RPCs", what, e.RPCs())
	}
	if c.exitCode && (err == nil || errors.Is(err, syscall.EPIPE)) {
		return statusOf(c.list)
	}
	return err
}

// chooses reports whether flags choose some of the findings.
func (c *diagnoseOptions) chooses() bool {
	return len(c.only) > 0 || c.filter != nil || c.least > diagnose.Note
}

// statusOf returns the exit status by what was found.
func statusOf(list []*diagnose.Finding) error {
	worst := diagnose.Note
	for _, f := range list {
		worst = max(worst, f.Severity)
	}
	switch worst {
	case diagnose.Error:
		return exit.FoundError
	case diagnose.Warning:
		return exit.FoundWarning
	}
	return nil
}

// ladderOf returns the arguments that draw what a finding is about: a lock, or the messages that
// prove it; empty if it is a note, or about segments of TCP.
func ladderOf(f *diagnose.Finding) string {
	if len(f.Locks) > 0 {
		return fmt.Sprintf("ladder --lock 0x%x", f.Locks[0])
	}
	if f.Severity == diagnose.Note || strings.HasPrefix(f.Rule.Code, "tcp.") {
		return ""
	}
	var file string
	var frames []string
	for _, e := range f.Evidence {
		if e.Frame > 0 && (frames == nil || e.File == file) {
			file, frames = e.File, append(frames, strconv.FormatInt(e.Frame, 10))
		}
	}
	if frames == nil {
		return ""
	}
	filter := "frame in {" + strings.Join(frames, ", ") + "}"
	if file != "" {
		filter += " && file == " + strconv.Quote(file)
	}
	return "ladder -Y " + flags.ShellWord(filter)
}

// record returns the flight recorder of an input that is read once.
func (c *diagnoseOptions) record(x *flags.Reading, o trouble.Options, findings func() []*diagnose.Finding,
	names func() []byte) (*trouble.Recorder, error) {
	r, err := trouble.NewRecorder(trouble.RecorderOptions{Options: o, MemoryTime: trouble.DefaultTime, MemorySize: trouble.DefaultSize,
		Snaplen: cmp.Or(c.Input.Snaplen, trouble.DefaultSnaplen), Findings: findings, Names: names})
	if err != nil {
		return nil, err
	}
	x.Add(scan.Consumer{
		Frame: func(f *capture.Frame) error {
			r.Frame(f)
			return nil
		},
		Idle: func(now int64) error {
			r.Advance(now)
			return nil
		},
	})
	return r, nil
}

// isTrouble reports whether a finding shall have a folder.
func (c *diagnoseOptions) isTrouble(f *diagnose.Finding) bool {
	return f.Severity >= c.trouble.Least && c.selects(f)
}

// first returns the time that others are relative to. The first line of a log may tell when a request was sent.
func (c *diagnoseOptions) first() int64 {
	first := c.out.First()
	for _, f := range c.list {
		if c.In.OnlyLogs() && f.First != 0 {
			first = min(first, f.First)
		}
	}
	return first
}

// end writes the findings of files, and in text the line about the input: before them, of a live
// capture behind them.
func (c *diagnoseOptions) end(e *diagnose.Engine) {
	c.list = slices.DeleteFunc(e.Findings(), func(f *diagnose.Finding) bool { return !c.selects(f) })
	switch {
	case !c.out.IsText() && c.In.Live(): // they are written
		return
	case !c.out.IsText():
		c.out.Emit(c.list...)
		return
	case len(c.list) == 0 && e.RPCs() == 0:
		return
	}
	var dst schema.Marked
	text := c.text()
	var clients, servers []lnet.NID
	if !c.In.OnlyLogs() { // which have lines about some of the connections only
		captured := slices.DeleteFunc(slices.Clone(e.Imports().List()), func(i *track.Import) bool { return i.FromLog }) // as are the RPCs
		clients, servers = track.Nodes(captured)
	}
	text.AppendInput(&dst, &tables.Input{First: c.first(), Last: c.out.Last(), RPCs: e.RPCs(), Clients: clients, Servers: servers},
		c.list, c.chooses())
	switch {
	case c.In.Live(): // they are written
	case c.chooses():
		for _, f := range c.list {
			text.Append(&dst, f)
		}
	default:
		text.AppendAll(&dst, c.list) // with what an expert would say first
	}
	c.out.Fail(c.out.Print(&dst))
}
