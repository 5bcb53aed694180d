package scan

import (
	"errors"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
)

// Quality is what is known about the frames of an input after they were read.
type Quality struct {
	lnet.Stats
	Files     int         // number of files that are read; 1 for a live capture
	First     int64       // time of the first frame, in nanoseconds since the epoch
	Dropped   int64       // frames that the kernel dropped in a live capture
	Truncated []Truncated // files with frames that were captured in part
	Estimated []ClockOffset
	Err       error // why reading ended before the end of the input
}

// Truncated is a file with frames that were captured in part.
type Truncated struct {
	File    string // empty when only one is read
	Longest int    // most bytes captured of a frame
	Frames  int64  // number of such frames
}

// ClockOffset is what was added to the times of a file by an estimate: its clock
// differs from that of the file it is merged with.
type ClockOffset struct {
	File   string
	Offset time.Duration
}

// Quality returns what is known about the frames so far. It is complete in the
// End func of a Consumer.
func (p *Pass) Quality() Quality {
	q := Quality{Stats: p.dissector.Stats(), Files: max(1, len(p.in.FileNames())), First: p.First(), Err: p.inputErr}
	if n, err := p.src.dropped(); err == nil { // report writes the error
		q.Dropped = int64(n)
	}
	for _, x := range p.cut.list {
		if x.cut > 0 {
			q.Truncated = append(q.Truncated, Truncated{x.file, x.longest, x.cut})
		}
	}
	if len(p.in.files) < 2 {
		return q
	}
	for i, name := range capture.FileNames(p.in.files) {
		path := p.in.files[i]
		if _, given := p.in.offsets[path]; !given && p.offsets[path] != 0 {
			q.Estimated = append(q.Estimated, ClockOffset{name, p.offsets[path]})
		}
	}
	return q
}

// Captured returns what is known about the frames so far, in the form that the rules of
// diagnose need.
func (p *Pass) Captured() diagnose.Capture { return p.Quality().Capture() }

// Capture returns q in the form that the rules of diagnose need.
func (q Quality) Capture() diagnose.Capture {
	c := diagnose.Capture{Stats: q.Stats, Dropped: q.Dropped, Files: q.Files, FirstFrame: q.First}
	for _, t := range q.Truncated {
		c.Truncated = append(c.Truncated, diagnose.Truncated{File: t.File, Snaplen: t.Longest, Frames: t.Frames})
	}
	for _, x := range q.Estimated {
		c.Estimated = append(c.Estimated, diagnose.ClockOffset(x))
	}
	var damage *capture.DamageError
	switch {
	case errors.As(q.Err, &damage):
		c.Damaged = damage.Plain() // findings are escaped where they are shown
	case q.Err != nil:
		c.Damaged = q.Err.Error()
	}
	return c
}
