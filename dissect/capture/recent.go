package capture

import "sort"

// Limits of what a Recent keeps: enough for the longest bulk transfer on many
// connections at once.
const (
	maxRecentBytes  = 64 << 20 // of frames and comments
	maxRecentFrames = 1 << 17
)

// Recent writes frames of a capture that can be selected only after later frames
// were read, such as the frames of a message that is complete with its last one.
// It keeps copies of the latest frames. A frame that is marked while it is kept
// is written when it is removed; all others are dropped.
//
// At most 131,072 frames and 64 MiB of frames and comments are kept; beyond
// that, the oldest are removed. Frames are written in the order in which they
// were added.
type Recent struct {
	w        FrameWriter
	ring     []recentFrame
	head, n  int
	bytes    int // of frames and comments
	capacity int // bytes that the places of the ring occupy, in use or not
	err      error
}

type recentFrame struct {
	frame   Frame
	data    []byte // frame.Data, reused
	comment []byte
	marked  bool
}

// FrameWriter writes frames: a Writer, or what distributes them over several.
type FrameWriter interface {
	Write(f *Frame, comment string) error
	Flush() error
}

// NewRecent returns a Recent that writes marked frames to w.
func NewRecent(w FrameWriter) *Recent {
	const initialFrames = 1024
	return &Recent{w: w, ring: make([]recentFrame, initialFrames)}
}

// Add adds a copy of a frame, whose Number must be higher than that of the
// frame before; numbers may be left out. The error is the first one of the
// Writer; after it nothing is written.
func (r *Recent) Add(f *Frame) error {
	for r.n > 0 && (r.n == maxRecentFrames || r.bytes+len(f.Data) > maxRecentBytes) {
		r.removeOldest()
	}
	if r.n == len(r.ring) {
		r.grow()
	}
	k := &r.ring[(r.head+r.n)%len(r.ring)]
	r.n++
	k.frame, k.marked, k.comment = *f, false, k.comment[:0]
	r.capacity -= cap(k.data)
	k.data = append(k.data[:0], f.Data...)
	r.capacity += cap(k.data)
	k.frame.Data = k.data
	r.bytes += len(k.data)
	return r.err
}

func (r *Recent) grow() {
	ring := make([]recentFrame, 2*len(r.ring))
	for i := range r.n {
		ring[i] = r.ring[(r.head+i)%len(r.ring)]
	}
	r.ring, r.head = ring, 0
}

// removeOldest removes the oldest frame and writes it if it is marked.
func (r *Recent) removeOldest() {
	k := &r.ring[r.head]
	r.head, r.n = (r.head+1)%len(r.ring), r.n-1
	r.bytes -= len(k.data) + len(k.comment)
	if k.marked && r.err == nil {
		r.err = r.w.Write(&k.frame, string(k.comment))
	}
	if r.capacity > maxRecentBytes+maxRecentBytes/2 {
		r.capacity -= cap(k.data) + cap(k.comment)
		k.data, k.comment = nil, nil
	}
}

// Release removes the frames that were captured before a time, in nanoseconds since the
// epoch, writes those that are marked, and flushes the Writer.
func (r *Recent) Release(before int64) error {
	for r.n > 0 && r.ring[r.head].frame.Time < before {
		r.removeOldest()
	}
	if r.err == nil {
		r.err = r.w.Flush()
	}
	return r.err
}

// Mark marks a frame by its Number and adds to its comment. It reports whether
// the frame is still kept.
func (r *Recent) Mark(number int64, comment []byte) bool {
	k := r.find(number)
	if k == nil {
		return false
	}
	k.marked = true
	length, capacity := len(k.comment), cap(k.comment)
	k.comment = JoinComments(k.comment, comment)
	r.bytes += len(k.comment) - length
	r.capacity += cap(k.comment) - capacity
	return true
}

// find returns the frame with a number, nil if it is not kept.
func (r *Recent) find(number int64) *recentFrame {
	if r.n == 0 || number < r.ring[r.head].frame.Number {
		return nil
	}
	at := func(i int) *recentFrame { return &r.ring[(r.head+i)%len(r.ring)] }
	most := min(r.n-1, int(number-r.ring[r.head].frame.Number))
	if k := at(sort.Search(most, func(i int) bool { return at(i).frame.Number >= number })); k.frame.Number == number {
		return k
	}
	return nil
}

// Flush removes all frames, writes those that are marked, and flushes the
// Writer.
func (r *Recent) Flush() error {
	for r.n > 0 {
		r.removeOldest()
	}
	if r.err == nil {
		r.err = r.w.Flush()
	}
	return r.err
}

// JoinComments appends a comment to the earlier ones of a frame, with a
// semicolon between them. It leaves the comment out when there are MaxComment
// bytes already, because a frame can carry thousands of messages.
func JoinComments(dst, comment []byte) []byte {
	if len(dst) >= MaxComment {
		return dst
	}
	if len(dst) > 0 {
		dst = append(dst, "; "...)
	}
	return append(dst, comment...)
}
