package capture

import (
	"errors"
	"io"
	"os"
	"time"
)

// Options say how inputs are read. The zero value is ready to use.
type Options struct {
	// Offset is added to the time of each frame of the file of that name:
	// what its clock was behind.
	Offset map[string]time.Duration

	// Idle is how long Next waits for a pipe before it returns ErrTimeout; 0:
	// for ever. It holds for a single input that is not compressed, and
	// between whole frames.
	Idle time.Duration
}

// Reader hands out the frames of one or several captures in order of time.
type Reader struct {
	files   []*file
	queue   []*file // a heap by time of those that have a frame waiting
	last    *file   // gave the frame that was handed out last
	begun   bool
	number  int64
	sources []source
	damage  []error // of files that ended early
	err     error   // what Next returns from now on
}

// Open opens captures for reading: pcap or pcapng, plain or packed with gzip,
// zstd or lz4, whatever their names; "-" is standard input. A path that cannot
// be opened or is a directory is an error of package os; nothing has been read
// then. What is in the files is looked at by Next. Opening a FIFO waits for
// its writer.
func Open(paths []string, opt Options) (*Reader, error) {
	r := &Reader{}
	for i, path := range paths {
		f, err := openFile(path, i)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		f.offset = opt.Offset[path]
		if len(paths) == 1 && f.size < 0 {
			f.idle = opt.Idle
		}
		r.files = append(r.files, f)
	}
	return r, nil
}

// Next reads the next frame into f, whose Data is valid until the next call.
// A file that is damaged ends at its last whole frame, the others go on. At
// the end of all files it returns io.EOF, or the *DamageError of each file
// that was damaged, joined; errors.As finds the first.
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
		f.Source = 0
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

// Progress tells how many bytes of the files have been read, and how many they
// have, compressed or not; 0 when that is unknown. It may be called from
// another goroutine.
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
// waits for a FIFO then returns an error for which errors.Is(err,
// os.ErrClosed) holds.
func (r *Reader) Close() error {
	var all []error
	for _, f := range r.files {
		all = append(all, f.end())
	}
	return errors.Join(all...)
}

// merge takes the earliest frame of all files.
func (r *Reader) merge(f *Frame) error {
	if !r.begun {
		r.begun = true
		for _, in := range r.files {
			if err := r.ended(in, in.peek()); err != nil {
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
		in.source = r.join(in.name)
		if in.recs == nil { // peeked only
			if err := r.advance(in); err != nil {
				return err
			}
			if len(r.queue) == 0 || r.queue[0] != in {
				return r.merge(f) // it was replaced since
			}
		}
	}
	r.last = in
	*f = in.frame
	f.Source = in.source
	return nil
}

// advance reads the next frame of the file at the top of the queue.
func (r *Reader) advance(in *file) error {
	err := in.next(&in.frame)
	if err == nil {
		r.sink(0)
		return nil
	}
	n := len(r.queue) - 1
	r.queue[0] = r.queue[n]
	r.queue = r.queue[:n]
	r.sink(0)
	return r.ended(in, err)
}

// ended files away what a file's read returned: a frame, its end, or damage.
// Only a closed reader is an error that ends all.
func (r *Reader) ended(in *file, err error) error {
	if err == nil {
		r.push(in)
		return nil
	}
	if errors.Is(err, os.ErrClosed) {
		return err
	}
	if err != io.EOF {
		r.damage = append(r.damage, err)
	}
	if in.source >= 0 {
		r.sources[in.source].busy = false
	}
	in.win, in.recs, in.frame.Data = nil, nil, nil // a thousand files may follow
	if err := in.end(); err != nil {
		r.damage = append(r.damage, err)
	}
	return nil
}
