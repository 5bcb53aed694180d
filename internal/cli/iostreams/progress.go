package iostreams

import (
	"fmt"
	"io"
	"time"
)

// Progress is a line on standard error that shows how much of the input was
// read. It is shown when standard error is a terminal, standard output is not,
// and reading takes longer than a second.
type Progress struct {
	out  io.Writer
	stop chan struct{}
	done chan struct{}
}

const (
	progressAfter = time.Second
	progressEvery = 250 * time.Millisecond
	clearLine     = "\r\x1b[K"
)

// NewProgress starts the line. bytes returns how many bytes were read and how
// many there are, 0 if unknown; it is called from another goroutine. NewProgress
// returns nil, which is valid, when the line is not to be shown.
func (s *IO) NewProgress(bytes func() (read, total int64)) *Progress {
	if bytes == nil || !s.ErrTTY || s.OutTTY {
		return nil
	}
	p := &Progress{out: s.Err, stop: make(chan struct{}), done: make(chan struct{})}
	go p.run(bytes)
	return p
}

func (p *Progress) run(bytes func() (read, total int64)) {
	defer close(p.done)
	start := time.Now()
	next := time.NewTimer(progressAfter)
	defer next.Stop()
	shown := false
	for {
		select {
		case <-p.stop:
			if shown {
				fmt.Fprint(p.out, clearLine)
			}
			return
		case <-next.C:
		}
		read, total := bytes()
		shown = true
		fmt.Fprint(p.out, clearLine+progressLine(read, total, time.Since(start)))
		next.Reset(progressEvery)
	}
}

// Stop removes the line.
func (p *Progress) Stop() {
	if p != nil {
		close(p.stop)
		<-p.done
	}
}

// progressLine shows how much was read and estimates how long the rest takes.
func progressLine(read, total int64, spent time.Duration) string {
	if total <= 0 || read <= 0 {
		return byteCount(read) + " read"
	}
	read = min(read, total)
	left := time.Duration(float64(spent) * float64(total-read) / float64(read)).Round(time.Second)
	return fmt.Sprintf("%d%% of %s, %v left", read*100/total, byteCount(total), left)
}

// byteCount formats n bytes in units of 1000.
func byteCount(n int64) string {
	const units = "kMGT"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, u := float64(n)/1000, 0
	for v >= 1000 && u < len(units)-1 {
		v /= 1000
		u++
	}
	return fmt.Sprintf("%.1f %cB", v, units[u])
}
