package lnet

import "unsafe"

// poolSizes are the sizes of the buffers, in bytes. The first is for incomplete
// headers, the last for a resync: the longest message, a header and a segment.
var poolSizes = [...]int{256, 2 << 10, 16 << 10, 128 << 10, 1<<20 + 128<<10, 4 << 20}

// poolFree is how many free buffers of each size are kept.
var poolFree = [...]int{1024, 1024, 256, 32, 4, 1}

// Sizes of the records kept about held bytes, in bytes. Of tiny or cut segments
// they need more than the bytes themselves.
const (
	pieceSize = int(unsafe.Sizeof(piece{}))
	markSize  = int(unsafe.Sizeof(mark{}))
	holeSize  = int(unsafe.Sizeof(Hole{}))
	frameSize = int(unsafe.Sizeof(int64(0)))
)

// pool lends buffers and lists to streams, so that idle streams hold none.
type pool struct {
	free    [len(poolSizes)][][]byte
	pieces  shelf[piece]
	packets shelf[heldPacket]
	marks   shelf[mark]
	holes   shelf[Hole]
	lent    int // bytes of buffers, and of records about held bytes
}

// poolClass returns the index of the smallest size for n bytes, -1 if none is.
func poolClass(n int) int {
	for i, size := range poolSizes {
		if n <= size {
			return i
		}
	}
	return -1
}

// get returns an empty buffer for n bytes, at most the largest size.
func (p *pool) get(n int) []byte {
	i := poolClass(n)
	p.lent += poolSizes[i]
	if k := len(p.free[i]); k > 0 {
		b := p.free[i][k-1]
		p.free[i] = p.free[i][:k-1]
		return b
	}
	return make([]byte, 0, poolSizes[i])
}

// put takes a buffer back; nil is fine.
func (p *pool) put(b []byte) {
	if cap(b) == 0 {
		return
	}
	i := poolClass(cap(b))
	p.lent -= poolSizes[i]
	if len(p.free[i]) < poolFree[i] {
		p.free[i] = append(p.free[i], b[:0])
	}
}

// grow returns b, or a larger buffer with its bytes, with room for n more.
func (p *pool) grow(b []byte, n int) []byte {
	if len(b)+n <= cap(b) {
		return b
	}
	bigger := append(p.get(len(b)+n), b...)
	p.put(b)
	return bigger
}

// shelf keeps empty lists for reuse.
type shelf[T any] [][]T

const (
	maxShelved = 256  // entries that a list kept has room for
	shelfSize  = 1024 // lists of a kind
)

// take returns an empty list or nil.
func (s *shelf[T]) take() []T {
	n := len(*s)
	if n == 0 {
		return nil
	}
	list := (*s)[n-1]
	(*s)[n-1], *s = nil, (*s)[:n-1]
	return list
}

// put takes a list back; nil is fine.
func (s *shelf[T]) put(list []T) {
	if c := cap(list); c > 0 && c <= maxShelved && len(*s) < shelfSize {
		*s = append(*s, list[:0])
	}
}
