package scan

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
)

// ErrStop, returned by a consumer, ends a Pass without being an error.
var ErrStop = errors.New("stop reading")

// Options are the settings of a Pass. The zero value reads everything.
type Options struct {
	// Select reports whether consumers get a message; first is the time of
	// the first frame. nil selects all.
	Select func(m *dissect.Message, first int64) bool

	Limit int // stop after so many selected messages, 0 for no limit; see Consumer.Finish
	// Until returns the time of the last frame that is read, by that of the first one. nil: all are read.
	Until func(first int64) int64

	Distinct bool // leave out messages that another capture point saw before
	BulkData bool // keep bulk data in full

	// Concurrent lets the observer and the consumers of files run in a goroutine of their
	// own, which gets copies of the messages. It is for those that take more time than the
	// copies cost, and that take messages to the end of the input: how far the goroutine that
	// reads is ahead of them differs. It has no effect with Limit, SaveTo or Stream.
	Concurrent bool

	Names    *track.Names // gets all messages, and sets their Target; nil: nobody needs it
	Logs     LogUse
	JoinBulk bool // with BulkData: put the parts of file data together
	Frames   bool // fill Message.Frames

	// LookAhead is for how long, at most, names of targets are looked for ahead in files;
	// 0: for as long as maxLookAhead bytes take.
	LookAhead time.Duration

	// SaveTo names a file for the frames of the selected messages; empty for
	// none. With SaveRPCs it gets the frames passed to SaveRPC instead.
	// With SavePDUs it gets the messages themselves, as packets of JSON for
	// Wireshark. With SaveAll it gets all frames of the input; those of selected
	// messages have comments.
	SaveTo   string
	SaveAll  bool
	SaveRPCs bool
	SavePDUs bool

	// Stream gets in place of a file what SaveTo would, within seconds. It is no error
	// when its reader goes away.
	Stream io.Writer

	// Stop ends a live capture when it is closed; nil: only a signal does.
	Stop <-chan struct{}

	// Files are what a live capture opens while it runs, beside the output.
	Files Files

	// AsksNode: AskNode is called while a live capture runs.
	AsksNode bool

	// Outage is called when an interface of a live capture goes away, with the reason,
	// and with nil when all are back. nil: the capture ends with an error when there is
	// none left.
	Outage func(error)
}

// Consumer receives the messages of a Pass. Funcs that are nil are not called.
// The first error of any of them ends the pass; ErrStop ends it without being an
// error.
type Consumer struct {
	// Begin is called when the input is open.
	Begin func() error

	// Frame receives every frame that the capture filter keeps, before its messages.
	Frame func(*capture.Frame) error

	// All receives every message, selected or not.
	All func(*dissect.Message)

	// Message receives every selected message, valid during the call.
	Message func(*dissect.Message) error

	// Finish is called when Limit is reached, and after each message from then on.
	// It returns whether the consumer needs more messages, for the replies to
	// those that it has. A live capture ends without waiting for them.
	Finish func() (more bool)

	// Idle is called when no frame has arrived for a while. now is the time
	// by the clock of the capture in nanoseconds since the epoch.
	Idle func(now int64) error

	// End is called after the last message, also after an error.
	End func() error
}

// Observer takes all that a pass over frames finds. The methods have the meaning that
// those of follow.Follower have.
type Observer interface {
	Message(*dissect.Message) // every message, selected or not, before consumers get it
	TransferUpdate(number int64, t *lnet.Transfer)
	Lost(*lnet.Loss)
	TCPEvent(*lnet.TCPEvent)
	Active() func(*lnet.Activity)
	IBEvent(*lnet.IBEvent)
	Advance(now int64)
	Close()

	Unseen(*track.RPC) // of logs without a capture
	Line(*track.LogLine)
}

// Pass is one pass over the frames of an Input: it dissects them and feeds the
// messages to its consumers, in the order in which these were added.
type Pass struct {
	sys       *System
	in        *Input
	src       *source // while it is open
	opt       Options
	observer  Observer // nil: none
	consumers []Consumer
	once      *track.Duplicates // with Distinct
	dissector *dissect.Dissector
	saver     *saver // with SaveTo or Stream
	offsets   map[string]time.Duration
	logs      logReader // beside the capture; nil: none is read
	clock     clock
	frames    int64
	lines     int64 // of logs without a capture
	messages  int   // before Select
	selected  int
	cut       truncations                   // of all frames
	targets   *targets.Evidence             // of an input that is read once; nil: nobody follows it
	names     *targets.Names                // those that are given, or stand in the comment of the capture
	asking    sync.Mutex                    // held by AskNode
	asked     atomic.Pointer[targets.Names] // what lctl has told so far, with the names that are given
	taken     *targets.Names                // the value of asked that targets were given last
	inputErr  error                         // why reading ended before the end of the input
	err       error                         // of a consumer
	failed    atomic.Bool                   // err is set; the goroutine that reads must not look at err
	stopped   atomic.Bool
}

// clock is the time by the clock of the capture, in nanoseconds since the
// epoch.
type clock struct {
	begun  bool
	first  int64         // time of the first frame
	last   int64         // time of the last frame
	silent time.Duration // time since then without a frame
}

// New returns a Pass over an input.
func New(sys *System, in *Input, opt Options) *Pass {
	p := &Pass{sys: sys, in: in, opt: opt}
	if opt.Distinct && in.Distinct() {
		p.once = &track.Duplicates{}
	}
	return p
}

// Add adds a consumer.
func (p *Pass) Add(c Consumer) { p.consumers = append(p.consumers, c) }

func (p *Pass) begin() {
	for _, c := range p.consumers {
		if c.Begin != nil {
			p.Fail(c.Begin())
		}
	}
}

func (p *Pass) end() {
	for _, c := range p.consumers {
		if c.End != nil {
			p.Fail(c.End())
		}
	}
}

func (p *Pass) idleConsumers(now int64) {
	for _, c := range p.consumers {
		if c.Idle != nil {
			p.Fail(c.Idle(now))
		}
	}
}

// First returns the time of the first frame, 0 before it was read.
func (p *Pass) First() int64 { return p.clock.first }

// Last returns the time of the last frame that was read, 0 before the first.
func (p *Pass) Last() int64 { return p.clock.last }

// Interrupted returns the error of a reading that the user has ended, nil of others. It is for
// the End func of a Consumer.
func (p *Pass) Interrupted() error {
	if p.src == nil || !p.src.interrupted() {
		return nil
	}
	var err exit.Interrupted
	if bytes := p.Progress(); bytes != nil {
		err.Read, err.Total = bytes()
	}
	return err
}

// Note writes a message to standard error, unless -q was given.
func (p *Pass) Note(format string, args ...any) {
	if !p.in.flags.Quiet {
		p.sys.Say(format, args...)
	}
}

// Run reads the input to its end.
func (p *Pass) Run() (err error) {
	switch {
	case p.err != nil: // something could not be opened
		return p.err
	case p.opt.SaveTo == "" && p.in.ring.any():
		return exit.Usagef("-b needs -w")
	case p.opt.SaveTo == "" && p.in.stop.bytes > 0:
		return exit.Usagef("-a filesize: needs -w")
	}
	if p.offsets, err = p.in.clockOffsets(p.sys); err != nil {
		return err
	}
	if len(p.in.logs) > 0 && p.sys.SaveMemory != nil {
		p.sys.SaveMemory()
	}
	if p.in.OnlyLogs() {
		return p.runLogs()
	}
	if len(p.in.logs) > 0 {
		if err := p.openLogs(); err != nil {
			return err
		}
	}
	p.AskNode() // it needs privileges that the capture drops
	src, err := p.in.open(p.sys, p.offsets)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.frames.Close()) }()
	p.src = src
	if p.opt.SaveTo != "" || p.opt.Stream != nil {
		if p.saver, err = newSaver(p.sys, p.in, p.opt); err == nil {
			err = p.saver.begin(src, p.in)
		}
		if err != nil {
			return err
		}
	}
	o := dissect.Options{Handle: p.message, Ports: p.in.ports, Frames: p.opt.Frames || p.saver != nil && p.saver.pdus == nil,
		Data: p.opt.BulkData, Join: p.opt.JoinBulk}
	if x := p.observer; x != nil {
		o.TransferUpdate, o.Lost, o.TCPEvent, o.Active, o.IBEvent = x.TransferUpdate, x.Lost, x.TCPEvent, x.Active(), x.IBEvent
	}
	wait := func() {}
	if p.concurrent() {
		o, wait = dissect.Concurrent(o)
	}
	p.dissector = dissect.New(o)
	if p.in.Live() && p.sys.Harden != nil {
		files := p.opt.Files
		if p.in.ring.any() {
			files.Write = append(files.Write, filepath.Dir(p.opt.SaveTo))
		}
		files.Foreign = slices.ContainsFunc(files.Write, func(dir string) bool { return !iostreams.MayRenameIn(dir) })
		files.Write = append(files.Write, p.in.outputs...)
		if path, err := exec.LookPath("lctl"); err == nil && p.opt.AsksNode && p.in.asksNode() {
			files.Run = append(lctlFiles[:len(lctlFiles):len(lctlFiles)], path)
		}
		switch err := p.sys.Harden(files); {
		case errors.Is(err, errors.ErrUnsupported):
			p.Note("privileges are kept during the capture: %v", err)
		case err != nil:
			return err
		}
	}
	// Until here a signal ends the program, because opening a FIFO may wait
	// for its other end.
	release := func() {}
	if src.waits {
		onSignal(p.in.stop.duration, p.opt.Stop, src.stop, os.Interrupt, syscall.SIGTERM)
	} else if !signal.Ignored(os.Interrupt) {
		release = onSignal(0, nil, src.stop, os.Interrupt)
	}
	if p.in.Live() && !p.in.flags.Quiet {
		p.sys.Say("capturing on %s: %s", strings.Join(p.in.flags.Interfaces, ", "), p.in.liveTraffic())
		for _, note := range src.live.Notes() {
			p.sys.Say("%s", note)
		}
		if p.in.flags.Verbose {
			p.sys.Say("frames have the time stamps of %s", src.live.Timestamps())
		}
	}
	p.begin()
	p.inputErr = p.read(src)
	release()
	err = p.inputErr
	if src.interrupted() {
		err = errors.Join(err, p.Interrupted())
	}
	if !p.failed.Load() {
		p.dissector.Close()
	}
	wait()
	complete := err == nil && p.err == nil
	if p.observer != nil {
		p.observer.Advance(p.clock.last)
		p.observer.Close()
	}
	p.end()
	if p.logs != nil {
		err = errors.Join(err, p.logs.Err())
	}
	err = errors.Join(p.consumerError(err), p.finishSave())
	if !p.in.flags.Quiet {
		p.report(src, complete)
	}
	return err
}

func (p *Pass) consumerError(err error) error {
	if p.err != nil && !errors.Is(p.err, ErrStop) {
		err = errors.Join(err, p.err)
	}
	return err
}

// concurrent reports whether messages are passed on to another goroutine, if there is a core for it. The writer
// of a pipe may pause, and what it has written by then is shown.
func (p *Pass) concurrent() bool {
	return p.opt.Concurrent && p.opt.Limit == 0 && p.saver == nil && p.src.reader != nil && !p.in.piped() && runtime.GOMAXPROCS(0) > 1 &&
		!slices.ContainsFunc(p.consumers, func(c Consumer) bool { return c.Frame != nil })
}

// read feeds the frames of the input to the dissector until their end or until
// a consumer stops. The error is that of the input.
func (p *Pass) read(src *source) error {
	bytes := p.Progress()
	if p.in.flags.Quiet && p.sys.Reading == nil {
		bytes = nil
	}
	defer p.sys.NewProgress(bytes).Stop()
	var f capture.Frame
	for !p.failed.Load() && !p.stopped.Load() {
		err := src.next(&f)
		src.retry(p.outage)
		switch {
		case errors.Is(err, capture.ErrTimeout):
			p.idle()
			continue
		case errors.Is(err, capture.ErrDown) && (p.opt.Outage != nil || src.live.Up()):
			src.away(err, p.outage)
			continue
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if p.opt.Until != nil && f.Time > p.opt.Until(cmp.Or(p.clock.first, f.Time)) {
			return nil
		}
		if take, err := p.frame(&f); err != nil {
			return err
		} else if take {
			p.dissector.Frame(&f)
		}
		if p.frames++; p.frames == p.in.stop.packets {
			break
		}
	}
	return nil
}

// outage calls Options.Outage, and says when one of several interfaces is away or all are back.
func (p *Pass) outage(err error) {
	switch {
	case p.opt.Outage != nil:
		p.opt.Outage(err)
	case err != nil:
		p.Note("%v; the capture goes on without it", err)
	default:
		p.Note("the capture goes on on all interfaces")
	}
}

// frame passes a frame to all that take frames. It returns false if the capture filter
// leaves it out.
func (p *Pass) frame(f *capture.Frame) (take bool, err error) {
	if !p.clock.begun {
		p.readNames()
	}
	p.takeNames()
	p.clock.frame(f.Time)
	p.cut.frame(f)
	if keep, err := p.keeps(f); err != nil || !keep {
		return false, err
	}
	if p.saver != nil && p.saver.add(f) != nil {
		p.Stop() // finishSave returns the error
		return false, nil
	}
	for i := range p.consumers {
		if frame := p.consumers[i].Frame; frame != nil {
			p.Fail(frame(f))
		}
	}
	return true, nil
}

func (p *Pass) keeps(f *capture.Frame) (bool, error) {
	if p.in.keep == nil {
		return true, nil
	}
	ok, err := p.in.keep.Match(f.Link, f.Data, f.Len)
	if err != nil {
		return false, exit.UsageError{Err: err}
	}
	return ok, nil
}

// Stop ends the pass, within half a second where no frames arrive. It may be called from
// another goroutine.
func (p *Pass) Stop() { p.stopped.Store(true) }

// Progress returns a func for another goroutine that counts the bytes read and all bytes,
// or nil when there is nothing to count. It is for the Begin func of a Consumer.
func (p *Pass) Progress() func() (read, total int64) {
	if p.src == nil || p.src.reader == nil { // logs, or a live capture
		return nil
	}
	return p.src.reader.Progress
}

func (p *Pass) message(m *dissect.Message) {
	if p.err != nil {
		return
	}
	p.messages++
	if p.once != nil && p.once.Seen(m) {
		return
	}
	if p.opt.Names != nil {
		p.opt.Names.Message(m)
	}
	if p.observer != nil {
		p.observer.Message(m)
	}
	for i := range p.consumers {
		if all := p.consumers[i].All; all != nil {
			all(m)
		}
	}
	if p.opt.Select != nil && !p.opt.Select(m, p.clock.first) {
		p.finish()
		return
	}
	if p.saver != nil && !p.opt.SaveRPCs && !p.limited() {
		p.saver.message(m, p.clock.first)
	}
	for i := range p.consumers {
		if message := p.consumers[i].Message; message != nil {
			p.Fail(message(m))
		}
	}
	p.selected++
	p.finish()
}

// limited reports whether as many messages were selected as there may be.
func (p *Pass) limited() bool { return p.opt.Limit > 0 && p.selected >= p.opt.Limit }

// finish ends the pass at the limit, unless a consumer still waits for replies.
func (p *Pass) finish() {
	if !p.limited() {
		return
	}
	more := false
	for i := range p.consumers {
		if finish := p.consumers[i].Finish; finish != nil {
			more = finish() || more
		}
	}
	if !more || p.in.Live() {
		p.Fail(ErrStop)
	}
}

// idle is called when no frame has arrived for a while. It hands out what waits
// for late frames and calls the Idle funcs.
func (p *Pass) idle() {
	p.clock.silent += pipeIdle
	p.takeNames()
	if p.dissector.Flush(); p.err != nil {
		return
	}
	now := p.clock.now()
	if p.in.Live() {
		now = time.Now().UnixNano()
	}
	if p.observer != nil {
		p.observer.Advance(now)
	}
	p.idleConsumers(now)
	if p.saver != nil && p.saver.idle(now) != nil {
		p.Fail(ErrStop) // finishSave returns the error
	}
}

// Fail ends the pass with an error of a consumer, or at ErrStop without one; nil does
// nothing. The first error is kept; it replaces ErrStop.
func (p *Pass) Fail(err error) {
	if p.err == nil || errors.Is(p.err, ErrStop) && err != nil {
		p.err = err
	}
	if p.err != nil {
		p.failed.Store(true)
	}
}

// frame records the time of a frame.
func (c *clock) frame(t int64) {
	if !c.begun {
		c.begun, c.first = true, t
	}
	c.last, c.silent = t, 0
}

// now returns the time of the last frame plus the silence since. The time of day
// cannot be used, as frames from a pipe may have been captured at any time.
func (c *clock) now() int64 { return c.last + int64(c.silent) }
