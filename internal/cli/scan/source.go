package scan

import (
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
	stopping atomic.Bool

	interrupted atomic.Bool // the user ended the reading of files
	retryAt     time.Time   // when the capture of an interface that is away is tried again; zero: none is away
}

// outageWait is the time between two attempts to go on with the capture of an interface that is away.
const outageWait = time.Second

// open opens the input; offsets are added to the times of files.
func (in *Input) open(sys *System, offsets map[string]time.Duration) (*source, error) {
	if in.Live() {
		o := in.live
		o.Filter = in.liveFilter()
		live, err := capture.OpenLive(in.flags.Interfaces, o)
		return &source{frames: live, live: live}, err
	}
	o := capture.Options{Offset: offsets, Idle: pipeIdle}
	if sys.Open != nil {
		frames, err := sys.Open(in.files, o)
		return &source{frames: frames}, err
	}
	reader, err := capture.Open(in.files, o)
	return &source{frames: reader, reader: reader}, err
}

// next reads the next frame; its errors are those of Frames.Next.
func (s *source) next(f *capture.Frame) error {
	if s.interrupted.Load() {
		return io.EOF
	}
	err := s.frames.Next(f)
	if s.stopping.Load() && errors.Is(err, os.ErrClosed) {
		return io.EOF
	}
	return err
}

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
	if s.live != nil {
		s.live.Stop()
	} else {
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

// stopOnInterrupt lets Ctrl-C end the reading of files, until release is called. A second one
// ends the process.
func (s *source) stopOnInterrupt() (release func()) {
	if signal.Ignored(os.Interrupt) {
		return func() {}
	}
	return onSignal(0, nil, func() { s.interrupted.Store(true) }, os.Interrupt)
}

// onSignal calls do at a signal, at a time limit or the closing of stop, once, unless release was
// called before. A second signal ends the process. A limit of 0 stands for no limit.
func onSignal(limit time.Duration, stop <-chan struct{}, do func(), signals ...os.Signal) (release func()) {
	came, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(came, signals...)
	var timeout <-chan time.Time
	if limit > 0 {
		timeout = time.After(limit)
	}
	go func() {
		select {
		case <-done:
			signal.Stop(came)
			return
		case <-came:
		case <-timeout:
		case <-stop:
		}
		signal.Stop(came)
		do()
	}()
	return func() { close(done) }
}
