package scan

import (
	"encoding/binary"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/logs"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/cli/exit"
)

func (f *Flags) logFiles(names *targets.Names) (list []logs.File, err error) {
	for _, text := range f.Logs {
		file := logs.File{Path: text}
		node, path, named := strings.Cut(text, "=")
		if _, err := os.Stat(text); named && err != nil {
			file.Path = path
			var ok bool
			if file.Node, ok = lnet.ParseNID(node); !ok {
				if file.Node, ok = names.NID(node); !ok {
					return nil, exit.Usagef("--log %s: %s is neither a NID nor the name of one in a file of --names", text, node)
				}
			}
		}
		info, err := os.Stat(file.Path)
		if err != nil {
			return nil, err
		}
		switch kind := contentOf(file.Path); {
		case !info.Mode().IsRegular():
			return nil, exit.Usagef("--log %s: must be a file", text)
		case kind == noLog:
			return nil, &capture.DamageError{File: file.Path, Cause: notALog}
		case kind == packedLog && f.Follow:
			return nil, exit.Usagef("--follow: %s is compressed, and does not grow", file.Path)
		}
		list = append(list, file)
	}
	return list, nil
}

// notALog is what a file is that is no log.
const notALog = "no log of the kernel: --log takes its debug log (lctl dk, lctl debug_file) and its console messages (/var/log/messages and other " +
	"syslog files, journalctl -k, dmesg), which may be compressed"

// takeLogs moves the logs among the files to the logs, and names all of them. Files
// without bytes beside logs are logs of nodes that had nothing to say.
func (in *Input) takeLogs() {
	packets := in.files[:0:0]
	for _, path := range in.files {
		if contentOf(path) >= textLog {
			in.logs = append(in.logs, logs.File{Path: path})
		} else {
			packets = append(packets, path)
		}
	}
	if len(in.logs) > 0 && !slices.ContainsFunc(packets, func(path string) bool { return contentOf(path) != emptyFile }) {
		packets = packets[:0]
	}
	in.files = packets
	paths := make([]string, len(in.logs))
	for i, l := range in.logs {
		paths[i] = l.Path
	}
	for i, name := range capture.FileNames(paths) {
		in.logs[i].Name = name
	}
}

// content is what a file has, as far as logs are concerned.
type content int

const (
	noLog     content = iota
	emptyFile         // no bytes, when it is uncompressed
	textLog           // of the kernel
	packedLog         // the same, compressed
)

func contentOf(path string) content {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return noLog
	}
	f, err := os.Open(path)
	if err != nil {
		return noLog
	}
	defer f.Close()
	const enough = 4 << 10
	head := make([]byte, enough)
	n, _ := f.ReadAt(head, 0)
	switch {
	case n >= 4 && capture.IsMagic(binary.LittleEndian.Uint32(head)):
		return noLog
	case debuglog.Detect(head[:n]):
		return textLog
	}
	plain, err := capture.Decompress(path, f)
	if err == nil {
		n, err = io.ReadFull(plain, head)
	}
	switch {
	case err == io.EOF:
		return emptyFile
	case n > 0 && debuglog.Detect(head[:n]):
		return packedLog
	}
	return noLog
}

// LogNames returns the names of the logs as in records.
func (in *Input) LogNames() (names []string) {
	for i := range in.logs {
		names = append(names, in.logs[i].Name)
	}
	return names
}

// OnlyLogs reports whether the input is debug logs without a capture.
func (in *Input) OnlyLogs() bool { return len(in.logs) > 0 && len(in.files) == 0 && !in.captures() }

// LogUse is how a command uses debug logs.
type LogUse struct {
	Beside    bool   // beside a capture
	Flag      string // without a capture: with which flag for lctl set_param debug a node logs what is shown; empty: this needs a capture
	Unknown   string // what logs alone do not show; empty: keys that are null say so
	Elsewhere bool   // beside a capture, RPCs and connections of nodes that were not captured count, too
}

// LoggedRPCs is the use of logs by commands that show RPCs.
var LoggedRPCs = LogUse{Beside: true, Flag: rpctrace}

// The flags for lctl set_param debug.
const (
	rpctrace = "rpctrace"
	dlmtrace = "dlmtrace"
)

// LoggedLocks is the use of logs by commands that show locks.
var LoggedLocks = LogUse{Beside: true, Flag: dlmtrace, Unknown: "locks that servers have only for themselves are not shown, and what " +
	"the logs of one side do not say is not known"}

// logReader reads logs beside a capture.
type logReader interface {
	Open(*logs.Head) (notes []string, err error)
	Err() error
}

// about is what the lines of a flag are about.
var about = map[string]string{rpctrace: "RPCs", dlmtrace: "locks", "ha": "connections"}

// runLogs reads logs without a capture.
func (p *Pass) runLogs() error {
	use := p.opt.Logs
	x := p.observer
	if x == nil || use.Flag == "" {
		return exit.Usagef("%s: a log: this command needs a capture; lshark diagnose, imports, recovery, ladder, report, rpcs, stats and tui read logs alone, "+
			"and locks debug logs", p.in.logs[0].Path)
	}
	rpcs, lines, locks := 0, 0, 0
	console := true
	m := logs.NewMerge(p.in.logs, func(r *track.RPC) {
		rpcs++
		if p.tookLine(r.Replied().Time) {
			x.Unseen(r)
		}
	})
	m.Line = func(l *track.LogLine) {
		lines++
		console = console && l.Console
		if p.tookLine(l.Time) {
			x.Line(l)
		}
		if p.in.flags.Follow && p.lines%linesPerIdle == 0 {
			p.idleConsumers(p.clock.last)
		}
	}
	if y, ok := x.(interface{ LockLine(*track.LogLine) }); ok && use.Flag == dlmtrace {
		m.Locks = func(l *track.LogLine) {
			if l.Kind >= debuglog.LockAsked {
				locks++
			}
			if p.tookLine(l.Time) {
				y.LockLine(l)
			}
		}
	}
	m.HostNID, m.GivenUp = p.in.names.NID, use.Flag == rpctrace
	open := m.Open
	if p.in.flags.Follow {
		open = m.Follow
	}
	notes, err := open()
	if err != nil {
		return err
	}
	p.in.sayNotes(p.sys, notes)
	if first := m.First(); first != 0 {
		p.clock.frame(first)
	}
	p.begin()
	stop := func() bool { return p.failed.Load() || p.stopped.Load() }
	if p.in.flags.Follow {
		p.followLogs(m, stop)
	} else {
		m.Read(stop)
	}
	p.observer.Close()
	p.end()
	found := map[string]int{rpctrace: rpcs, dlmtrace: locks, "ha": lines}[use.Flag]
	switch {
	case found == 0 && lines > 0 && console:
		p.Note("messages of the console have nothing about %s; lshark diagnose, imports --timeline and ladder show what they have, and lctl set_param debug=+%s "+
			"lets a node log more, which lctl dk prints", about[use.Flag], use.Flag)
	case found == 0 && !p.in.flags.Follow:
		p.Note("nothing about %s in %d lines of logs: nothing happened, or the nodes do not log it (lctl set_param debug=+%s; lctl dk prints it)", about[use.Flag], m.Lines(), use.Flag)
	case console && lines > 0:
		p.Note("from messages of the console alone, which say only what went wrong; lctl dk with debug=+rpctrace shows each RPC")
	}
	if use.Unknown != "" && !console {
		p.Note("from logs alone: %s", use.Unknown)
	}
	if p.in.flags.Verbose {
		p.sys.Say("%d lines of logs, %d others skipped", m.Lines(), m.Skipped())
	}
	return p.consumerError(m.Err())
}

// linesPerIdle is how many lines are read between two calls of the Idle funcs.
const linesPerIdle = 64

// tookLine takes the time of a line, or of an RPC that lines are about, and reports whether the pass goes on.
func (p *Pass) tookLine(t int64) bool {
	p.lines++
	if !p.clock.begun {
		p.clock.frame(t)
	}
	p.clock.last = max(p.clock.last, t)
	return !p.failed.Load()
}

// followLogs reads logs as they grow.
func (p *Pass) followLogs(m *logs.Merge, stop func() bool) {
	ended := make(chan struct{})
	release := onSignal(p.in.stop.duration, p.opt.Stop, func() {
		p.Stop()
		close(ended)
	}, os.Interrupt, syscall.SIGTERM)
	defer release()
	p.Note("following %s", strings.Join(p.in.LogNames(), ", "))
	await := p.sys.AwaitLogs
	if await == nil {
		await = func(stop <-chan struct{}) bool {
			select {
			case <-time.After(time.Second):
				return true
			case <-stop:
				return false
			}
		}
	}
	for more := true; more && !stop(); more = await(ended) {
		before := p.lines
		m.More(stop)
		if p.lines > before {
			p.clock.silent = 0
		} else {
			p.clock.silent += time.Second
		}
		if p.clock.begun {
			p.observer.Advance(p.clock.now())
		}
		p.idleConsumers(p.clock.last)
	}
	m.End()
}

// openLogs opens the logs beside a capture.
func (p *Pass) openLogs() error {
	if p.logs == nil {
		return exit.Usagef("%s: a log, which this command does not read beside a capture; diagnose, rpcs, stats, locks, imports, recovery, trace, ladder, report and tui do",
			p.in.logs[0].Path)
	}
	notes, err := p.logs.Open(p.head())
	p.in.sayNotes(p.sys, notes)
	return err
}

// ReadLogLines reads the logs beside the capture again, and passes on the lines about RPCs.
func (p *Pass) ReadLogLines(subjects []logs.Subject, take func(*track.LogLine)) error {
	if l, ok := p.logs.(*logs.Logs); ok {
		return l.ReadLines(subjects, take)
	}
	return nil
}

// RecentLogs returns the logs beside the capture for showing their lines with the messages,
// nil where none are given.
func (p *Pass) RecentLogs() *logs.Recent {
	if len(p.in.logs) == 0 || p.in.OnlyLogs() {
		return nil
	}
	x := logs.NewRecent(p.in.logs)
	p.logs = x
	return x
}

// head returns the first RPCs of the capture, for comparing clocks; none where it can be
// read only once. The pass itself will report what cannot be read.
func (p *Pass) head() *logs.Head {
	h := &logs.Head{}
	if !p.in.Rereadable() {
		return h
	}
	bytes, more := 0, true
	t := track.NewPairing(track.Options{Done: func(r *track.RPC) { more = h.Add(r) }})
	d := dissect.New(dissect.Options{Ports: p.in.ports, Handle: func(m *dissect.Message) { t.Message(m) }})
	_ = p.readAgain(func(f *capture.Frame, keep bool) error {
		if keep {
			d.Frame(f)
		}
		if bytes += len(f.Data); !more || bytes >= maxLookAhead {
			return io.EOF
		}
		return nil
	})
	d.Close()
	t.Close()
	return h
}
