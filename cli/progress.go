package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/lshark/lshark/capture"
)

// progress is a line on stderr that tells how far the reading of files is. It
// is for people who wait: stderr is a terminal, the output goes elsewhere, and
// the work takes more than a moment.
type progress struct {
	out  io.Writer
	stop chan struct{}
	done chan struct{}
}

const (
	progressAfter = time.Second
	progressEvery = 250 * time.Millisecond
	clearLine     = "\r\x1b[K"
)

// watch starts the line; nil when there is nobody to see it.
func (in *input) watch(src frames) *progress {
	reader, ok := src.(*capture.Reader)
	if !ok || in.quiet || !in.sys.ErrTTY || in.sys.OutTTY {
		return nil
	}
	p := &progress{out: in.sys.Err, stop: make(chan struct{}), done: make(chan struct{})}
	go p.run(reader.Progress)
	return p
}

func (p *progress) run(far func() (read, total int64)) {
	defer close(p.done)
	begun := time.Now()
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
		read, total := far()
		shown = true
		fmt.Fprint(p.out, clearLine+progressLine(read, total, time.Since(begun)))
		next.Reset(progressEvery)
	}
}

// end takes the line away.
func (p *progress) end() {
	if p != nil {
		close(p.stop)
		<-p.done
	}
}

// progressLine says how much was read, and when the rest will be.
func progressLine(read, total int64, spent time.Duration) string {
	if total <= 0 || read <= 0 {
		return byteCount(read) + " read"
	}
	read = min(read, total)
	left := time.Duration(float64(spent) * float64(total-read) / float64(read)).Round(time.Second)
	return fmt.Sprintf("%d%% of %s, %v left", read*100/total, byteCount(total), left)
}

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
