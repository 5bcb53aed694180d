package iostreams

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/lshark/lshark/opcodes/schema"
)

// Progress is a line on standard error that shows how much of the input was
// read. It is shown when standard error is a terminal, reading takes longer than a
// second, and nothing was printed on the terminal for a second.
type Progress struct{ stop func() }

const (
	progressAfter = time.Second
	progressEvery = 250 * time.Millisecond
	clearLine     = "\r\x1b[K"
)

// statusLine is a line of the terminal that is replaced, and removed before anything else is
// written. hide may be called on nil, where output has no such line.
type statusLine struct {
	mu    sync.Mutex
	out   io.Writer // that shows it, nil: it is not shown
	quiet time.Time // it is not shown until then
}

func (l *statusLine) show(out io.Writer, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Now().After(l.quiet) {
		fmt.Fprint(out, clearLine+text)
		l.out = out
	}
}

// hide removes the line for a while.
func (l *statusLine) hide() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out != nil {
		fmt.Fprint(l.out, clearLine)
		l.out = nil
	}
	l.quiet = time.Now().Add(progressAfter)
}

// terminal is Out, where that is the terminal that shows the line.
type terminal struct{ *IO }

func (t terminal) Write(b []byte) (int, error) {
	t.line.hide()
	return t.Out.Write(b)
}

// NewProgress starts the line. bytes returns how many bytes were read and how
// many there are, 0 if unknown; it is called from another goroutine. NewProgress
// returns nil, which is valid, when the line is not to be shown.
func (s *IO) NewProgress(bytes func() (read, total int64)) *Progress {
	switch {
	case bytes == nil || !s.ErrTTY && s.Reading == nil:
		return nil
	case s.Reading != nil:
		return &Progress{s.Reading(bytes)}
	case s.line == nil:
		s.line = &statusLine{}
	}
	start, stop := time.Now(), make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() {
		next := time.NewTimer(progressAfter)
		defer next.Stop()
		for {
			select {
			case <-stop:
				s.line.hide()
				return
			case <-next.C:
			}
			read, total := bytes()
			s.line.show(s.Err, progressLine(read, total, time.Since(start)))
			next.Reset(progressEvery)
		}
	})
	return &Progress{func() {
		close(stop)
		shown.Wait()
	}}
}

// Stop removes the line.
func (p *Progress) Stop() {
	if p != nil {
		p.stop()
	}
}

// ReadBytes counts the bytes that several readings have read, for one progress line.
type ReadBytes struct {
	mu    sync.Mutex
	done  int64 // by those that have ended: see Add
	going []*func() (read, total int64)
}

// Add adds what a reading that has ended has read.
func (r *ReadBytes) Add(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += n
}

// Sum returns the sum.
func (r *ReadBytes) Sum() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.done
	for _, bytes := range r.going {
		read, _ := (*bytes)()
		n += read
	}
	return n
}

// Reading adds a reading until end is called: it is for IO.Reading.
func (r *ReadBytes) Reading(bytes func() (read, total int64)) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.going = append(r.going, &bytes)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.going = slices.DeleteFunc(r.going, func(b *func() (read, total int64)) bool { return b == &bytes })
	}
}

// progressLine shows how much was read and how fast, and estimates how long the rest takes.
func progressLine(read, total int64, spent time.Duration) string {
	size := func(n float64) string { return schema.SizeText(n, " ") }
	rate := size(math.Round(float64(read)/max(spent.Seconds(), 1e-3))) + "/s"
	if total <= 0 || read <= 0 {
		return size(float64(read)) + " read, " + rate
	}
	read = min(read, total)
	left := time.Duration(float64(spent) * float64(total-read) / float64(read)).Round(time.Second)
	return fmt.Sprintf("%d%% of %s, %s, %v left", read*100/total, size(float64(total)), rate, left)
}
