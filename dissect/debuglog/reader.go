package debuglog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"time"

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
	tail    *tail // of a log that is followed, else nil
	current Line  // that is read
	head    head  // of a line of the console
	console console
	held    heldLine
	names   names
	pending sorter
	spare   Event
	stats   Stats
	number  int64 // of the line that was read last

	isConsole bool
	err       error // of reading, which ends it
}

// Stats counts what a Reader has read.
type Stats struct {
	Lines   int64 // of the log
	Skipped int64 // lines that are no lines of a log
	Others  int64 // lines of the console of other programs than the kernel
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
	if err := r.setClock(path, f); err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// lookAhead bytes are read of a log of the console to find out its year and zone.
const lookAhead = 16 << 20

// setClock finds out year and zone of a log of the console, by its beginning.
func (r *Reader) setClock(path string, f *os.File) error {
	first, _ := r.lines.Peek(maxLine / 16) // reading reports errors
	var l Line
	if line, _, _ := bytes.Cut(first, []byte("\n")); l.Parse(line) || !isConsole(first) {
		return nil
	}
	again, err := os.Open(path)
	if err != nil {
		return err
	}
	defer again.Close()
	info, err := f.Stat()
	plain, err2 := capture.Decompress(path, again)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	r.isConsole = true
	r.console.setClock(bufio.NewReaderSize(io.LimitReader(plain, lookAhead), maxLine), info.ModTime())
	return nil
}

// IsConsole reports whether the file that was opened is a log of the console.
func (r *Reader) IsConsole() bool { return r.isConsole }

// NewReader returns a Reader of text that is not compressed.
func NewReader(in io.Reader) *Reader {
	r := &Reader{lines: bufio.NewReaderSize(in, maxLine)}
	r.console = newConsole(time.Now())
	return r
}

// Only lets Next return only events of some kinds that messages of Lustre have: none of RPCs, locks and other parts of the kernel. Most
// lines cost much less then.
func (r *Reader) Only(kinds ...Kind) {
	r.names.only = newTable(func(k Kind) bool { return slices.Contains(kinds, k) })
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Stats returns what was read so far.
func (r *Reader) Stats() Stats { return r.stats }

// Next reads the next event by time. It returns io.EOF at the end, ErrNoMore at that of a log that is followed.
func (r *Reader) Next(e *Event) error {
	for r.err == nil && !r.pending.ready() {
		if r.err = r.readEvent(); r.err == nil && !r.pending.add(&r.spare) {
			r.stats.Late++
		}
	}
	if !r.pending.empty() {
		r.pending.take(e)
		return nil
	}
	err := r.err
	if err == ErrNoMore { // the next call looks again
		r.err = nil
	}
	return err
}

// readEvent reads lines up to the next with an event.
func (r *Reader) readEvent() error {
	for {
		line, err := r.line()
		if len(line) > 0 {
			r.stats.Lines++
			if r.readLine(line) {
				return nil
			}
		}
		if err != nil {
			if r.endHeld() {
				return nil // the next call ends
			}
			return err
		}
	}
}

// readLine takes a line, and reports whether that completes an event.
func (r *Reader) readLine(line []byte) bool {
	if r.current.Parse(line) {
		return r.event(&r.current, r.number)
	}
	h := &r.head
	if !r.console.readHead(line, h) {
		if len(r.held.text) > 0 && len(r.held.text) < maxLine { // it was wrapped
			r.held.text = append(append(r.held.text, ' '), bytes.TrimLeft(line, " \t")...)
		} else {
			r.stats.Skipped++
		}
		return false
	}
	ready := r.endHeld()
	if len(h.message) == 0 {
		r.stats.Others++
		return ready
	}
	r.held.text, r.held.time, r.held.number = append(r.held.text, h.message...), h.time, r.number
	r.held.host = r.names.text(h.host)
	return ready
}

// heldLine is a line of the console that may go on.
type heldLine struct {
	text   []byte
	time   int64
	number int64
	host   string
}

// endHeld reads the line of the console that was held. It reports whether that is an event.
func (r *Reader) endHeld() bool {
	if len(r.held.text) == 0 {
		return false
	}
	l := &r.current
	l.ParseConsole(r.held.text)
	l.Time = r.held.time
	r.held.text = r.held.text[:0]
	ok := r.event(l, r.held.number)
	r.spare.Console, r.spare.Host = true, r.held.host
	return ok
}

// event reads the event of a line, and reports whether there is one.
func (r *Reader) event(l *Line, number int64) bool {
	ok := r.spare.read(l, &r.names, r.Locks) || r.Mentions && r.spare.readMention(l)
	r.spare.Line = number
	return ok
}

// line returns the next line without its end, empty for one that is too long.
func (r *Reader) line() ([]byte, error) {
	b, err := r.lines.ReadSlice('\n')
	if err == ErrNoMore {
		return nil, err
	}
	if r.tail != nil && r.tail.begins {
		r.number, r.tail.begins = 0, false
	}
	r.number++
	if errors.Is(err, bufio.ErrBufferFull) {
		r.stats.Skipped++
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.lines.ReadSlice('\n')
		}
		return nil, err
	}
	b = bytes.TrimSuffix(b, []byte("\n"))
	for len(b) > 0 && b[len(b)-1] == '\r' {
		b = b[:len(b)-1]
	}
	return b, err
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
