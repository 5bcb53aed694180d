package scan

import (
	"fmt"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
)

// truncation is how much of its frames a file has.
type truncation struct {
	file    string // empty when only one is read
	longest int    // most bytes captured of a frame
	cut     int64  // number of frames of which not all bytes were captured
}

// truncations are those of all files, in the order of their first frames.
type truncations struct {
	list []truncation
	last int // file of the last frame
}

// frame counts a frame.
func (t *truncations) frame(f *capture.Frame) {
	if len(t.list) == 0 || t.list[t.last].file != f.File {
		t.last = t.find(f.File)
	}
	x := &t.list[t.last]
	x.longest = max(x.longest, len(f.Data))
	if len(f.Data) < f.Len {
		x.cut++
	}
}

// find returns the index of a file, which it adds if it is new.
func (t *truncations) find(file string) int {
	for i := range t.list {
		if t.list[i].file == file {
			return i
		}
	}
	t.list = append(t.list, truncation{file: file})
	return len(t.list) - 1
}

// tooShort describes the files whose frames are truncated before the headers of
// Lustre, each in a sentence.
func (t *truncations) tooShort() (notes []string) {
	for _, x := range t.list {
		if x.longest >= lnet.MinSnaplen || x.cut == 0 && x.file != "" {
			continue
		}
		note := fmt.Sprintf("frames are truncated to %d bytes, too short for the headers of Lustre; capture with a snaplen of 1024 (tcpdump -s 1024)", x.longest)
		if x.file != "" {
			note = x.file + ": " + note
		}
		notes = append(notes, note)
	}
	return notes
}
