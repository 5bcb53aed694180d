package lnet

import (
	"slices"
	"unsafe"

	"github.com/lshark/lshark/dissect/lnet/link"
)

// When a gap is given up, beside the bounds of Options and the end of the
// connection.
const (
	maxUnacked = 256  // segments or packets behind a gap while the receiver sends nothing
	maxGapAge  = 30e9 // ns of capture time
	maxHeld    = 8192 // segments or packets held of one stream
)

// heldList holds the segments of a TCP stream behind a gap, or the packets to a queue pair, and
// what is known of their receiver.
type heldList[T any, P heldItem[T]] struct {
	held     []T    // in order
	bytes    int32  // of their buffers
	ack      uint32 // number behind those that the receiver acknowledged, when acked
	behind   int32  // items that came since the gap opened
	acked    bool
	silent   bool // the receiver has sent nothing since the gap opened
	finished bool // the connection was ended
	gapEntry      // in output.gaps
}

// heldItem is a segment or packet in a heldList.
type heldItem[T any] interface {
	*T
	arrival() (f *link.Frame, at int64, buf []byte) // at is the source's clock; the buffer is of the pool
}

// insert adds an item at index i.
func (l *heldList[T, P]) insert(i int, item T, out *output) {
	if len(l.held) == 0 {
		l.behind, l.silent = 0, true
	}
	l.behind++
	l.held = append(l.held, item)
	copy(l.held[i+1:], l.held[i:])
	l.held[i] = item
	_, _, buf := P(&l.held[i]).arrival()
	l.bytes += int32(cap(buf))
	out.pool.lent += int(unsafe.Sizeof(item))
}

// drop removes the first n items, which were passed on.
func (l *heldList[T, P]) drop(n int, out *output) {
	for i := range l.held[:n] {
		_, _, buf := P(&l.held[i]).arrival()
		l.bytes -= int32(cap(buf))
		out.pool.put(buf)
		out.pool.lent -= int(unsafe.Sizeof(l.held[i]))
	}
	l.behind, l.silent = 0, true
	if l.held = slices.Delete(l.held, 0, n); len(l.held) == 0 {
		l.held = nil
	}
	l.updateGap(out)
}

// updateGap moves the stream in output.gaps after the first item may have changed.
func (l *heldList[T, P]) updateGap(out *output) {
	var first int64
	if len(l.held) > 0 {
		f, _, _ := P(&l.held[0]).arrival()
		first = f.Order
	}
	out.gaps.update(&l.gapEntry, first)
}

// acknowledge records how far the receiver has all bytes or packets. It reports whether it has more
// than before.
func (l *heldList[T, P]) acknowledge(ack uint32) bool {
	l.silent = false
	if l.hasAcked(ack) {
		return false
	}
	l.ack, l.acked = ack, true
	return true
}

// hasAcked reports whether the receiver has all bytes or packets in front of a number.
func (l *heldList[T, P]) hasAcked(number uint32) bool { return l.acked && int32(l.ack-number) >= 0 }

// gapExpired reports whether to give up the gap before the first item: there is too much behind
// it, or what is missing should have come. Nothing is missing if waited is set: then only frames that are
// late are waited for.
func (l *heldList[T, P]) gapExpired(number uint32, waited bool, src *source, out *output) bool {
	f, at, _ := P(&l.held[0]).arrival()
	switch {
	case int(l.bytes) > out.opt.MaxStream || len(l.held) > maxHeld || out.full():
		return true
	case src.clock-at < ReorderFrames:
		return false
	case waited, l.finished, l.hasAcked(number), l.silent && l.behind >= maxUnacked:
		return true
	}
	return src.now-f.Time > maxGapAge
}
