package capture

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/lshark/lshark/internal/parallel"
)

// Options are the options of Open. The zero value is ready to use.
type Options struct {
	// Offset maps the name of a file to what is added to the times of its
	// frames, to correct its clock.
	Offset map[string]time.Duration

	// Idle is how long Next waits for the first byte of a record before it
	// returns ErrTimeout; 0 is without limit. It is used only for a single
	// input that is an uncompressed pipe.
	Idle time.Duration
}

// Reader returns the frames of one or several captures in order of time.
type Reader struct {
	files  []*file
	queue  frameQueue // of those with a next frame
	last   *file      // file of the frame that was returned last
	begun  bool       // the first frame of each file is in the queue
	number int64      // of the frame returned last
	points []capturePoint
	damage []error // of files that ended early
	err    error   // Next returns it from now on
}

// Open opens captures for reading: pcap or pcapng, plain or compressed with
// gzip, zstd or lz4, which it detects by the content; "-" is standard input.
// For a path that cannot be opened or is a directory it returns the error of
// package os, before it reads from any file; invalid content is an error of
// Next. Opening a FIFO waits for its writer.
func Open(paths []string, opt Options) (*Reader, error) {
	r := &Reader{}
	names := FileNames(paths)
	for i, path := range paths {
		f, err := openFile(path, i)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		f.short, f.offset = names[i], opt.Offset[path]
		if len(paths) == 1 && f.size < 0 {
			f.idle = opt.Idle
		}
		r.files = append(r.files, f)
	}
	return r, nil
}

// Next reads the next frame into f, whose Data is valid until the next call.
// A damaged file ends after its last whole frame; reading the others continues.
// At the end of all files Next returns io.EOF, or if files were damaged the
// *DamageError of each, joined.
func (r *Reader) Next(f *Frame) error {
	if r.err != nil {
		return r.err
	}
	if len(r.files) == 1 {
		r.err = r.files[0].next(f)
		if r.err == ErrTimeout {
			r.err = nil
			return ErrTimeout
		}
		if r.err != nil {
			r.files[0].releaseInput()
		}
		f.Source, f.File, f.FileNumber = 0, "", 0
	} else {
		r.err = r.merge(f)
	}
	if r.err != nil {
		return r.err
	}
	r.number++
	f.Number = r.number
	return nil
}

// Format returns the format of the first file. It reports false while none of its frames
// has been read, unless it has none.
func (r *Reader) Format() (Format, bool) {
	if len(r.files) == 0 || r.files[0].recs == nil {
		return Format{}, false
	}
	return r.files[0].recs.format(), true
}

// Notes returns a line for each file with something that gopacket cannot read: where that
// begins, and what it is. Its frames are read all the same.
func (r *Reader) Notes() []string {
	var notes []string
	for _, f := range r.files {
		if f.input != nil {
			f.byHand = f.input.byHand
		}
		if f.byHand != "" {
			notes = append(notes, Printable(f.name)+": "+f.byHand)
		}
	}
	return notes
}

// StrangeTimes returns a line for each file with frames whose times are far from those of the frames
// around them: Next returns them with the time of the frame before.
func (r *Reader) StrangeTimes() []string {
	var notes []string
	for _, f := range r.files {
		s := &f.strange
		if s.first == 0 {
			continue
		}
		line := fmt.Sprintf("%s: frame %d: its time is %v from those of the frames around it, and was not used", Printable(f.name), s.first, s.off.Round(time.Second))
		if s.more > 0 {
			line += fmt.Sprintf("; nor were those of %d more frames", s.more)
		}
		notes = append(notes, line)
	}
	return notes
}

// Progress returns how many bytes of the files have been read, and their size in
// bytes, or 0 if that is unknown; of compressed files both are those of the
// compressed data. It may be called from another goroutine.
func (r *Reader) Progress() (read, total int64) {
	known := true
	for _, f := range r.files {
		read += f.read.Load()
		total += f.size
		known = known && f.size >= 0
	}
	if !known {
		total = 0
	}
	return read, total
}

// Close closes the files. It may be called from another goroutine: a Next that
// waits for a FIFO then returns an error that wraps os.ErrClosed.
func (r *Reader) Close() error {
	var all []error
	for _, f := range r.files {
		all = append(all, f.end())
	}
	return errors.Join(all...)
}

// merge sets f to the earliest next frame of all files.
func (r *Reader) merge(f *Frame) error {
	if !r.begun {
		r.begun = true
		for i, err := range parallel.InOrder(len(r.files), func(i int) error { return r.files[i].peek() }) {
			if err := r.enqueue(r.files[i], err); err != nil {
				return err
			}
		}
	}
	if r.last != nil {
		if err := r.advance(r.last); err != nil {
			return err
		}
		r.last = nil
	}
	if len(r.queue) == 0 {
		if len(r.damage) > 0 {
			return errors.Join(r.damage...)
		}
		return io.EOF
	}
	in := r.queue[0]
	if in.source < 0 {
		in.source = r.joinPoint(in.name)
		if in.recs == nil { // only peek has read it
			if err := r.advance(in); err != nil {
				return err
			}
			if len(r.queue) == 0 || r.queue[0] != in {
				return r.merge(f) // the file changed after peek
			}
		}
	}
	r.last = in
	in.number++
	*f = in.frame
	f.Source, f.File, f.FileNumber = in.source, in.short, in.number
	return nil
}

// advance reads the next frame of the file at the head of the queue.
func (r *Reader) advance(in *file) error {
	err := in.next(&in.frame)
	if err == nil {
		heap.Fix(&r.queue, 0)
		return nil
	}
	heap.Pop(&r.queue)
	return r.enqueue(in, err)
}

// enqueue adds a file to the queue after its next frame was read, or closes it if
// that failed with err. It returns an error only if the Reader was closed.
func (r *Reader) enqueue(in *file, err error) error {
	if err == nil {
		heap.Push(&r.queue, in)
		return nil
	}
	if errors.Is(err, os.ErrClosed) {
		return err
	}
	if err != io.EOF {
		r.damage = append(r.damage, err)
	}
	if in.source >= 0 {
		r.points[in.source].reading = false
	}
	in.releaseInput() // a thousand files may follow
	in.recs, in.frame.Data = nil, nil
	if err := in.end(); err != nil {
		r.damage = append(r.damage, err)
	}
	return nil
}
