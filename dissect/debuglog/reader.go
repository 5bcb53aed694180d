package debuglog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/lshark/lshark/dissect/capture"
)

// maxLine is the longest line that is read, in bytes. The kernel's have a page at most.
const maxLine = 64 << 10

// Reader reads the events of a log.
type Reader struct {
	Mentions bool // also lines that only name an xid: Notes with the opcode NoOpcode
	Locks    bool // also lines about locks

	lines   *bufio.Reader
	file    io.Closer
	names   names
	pending sorter
	spare   Event
	stats   Stats
	number  int64 // of the line that was read last
	err     error // of reading, which ends it
}

// Stats counts what a Reader has read.
type Stats struct {
	Lines   int64 // of the log
	Skipped int64 // lines that are no lines of a log
	Late    int64 // events that came too late to be put in order
}

// Open opens a log, which may be compressed.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	plain, err := capture.Decompress(path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	r := NewReader(plain)
	r.file = f
	return r, nil
}

// NewReader returns a Reader of text that is not compressed.
func NewReader(in io.Reader) *Reader { return &Reader{lines: bufio.NewReaderSize(in, maxLine)} }

// Close closes the file.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Stats returns what was read so far.
func (r *Reader) Stats() Stats { return r.stats }

// Next reads the next event by time. It returns io.EOF at the end.
func (r *Reader) Next(e *Event) error {
	for r.err == nil && !r.pending.ready() {
		if r.err = r.readEvent(); r.err == nil && !r.pending.add(&r.spare) {
			r.stats.Late++
		}
	}
	if r.pending.empty() {
		return r.err
	}
	r.pending.take(e)
	return nil
}

// readEvent reads lines up to the next with an event.
func (r *Reader) readEvent() error {
	var l Line
	for {
		line, err := r.line()
		if len(line) > 0 {
			r.stats.Lines++
			if !l.Parse(line) {
				r.stats.Skipped++
			} else if r.spare.read(&l, &r.names, r.Locks) || r.Mentions && r.spare.readMention(&l) {
				r.spare.Line = r.number
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// line returns the next line without its end, empty for one that is too long.
func (r *Reader) line() ([]byte, error) {
	b, err := r.lines.ReadSlice('\n')
	r.number++
	if errors.Is(err, bufio.ErrBufferFull) {
		r.stats.Skipped++
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.lines.ReadSlice('\n')
		}
		return nil, err
	}
	return bytes.TrimRight(b, "\r\n"), err
}

// The bounds of what waits to be put in order: the kernel writes the lines of each CPU in
// pages of 4096 bytes.
const (
	sortWindow = int64(2e9) // nanoseconds
	sortEvents = 1 << 12
)

// sorter puts events in order that are nearly so.
type sorter struct {
	list  []Event // by time from first on
	first int
	last  int64 // time of the event that was taken last
}

func (s *sorter) empty() bool { return s.first == len(s.list) }

// ready reports whether the first event need not wait for others.
func (s *sorter) ready() bool {
	n := len(s.list) - s.first
	return n > sortEvents || n > 0 && s.list[len(s.list)-1].Time-s.list[s.first].Time > sortWindow
}

// add puts an event in its place. It reports whether none that follows it was taken yet.
func (s *sorter) add(e *Event) bool {
	if len(s.list) == cap(s.list) && s.first > len(s.list)/2 {
		s.list, s.first = s.list[:copy(s.list, s.list[s.first:])], 0
	}
	at := len(s.list)
	for at > s.first && s.list[at-1].Time > e.Time {
		at--
	}
	if at == s.first && at > 0 { // clocks may go back
		s.first--
		s.list[s.first] = *e
	} else {
		s.list = slices.Insert(s.list, at, *e)
	}
	return e.Time >= s.last
}

// take returns the first event.
func (s *sorter) take(e *Event) {
	*e = s.list[s.first]
	s.last = max(s.last, e.Time)
	s.first++
}
