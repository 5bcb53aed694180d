package anonymize

import (
	"slices"

	"github.com/lshark/lshark/dissect/lnet/link"
)

const (
	chunkSize   = 1 << 20 // bytes of a chunk
	maxChunks   = 32
	chunkPieces = 1 << 13 // of a chunk
)

// A block is a part of a stream, by which pieces are found: 4096 bytes of a TCP stream by
// their sequence number, or the payload of an InfiniBand packet, which has at most as many.
const (
	blockBits = 12
	blockSize = 1 << blockBits
)

// blockKey identifies a block. For InfiniBand, flow has only the receiver and number has
// the queue pair and the packet sequence number.
type blockKey struct {
	flow   link.Flow
	number uint64
}

func infiniBandBlock(queuePair, psn uint32) uint64 {
	const isInfiniBand = 1 << 63
	return isInfiniBand | uint64(queuePair)<<24 | uint64(psn&0xffffff)
}

// content holds the rewritten bytes of the messages that were read last, by their place in
// the streams. Bytes that it does not hold are zero. It takes up to 32 MiB of bytes and
// 262,144 pieces; beyond that, the oldest are removed.
type content struct {
	chunks [maxChunks]chunk // chunk n is at n % maxChunks
	last   int64            // number of the newest chunk; the first one has 1
	blocks map[blockKey]int64
	found  []*piece // scratch space

	// release is called before pieces are removed, with the highest order of them: frames
	// up to that need them.
	release func(order int64)
}

// piece is a run of rewritten bytes of a block, without the zeros at its ends.
type piece struct {
	key   blockKey
	off   int
	data  []byte // in a chunk
	order int64  // of the frame that completed the message
	older int64  // number of the piece before it in the block, 0 for none
}

// chunk holds pieces. The number of a piece is that of its chunk and its place there.
type chunk struct {
	buf    []byte
	pieces []piece
	order  int64 // the highest of the pieces
}

func newContent(release func(order int64)) *content {
	return &content{blocks: make(map[blockKey]int64), release: release}
}

// eachBlock calls do with the parts of b, which begins at a sequence number, by their blocks.
func eachBlock(flow *link.Flow, seq uint32, b []byte, do func(key blockKey, off int, part []byte)) {
	for len(b) > 0 {
		off := int(seq % blockSize)
		n := min(len(b), blockSize-off)
		do(blockKey{*flow, uint64(seq >> blockBits)}, off, b[:n])
		seq += uint32(n)
		b = b[n:]
	}
}

func (c *content) addTCP(flow *link.Flow, seq uint32, b []byte, order int64) {
	eachBlock(flow, seq, b, func(key blockKey, off int, part []byte) { c.add(key, off, part, order) })
}

func (c *content) add(key blockKey, off int, b []byte, order int64) {
	for len(b) > 0 && b[0] == 0 {
		b, off = b[1:], off+1
	}
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return
	}
	last := c.chunk(len(b))
	last.order = max(last.order, order)
	n := len(last.buf)
	last.buf = append(last.buf, b...)
	last.pieces = append(last.pieces, piece{key, off, last.buf[n:], order, c.blocks[key]})
	c.blocks[key] = c.last*chunkPieces + int64(len(last.pieces)-1)
}

// chunk returns the last chunk, which has room for n bytes. Where it must begin one, the oldest is
// removed.
func (c *content) chunk(n int) *chunk {
	last := &c.chunks[c.last%maxChunks]
	if c.last > 0 && len(last.buf)+n <= chunkSize && len(last.pieces) < chunkPieces {
		return last
	}
	next := &c.chunks[(c.last+1)%maxChunks]
	if next.buf == nil {
		next.buf = make([]byte, 0, chunkSize)
	} else {
		c.release(next.order)
		for i, p := range next.pieces {
			if c.blocks[p.key] == (c.last+1-maxChunks)*chunkPieces+int64(i) {
				delete(c.blocks, p.key)
			}
		}
	}
	*next = chunk{buf: next.buf[:0], pieces: next.pieces[:0]}
	c.last++
	return next
}

// readTCP copies the bytes from a sequence number on to dst, which is zero, for the frame
// with the given order.
func (c *content) readTCP(dst []byte, flow *link.Flow, seq uint32, order int64) {
	eachBlock(flow, seq, dst, func(key blockKey, off int, part []byte) { c.read(part, key, off, order) })
}

// read copies the bytes of a block from an offset on to dst. Messages overlap when a
// connection reuses the ports and sequence numbers of an earlier one. Then the frame with
// the given order belongs to the first message that was completed by this frame or a later
// one; if all were completed earlier, the last of them is used.
func (c *content) read(dst []byte, key blockKey, off int, order int64) {
	c.found = c.found[:0]
	oldest := max(1, c.last+1-maxChunks)
	for i := c.blocks[key]; i >= oldest*chunkPieces; {
		p := &c.chunks[i/chunkPieces%maxChunks].pieces[i%chunkPieces]
		c.found = append(c.found, p)
		i = p.older
	}
	ended := len(c.found) // index of the first one that ended before the frame
	for ended > 0 && c.found[ended-1].order < order {
		ended--
	}
	for _, p := range slices.Backward(c.found[ended:]) {
		p.copyTo(dst, off)
	}
	for _, p := range c.found[:ended] {
		p.copyTo(dst, off)
	}
}

// copyTo copies the bytes of the piece to dst, which begins at an offset of the block.
func (p *piece) copyTo(dst []byte, off int) {
	if at := p.off - off; at >= len(dst) {
		return
	} else if at >= 0 {
		copy(dst[at:], p.data)
	} else if -at < len(p.data) {
		copy(dst, p.data[-at:])
	}
}
