package scan

import (
	"time"

	"github.com/lshark/lshark/dissect/capture"
)

// stream passes frames on soon after they were captured (Options.Stream).
type stream struct {
	flushed int64
}

const (
	// streamDelay is for how long a frame is kept until it is known whether it is
	// selected: longer than TCP needs to send a segment again.
	streamDelay = 2 * time.Second

	// streamFlush is how often frames are written while they arrive.
	streamFlush = 100 * time.Millisecond
)

// add writes frames that were kept long enough when f was added to recent.
func (s *stream) add(recent *capture.Recent, f *capture.Frame) error {
	if f.Time < s.flushed+int64(streamFlush) {
		return nil
	}
	return s.release(recent, f.Time)
}

// release writes the selected frames that were captured at least streamDelay before now.
func (s *stream) release(recent *capture.Recent, now int64) error {
	s.flushed = now
	return recent.Release(now - int64(streamDelay))
}
