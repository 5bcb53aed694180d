package lnet

import (
	"io"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/link"
)

// The bounds of a batch of frames that are read ahead, and how many batches there are.
const (
	maxAheadFrames = 512
	maxAheadBytes  = 256 << 10 // more by one frame at most
	aheadBatches   = 4
)

// Ahead reads frames and finds the packets in them, in a goroutine of its own. Another
// goroutine takes them with Next.
type Ahead struct {
	free, full chan *aheadBatch
	now        *aheadBatch // being taken
	next       int         // index in it
	err        error       // of the source; set before full is closed
}

// Decoded is a frame with the packet in it.
type Decoded struct {
	capture.Frame
	kind    link.Kind
	segment link.Segment
	packet  *link.Packet
}

// aheadBatch holds copies of frames.
type aheadBatch struct {
	frames  []Decoded
	packets []link.Packet
	data    []byte
}

// ReadAhead starts to read from next, which is called until it returns an error.
func ReadAhead(next func(*capture.Frame) error) *Ahead {
	a := &Ahead{free: make(chan *aheadBatch, aheadBatches), full: make(chan *aheadBatch, aheadBatches), now: &aheadBatch{}}
	for range aheadBatches - 1 {
		a.free <- &aheadBatch{}
	}
	go a.read(next)
	return a
}

// read fills batches until the source ends or Close is called.
func (a *Ahead) read(next func(*capture.Frame) error) {
	defer close(a.full)
	var decoder link.Decoder
	var f capture.Frame
	for b := range a.free {
		b.frames, b.packets, b.data = b.frames[:0], b.packets[:0], b.data[:0]
		var err error
		for err == nil && len(b.frames) < maxAheadFrames && len(b.data) < maxAheadBytes {
			if err = next(&f); err == nil {
				b.add(&f, &decoder)
			}
		}
		a.full <- b
		if err != nil {
			a.err = err
			return
		}
	}
	a.err = io.EOF
}

// Next returns the next frame, valid until the next call, or the error of the source.
func (a *Ahead) Next() (*Decoded, error) {
	for a.next == len(a.now.frames) {
		if a.next > 0 {
			a.free <- a.now
		}
		b, ok := <-a.full
		if !ok {
			a.now, a.next = &aheadBatch{}, 0
			return nil, a.err
		}
		a.now, a.next = b, 0
	}
	a.next++
	return &a.now.frames[a.next-1], nil
}

// Close stops the reading; frames that were read are dropped. Afterwards the source is not
// in use any more.
func (a *Ahead) Close() {
	close(a.free)
	for range a.full {
	}
}

// add adds a copy of a frame and finds the packet in it.
func (b *aheadBatch) add(f *capture.Frame, d *link.Decoder) {
	if n := len(b.frames); n < cap(b.frames) {
		b.frames = b.frames[:n+1] // what it had is overwritten below
	} else {
		b.frames = append(b.frames, Decoded{})
	}
	c := &b.frames[len(b.frames)-1]
	c.Frame = *f
	c.Data = b.copied(f.Data)
	switch c.kind = d.Decode(&c.Frame); c.kind {
	case link.TCP:
		c.segment = d.Segment
		if d.Reassembled() {
			c.segment.Data = b.copied(c.segment.Data)
		}
	case link.InfiniBand:
		b.packets = append(b.packets, d.Packet)
		c.packet = &b.packets[len(b.packets)-1]
		if d.Reassembled() {
			c.packet.Headers, c.packet.Data = b.copied(c.packet.Headers), b.copied(c.packet.Data)
		}
	case link.None:
	}
}

// copied returns a copy of x. If the slice has to grow, earlier copies are not moved.
func (b *aheadBatch) copied(x []byte) []byte {
	n := len(b.data)
	b.data = append(b.data, x...)
	return b.data[n:len(b.data):len(b.data)]
}
