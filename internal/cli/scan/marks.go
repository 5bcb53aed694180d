package scan

import (
	"iter"

	"github.com/lshark/lshark/dissect/capture"
)

// maxMarkComments limits the bytes of all comments of marks.
const maxMarkComments = 64 << 20

// Marks is a set of frames by number, with comments. It needs one bit for each
// frame of the capture. Comments beyond maxMarkComments are dropped; their frames
// are marked without one.
type Marks struct {
	bits     []uint64
	n        int // marked frames
	comments map[int64][]byte
	bytes    int // of comments
}

// Add marks a frame, and adds to its comment.
func (m *Marks) Add(number int64, comment []byte) {
	word, bit := int(number/64), uint64(1)<<(number%64)
	for word >= len(m.bits) {
		m.bits = append(m.bits, 0)
	}
	if m.bits[word]&bit == 0 {
		m.bits[word] |= bit
		m.n++
	}
	if m.bytes+len(comment) > maxMarkComments {
		return
	}
	if m.comments == nil {
		m.comments = make(map[int64][]byte)
	}
	old := m.comments[number]
	joined := capture.JoinComments(old, comment)
	m.comments[number] = joined
	m.bytes += len(joined) - len(old)
}

func (m *Marks) has(number int64) bool {
	word := int(number / 64)
	return word < len(m.bits) && m.bits[word]&(1<<(number%64)) != 0
}

// numbers returns the marked frames in order.
func (m *Marks) numbers() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for number := range int64(64 * len(m.bits)) {
			if m.has(number) && !yield(number) {
				return
			}
		}
	}
}
