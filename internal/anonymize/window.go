package anonymize

import "github.com/lshark/lshark/dissect/capture"

// Limits of what a window holds.
const (
	maxFrames    = 1 << 17
	maxHeldBytes = 32 << 20 // of headers
)

// window holds the latest frames, with rewritten headers, until the messages that they
// carry were read. It holds no payload.
type window struct {
	ring    []heldFrame
	head, n int
	bytes   int // of headers that the places of the ring hold, in use or not
}

// heldFrame is a frame whose payload is not rewritten yet.
type heldFrame struct {
	frame   capture.Frame // without Data
	size    int           // bytes that were captured
	head    []byte        // the first bytes, rewritten; those behind are zero
	payload payload
	sums    []sum
}

// full reports whether a frame has to leave before another one is added.
func (w *window) full() bool { return w.n > 0 && (w.n == maxFrames || w.bytes > maxHeldBytes) }

func (w *window) add(f *capture.Frame, head []byte, p payload, sums []sum) {
	if w.n == len(w.ring) {
		w.grow()
	}
	k := &w.ring[(w.head+w.n)%len(w.ring)]
	w.n++
	w.bytes -= cap(k.head)
	k.frame, k.size, k.payload = *f, len(f.Data), p
	k.frame.Data = nil
	k.head = append(k.head[:0], head...)
	k.sums = append(k.sums[:0], sums...)
	w.bytes += cap(k.head)
}

func (w *window) grow() {
	ring := make([]heldFrame, max(1024, 2*len(w.ring)))
	for i := range w.n {
		ring[i] = w.ring[(w.head+i)%len(w.ring)]
	}
	w.ring, w.head = ring, 0
}

// oldest returns the oldest frame, nil for none.
func (w *window) oldest() *heldFrame {
	if w.n == 0 {
		return nil
	}
	return &w.ring[w.head]
}

func (w *window) remove() {
	k := &w.ring[w.head]
	if w.bytes > maxHeldBytes {
		w.bytes -= cap(k.head)
		k.head = nil
	}
	w.head, w.n = (w.head+1)%len(w.ring), w.n-1
}
