package scan

import (
	"time"

	"github.com/lshark/lshark/capture"
	"github.com/lshark/lshark/lnet"
)

// Quality is what is known about the frames of an input after they were read.
type Quality struct {
	lnet.Stats
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
	q := Quality{Stats: p.dissector.Stats(), Err: p.inputErr}
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
