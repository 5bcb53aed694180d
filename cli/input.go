package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/capture"
	"github.com/lshark/lshark/capture/pcapfilter"
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/track"
)

// input holds the flags of all commands that read packets.
type input struct {
	once     *track.Once // not nil: a message is shown once, whoever saw it
	sys      *IO
	read     []string
	iface    string
	filter   string
	keep     *pcapfilter.Filter // filter, for files; nil: all frames
	last     int64              // time of the last frame
	silent   time.Duration      // how long nothing has come since
	display  display
	notice   func(m *dissect.Message) // looks at what display leaves out, too; nil: nobody does
	save     string
	saver    *saver // once the input is open, nil without save
	ports    []uint
	stops    []string
	offset   []string
	count    int
	quiet    bool
	verbose  bool
	duration time.Duration
	files    []string                 // read and the arguments
	clocks   map[string]time.Duration // to add to the times of each, nil until it is known
	stopped  atomic.Bool
}

// errStop ends the reading of messages without being an error.
var errStop = errors.New("enough")

func (in *input) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVarP(&in.read, "read", "r", nil, "capture `FILE`; may be repeated, - is standard input")
	f.StringVarP(&in.iface, "interface", "i", "", "capture live from `IFACE` (any: all of them)")
	f.StringVarP(&in.filter, "filter", "f", "", "capture filter `EXPR`, in the syntax of pcap-filter")
	in.display.flags(cmd)
	f.StringVarP(&in.save, "write", "w", "", "write the frames of what matches to `FILE`, as pcapng")
	f.UintSliceVar(&in.ports, "port", nil, "TCP `PORT`s that carry LNet (default 988)")
	f.Lookup("port").DefValue = "" // pflag would say [], too
	f.StringArrayVarP(&in.stops, "autostop", "a", nil, "stop a live capture after `duration:SECS`")
	f.StringArrayVar(&in.offset, "offset", nil, "add SECS to the times of FILE (`FILE=SECS`); by default clocks are compared")
	f.IntVarP(&in.count, "count", "c", 0, "stop after `N` messages")
	f.BoolVarP(&in.quiet, "quiet", "q", false, "say nothing about the capture itself")
	f.BoolVarP(&in.verbose, "verbose", "v", false, "say more about the capture itself")
	listFlag(cmd, in.sys)
}

// oneSighting makes messages that several capture points saw count once.
func (in *input) oneSighting() {
	if len(in.files) > 1 {
		in.once = &track.Once{}
	}
}

// check completes the flags with the arguments.
func (in *input) check(args []string) error {
	in.files = append(append([]string{}, in.read...), args...)
	for _, s := range in.stops {
		secs, ok := strings.CutPrefix(s, "duration:")
		d, err := time.ParseDuration(secs + "s")
		if !ok || err != nil || d <= 0 {
			return usagef("-a %s: only duration:SECS is known", s)
		}
		in.duration = d
	}
	for _, p := range in.ports {
		if p == 0 || p > 65535 {
			return usagef("--port %d: not a TCP port", p)
		}
	}
	switch {
	case in.count < 0:
		return usagef("-c %d: must not be negative", in.count)
	case in.iface != "" && len(in.files) > 0:
		return usagef("files and -i exclude each other")
	case in.duration > 0 && in.iface == "":
		return usagef("-a is for live captures (-i)")
	case in.iface == "" && len(in.files) == 0:
		if in.sys.InTTY {
			return usagef("no capture given: name a file, or an interface with -i")
		}
		in.files = []string{"-"}
	}
	if name := in.pipeTwice(); name != "" {
		return usagef("%s is named twice, but can be read only once", name)
	}
	if in.filter != "" && !in.live() {
		var err error
		if in.keep, err = pcapfilter.New(in.filter, capture.LinkEthernet); err != nil {
			return usageError{err}
		}
	}
	return in.display.check()
}

// live says whether frames come as they happen.
func (in *input) live() bool { return in.iface != "" }

// advance tells the time when no frame comes. In a live capture it is that of
// the clock. What a pipe brings may be of any time: there it is that of the last
// frame, and how long the pipe has been silent since.
func (in *input) advance(told ...func(now int64)) {
	now := in.last + int64(in.silent)
	if in.live() {
		now = time.Now().UnixNano()
	}
	for _, advance := range told {
		advance(now)
	}
}

// piped says whether frames come through a pipe, from someone who may be slow.
func (in *input) piped() bool {
	for _, path := range in.files {
		if path == "-" {
			path = "/dev/stdin"
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// pipeTwice is the name of a pipe, or of standard input, that is among the
// files a second time.
func (in *input) pipeTwice() string {
	var pipes []os.FileInfo
	for _, path := range in.files {
		info, err := stat(path)
		if err != nil || path != "-" && info.Mode()&os.ModeNamedPipe == 0 {
			continue
		}
		same := func(other os.FileInfo) bool { return os.SameFile(info, other) }
		switch {
		case !slices.ContainsFunc(pipes, same):
		case path == "-":
			return "standard input"
		default:
			return path
		}
		pipes = append(pipes, info)
	}
	return ""
}

// stat is os.Stat, with - for standard input.
func stat(path string) (os.FileInfo, error) {
	if path == "-" {
		return os.Stdin.Stat()
	}
	return os.Stat(path)
}

// frames is where frames come from.
type frames interface {
	Next(*capture.Frame) error
	Close() error
}

// run reads the input to its end and calls handle for each message, with the
// time of the first frame. An error of handle ends it; errStop is none.
func (in *input) run(handle func(m *dissect.Message, first int64) error, idle func() error) (err error) {
	src, err := in.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	r := reading{in: in, handle: handle, idle: idle}
	if in.save != "" {
		if in.saver, err = newSaver(in); err != nil {
			return err
		}
		if !in.display.rpcs { // RPCs may be shown after the end of the input
			defer func() { err = errors.Join(err, in.saved()) }()
		}
	}
	o := dissect.Options{Handle: r.message, Frames: in.save != ""}
	for _, p := range in.ports {
		o.Ports = append(o.Ports, uint16(p))
	}
	r.dissector = dissect.New(o)
	if in.live() && in.sys.Harden != nil {
		if err := in.sys.Harden(); err != nil {
			return err
		}
	}
	in.catch(src)
	line := in.watch(src)
	err = r.frames(src)
	line.end()
	if r.err == nil {
		r.dissector.Close()
		err = errors.Join(err, r.err)
	}
	if errors.Is(err, errStop) {
		err = nil
	}
	in.summarize(&r, src, err == nil)
	return err
}

// reading is one run over the input.
type reading struct {
	in        *input
	dissector *dissect.Dissector
	handle    func(m *dissect.Message, first int64) error
	idle      func() error
	first     int64
	seen      int
	count     int   // of those that matched
	longest   int   // bytes that were captured of a frame
	err       error // of handle
}

func (r *reading) message(m *dissect.Message) {
	if r.err != nil {
		return
	}
	r.seen++
	if r.in.once != nil && r.in.once.Again(m) {
		return
	}
	if r.in.notice != nil {
		r.in.notice(m)
	}
	if !r.in.display.match(m, r.first) {
		return
	}
	r.count++
	if s := r.in.saver; s != nil && !r.in.display.rpcs {
		s.message(m)
	}
	r.err = r.handle(m, r.first)
	if r.err == nil && r.in.count > 0 && r.count >= r.in.count {
		r.err = errStop
	}
}

// frames passes frames on until their end, or until a message was one too
// many.
func (r *reading) frames(src frames) error {
	var f capture.Frame
	for begun := false; ; {
		switch err := src.Next(&f); {
		case errors.Is(err, capture.ErrTimeout):
			r.in.silent += pipeIdle
			if r.dissector.Quiet(); r.err != nil {
				return r.err
			}
			if err := r.idle(); err != nil {
				return err
			}
			continue
		case err == io.EOF, r.in.stopped.Load() && errors.Is(err, os.ErrClosed):
			return nil
		case err != nil:
			return err
		}
		if !begun {
			begun, r.first = true, f.Time
		}
		r.in.last, r.in.silent = f.Time, 0
		r.longest = max(r.longest, len(f.Data))
		if r.in.keep != nil {
			if ok, err := r.in.keep.Match(f.Link, f.Data, f.Len); err != nil {
				return usageError{err}
			} else if !ok {
				continue
			}
		}
		if s := r.in.saver; s != nil {
			if s.add(&f) != nil {
				return errStop // saved returns the error
			}
		}
		if r.dissector.Frame(&f); r.err != nil {
			return r.err
		}
	}
}

// open opens the files, or the interface.
func (in *input) open() (frames, error) {
	if !in.live() {
		if in.clocks == nil { // the files may be read a second time
			var err error
			if in.clocks, err = in.offsets(); err != nil {
				return nil, err
			}
		}
		return in.sys.open(in.files, capture.Options{Offset: in.clocks, Idle: pipeIdle})
	}
	return capture.OpenLive(in.iface, capture.LiveOptions{Filter: in.liveFilter()})
}

// pipeIdle is how long the writer of a pipe may be silent before what waits
// for late frames is shown.
const pipeIdle = 500 * time.Millisecond

// liveFilter is the capture filter; without -f the ports of LNet.
func (in *input) liveFilter() string {
	if in.filter != "" {
		return in.filter
	}
	var ports []int
	for _, p := range in.ports {
		ports = append(ports, int(p))
	}
	if len(ports) == 0 {
		ports = []int{lnet.DefaultPort}
	}
	return pcapfilter.TCPPorts(ports)
}

// liveTraffic says what a live capture takes in.
func (in *input) liveTraffic() string {
	switch {
	case in.filter != "":
		return in.filter
	case in.verbose:
		return in.liveFilter()
	case len(in.ports) == 0:
		return fmt.Sprintf("TCP port %d", lnet.DefaultPort)
	}
	return fmt.Sprintf("TCP ports %v", in.ports)
}

// catch lets signals end the reading of what was opened. Until then they end
// the program, which may wait for the other end of a FIFO.
func (in *input) catch(src frames) {
	if l, ok := src.(*capture.Live); ok {
		in.stopOn(l.Stop)
		if !in.quiet {
			in.sys.say("capturing on %s: %s", in.iface, in.liveTraffic())
		}
	} else if in.piped() {
		in.stopOn(func() {
			in.stopped.Store(true)
			src.Close() // Next tells
		})
	}
}

// stopOn lets a signal or the time limit end what may never end by itself: a
// live capture or a pipe. What was seen by then is shown.
func (in *input) stopOn(stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var limit <-chan time.Time
	if in.duration > 0 {
		limit = time.After(in.duration)
	}
	go func() {
		select {
		case <-signals:
		case <-limit:
		}
		signal.Stop(signals) // a second one ends us, whatever holds us up
		stop()
	}()
}

// headersLen is what a frame needs to hold the headers of one message:
// Ethernet, IPv4, TCP with a time stamp, socklnd and LNet.
const headersLen = 14 + 20 + 32 + 24 + 72

// summarize tells about the capture itself; whole says that it was read to its
// end.
func (in *input) summarize(r *reading, src frames, whole bool) {
	if in.quiet {
		return
	}
	st := r.dissector.Stats()
	if l, ok := src.(*capture.Live); ok {
		if n, err := l.Dropped(); err == nil && n > 0 {
			in.sys.say("%d frames were dropped: they came faster than they could be read", n)
		}
	}
	short := ""
	if st.CutBytes > 0 && r.longest < headersLen {
		short = fmt.Sprintf("frames were cut to %d bytes, too few for the headers of Lustre; capture with -s 1024", r.longest)
	}
	switch {
	case r.seen == 0 && r.err == nil && whole && short != "":
		in.sys.say("no Lustre traffic in %d frames: %s", st.Frames, short)
	case r.seen == 0 && r.err == nil && whole && st.RDMA > 0:
		in.sys.say("no Lustre traffic in %d frames over TCP; %d of them are RDMA (RoCE), where o2iblnd is not dissected yet", st.Frames, st.RDMA)
	case r.seen == 0 && r.err == nil && whole:
		in.sys.say("no Lustre traffic in %d frames", st.Frames)
	case short != "":
		in.sys.say("%s", short)
	}
	if in.verbose {
		in.sys.say("%d frames, %d connections, %d messages, %d segments retransmitted, "+
			"%d out of order, %d gaps of %d bytes, %d searches for a header, %d streams without LNet, "+
			"%d messages cut for want of memory", st.Frames, st.Conns, r.seen,
			st.Retransmitted, st.OutOfOrder, st.Gaps, st.LostBytes, st.Resyncs, st.NotLNet, st.Unaffordable)
	}
}
