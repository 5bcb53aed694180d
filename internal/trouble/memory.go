package trouble

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/lshark/lshark/dissect/capture"
)

const (
	chunkSize   = 1 << 20 // bytes of frames
	frameHeader = 52      // bytes before a frame in a chunk
)

// chunk is a run of frames.
type chunk struct {
	data        []byte       // frames, each behind its header
	first, last int64        // lowest and highest time of a frame
	number      int64        // of the last frame
	users       atomic.Int32 // the memory, and pieces that are to be written
}

// piece is the frames that a chunk had at some time, for the goroutines that write.
type piece struct {
	data  []byte
	names []string
}

// memory keeps the last frames of a capture.
type memory struct {
	keep    int64       // nanoseconds
	snaplen int         // bytes that are kept of a frame; 0: all
	list    []*chunk    // with frames, the newest last
	free    chan *chunk // that can be used again; it has room for as many as there may be
	made    atomic.Int64
	names   []string     // of the files and the interfaces of frames
	dropped int64        // frames for which there was no room
	leaves  func(*chunk) // is called with chunks that will be forgotten next, again and again, and before they are
}

func (m *memory) add(f *capture.Frame) {
	data := f.Data[:min(len(f.Data), chunkSize-frameHeader)]
	if m.snaplen > 0 {
		data = data[:min(len(data), m.snaplen)]
	}
	for len(m.list) > 1 && m.list[0].last < f.Time-m.keep {
		m.forget()
	}
	size := frameHeader + len(data)
	if n := len(m.list); n == 0 || len(m.list[n-1].data)+size > chunkSize {
		if !m.begin(f.Time) {
			m.dropped++
			return
		}
	}
	c := m.list[len(m.list)-1]
	c.first, c.last, c.number = min(c.first, f.Time), max(c.last, f.Time), f.Number
	b := binary.LittleEndian.AppendUint64(c.data, uint64(f.Number))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.Time))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.FileNumber))
	for _, v := range []int{f.Len, len(data), int(f.Link), f.Source, f.Iface, m.name(f.File), m.name(f.Interface)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	c.data = append(b, data...)
}

// name returns the index of a name.
func (m *memory) name(name string) int {
	i := slices.Index(m.names, name)
	if i < 0 {
		i = len(m.names)
		m.names = append(m.names, name)
	}
	return i
}

// begin begins a chunk at a time. It forgets the oldest ones until there is room, and reports false
// where none is left.
func (m *memory) begin(now int64) bool {
	c := m.take()
	for ; c == nil && len(m.list) > 0; c = m.take() {
		m.forget()
	}
	if c == nil {
		return false
	}
	c.data, c.first, c.last = c.data[:0], now, now
	c.users.Store(1)
	m.list = append(m.list, c)
	if m.inUse() > int64(cap(m.free))*chunkSize/2 { // the older half is written early, so that there is room in time
		for _, old := range m.list[:len(m.list)/2] {
			m.leaves(old)
		}
	}
	return true
}

// take returns a chunk that nobody uses, nil if there is no room for another one.
func (m *memory) take() *chunk {
	select {
	case c := <-m.free:
		return c
	default:
	}
	if int(m.made.Load()) == cap(m.free) {
		return nil
	}
	m.made.Add(1)
	return &chunk{data: newBytes(chunkSize)}
}

// forget removes the oldest chunk.
func (m *memory) forget() {
	c := m.list[0]
	m.leaves(c)
	m.list[0] = nil
	m.list = m.list[1:]
	m.release(c)
}

func (m *memory) release(c *chunk) {
	if c.users.Add(-1) == 0 {
		m.free <- c
	}
}

func (m *memory) inUse() int64 { return (m.made.Load() - int64(len(m.free))) * chunkSize }

// oldest returns the time of the oldest frame; ok is false without any.
func (m *memory) oldest() (t int64, ok bool) {
	if len(m.list) == 0 {
		return 0, false
	}
	return m.list[0].first, true
}

// piece returns the frames of a chunk so far. The chunk is to be released.
func (m *memory) piece(c *chunk) piece {
	c.users.Add(1)
	return piece{c.data[:len(c.data):len(c.data)], m.names}
}

// frames yields each frame, whose Data is valid as long as the chunk is used.
func (p piece) frames(yield func(f *capture.Frame) bool) {
	var f capture.Frame
	for b := p.data; len(b) > 0; {
		u32 := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
		f.Number, f.Time = int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
		f.FileNumber = int64(binary.LittleEndian.Uint64(b[16:]))
		f.Len, f.Link, f.Source, f.Iface = u32(24), capture.LinkType(u32(32)), u32(36), u32(40)
		f.File, f.Interface = p.names[u32(44)], p.names[u32(48)]
		end := frameHeader + u32(28)
		f.Data, b = b[frameHeader:end:end], b[end:]
		if !yield(&f) {
			return
		}
	}
}
