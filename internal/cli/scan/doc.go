// Package scan reads packets for the commands: the flags that choose the packets
// (Flags), the input that these flags describe (Input), and one pass over its
// frames that feeds any number of consumers (Pass).
//
//	in, err := flags.Check(args, sys.InTTY)
//	…
//	p := scan.New(sys, in, scan.Options{})
//	p.Follow(follow.Hooks{Lock: func(l *locks.Lock) { … }})
//	p.Add(scan.Consumer{End: func() error { … }})
//	err = p.Run()
package scan

import (
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/iostreams"
)

// System is what commands need from the operating system. Tests replace it.
type System struct {
	*iostreams.IO

	// Open opens capture files; nil stands for capture.Open.
	Open func(paths []string, o capture.Options) (Frames, error)

	// Harden is called when a live capture is open. It drops the privileges that only
	// opening it needs, and the right to open files other than these; nil does nothing.
	// Where it returns errors.ErrUnsupported, the capture goes on with its privileges,
	// after a message.
	Harden func(Files) error

	// AwaitLogs waits until logs that are followed may have grown, and returns true, or until stop is closed, and
	// returns false; nil: it waits a second.
	AwaitLogs func(stop <-chan struct{}) bool

	// KeepComplete: -o names a file for one capture, as those in a folder are: a Parquet file that is complete
	// is not written again, and the result of an interrupted run is removed.
	KeepComplete bool

	// SaveMemory is called before much is read of which little is held: debug logs, and
	// the captures of a flight recorder for their pages; nil does nothing.
	SaveMemory func()
}

// Files are the files that a live capture opens while it runs: files by name, and folders
// with all that is in them.
type Files struct {
	Read, Write []string
	Run         []string // programs, their libraries, and what they open
	Any         bool     // also others, which the user names while it runs
	Foreign     bool     // files are made in a folder of another user; set by the Pass
}

// With returns the System with other streams, for a run whose results or messages go elsewhere.
func (s *System) With(change func(*iostreams.IO)) *System {
	other, streams := *s, *s.IO
	change(&streams)
	other.IO = &streams
	return &other
}

// ToFile returns the System for a run whose results go to a file in place of Out.
func (s *System) ToFile() *System {
	return s.With(func(streams *iostreams.IO) { streams.OutTTY, streams.Columns = false, 0 })
}

// Frames is an open capture. Next returns io.EOF at the end, and
// capture.ErrTimeout when no frame arrived for a while.
type Frames interface {
	Next(*capture.Frame) error
	Close() error
}
