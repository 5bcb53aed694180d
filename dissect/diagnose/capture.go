package diagnose

import (
	"time"

	"github.com/lshark/lshark/dissect/lnet"
)

// Capture is what is known about a capture itself.
type Capture struct {
	lnet.Stats
	Dropped    int64       // frames that the kernel dropped in a live capture
	Truncated  []Truncated // files of which some frames were captured in part
	Damaged    string      // why reading ended before the end of the input; empty when it did not
	Files      int         // number of files that are read
	FirstFrame int64       // time of the first frame
	Estimated  []ClockOffset
}

// Truncated is a file with frames that were captured in part.
type Truncated struct {
	File    string // empty when only one is read
	Snaplen int    // most bytes that it has of a frame
	Frames  int64  // number of such frames
}

// ClockOffset is what was added to the times of a file that is merged with others, by
// an estimate.
type ClockOffset struct {
	File   string
	Offset time.Duration
}
