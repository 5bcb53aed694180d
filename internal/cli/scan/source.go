package scan

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"github.com/lshark/lshark/dissect/capture"
)

// pipeIdle is how long the writer of a pipe may be silent before messages that
// wait for late frames are shown.
const pipeIdle = 500 * time.Millisecond

// source is an open input.
type source struct {
	frames   Frames
	live     *capture.Live   // frames, when they are captured live
	reader   *capture.Reader // frames, when they come from files
	waits    bool            // for what is captured or what is written to a pipe
	stopping atomic.Bool
	retryAt  time.Time // when the capture of an interface that is away is tried again; zero: none is away
}

// outageWait is the time between two attempts to go on with the capture of an interface that is away.
const outageWait = time.Second

// open opens the input; offsets are added to the times of files.
func (in *Input) open(sys *System, offsets map[string]time.Duration) (s *source, err error) {
	s = &source{waits: in.Live() || in.piped()}
	o := capture.Options{Offset: offsets, Idle: pipeIdle}
	switch {
	case in.Live():
		live := in.live
		live.Filter = in.liveFilter()
		s.live, err = capture.OpenLive(in.flags.Interfaces, live)
		s.frames = s.live
	case sys.Open != nil:
		s.frames, err = sys.Open(in.files, o)
	default:
		s.reader, err = capture.Open(in.files, o)
		s.frames = s.reader
	}
	return s, err
}

// next reads the next frame; its errors are those of Frames.Next.
func (s *source) next(f *capture.Frame) error {
	if s.interrupted() {
		return io.EOF
	}
	err := s.frames.Next(f)
	if s.stopping.Load() && errors.Is(err, os.ErrClosed) {
		return io.EOF
	}
	return err
}

// interrupted reports whether the user has ended the reading of files, which have more.
func (s *source) interrupted() bool { return !s.waits && s.stopping.Load() }

// away notes that an interface is away, and calls changed with the reason.
func (s *source) away(err error, changed func(error)) {
	if s.retryAt.IsZero() || s.live.Up() {
		changed(err)
	}
	s.retryAt = time.Now().Add(outageWait)
}

// retry tries to go on with the capture of interfaces that are away, and calls changed with nil
// when that succeeds.
func (s *source) retry(changed func(error)) {
	switch {
	case s.retryAt.IsZero() || time.Now().Before(s.retryAt):
	case s.live.Rebind() == nil:
		s.retryAt = time.Time{}
		changed(nil)
	default:
		s.retryAt = time.Now().Add(outageWait)
	}
}

// stop makes next return io.EOF. It may be called from another goroutine.
func (s *source) stop() {
	s.stopping.Store(true)
	switch {
	case s.live != nil:
		s.live.Stop()
	case s.waits:
		s.frames.Close()
	}
}

// dropped returns how many frames of a live capture were dropped: by the kernel because they
// were not read in time, and by the interfaces.
func (s *source) dropped() (byKernel, byInterfaces int64, err error) {
	if s.live == nil {
		return 0, 0, nil
	}
	kernel, err := s.live.Dropped()
	interfaces, failed := s.live.DroppedByInterfaces()
	return int64(kernel), int64(interfaces), errors.Join(err, failed)
}

// onSignal calls do at a signal, at a time limit or the closing of stop, once, unless release was
// called before. A second signal ends the process. A limit of 0 stands for no limit.
func onSignal(limit time.Duration, stop <-chan struct{}, do func(), signals ...os.Signal) (release func()) {
	ctx, end := signal.NotifyContext(context.Background(), signals...)
	if limit > 0 {
		time.AfterFunc(limit, end)
	}
	if stop != nil {
		go func() {
			<-stop
			end()
		}()
	}
	forget := context.AfterFunc(ctx, func() {
		end()
		do()
	})
	return func() {
		forget()
		end()
	}
}
