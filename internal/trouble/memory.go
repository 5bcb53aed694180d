package trouble

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/lshark/lshark/dissect/capture"
)

const (
	chunkSize   = 1 << 20 // bytes; longer frames have chunks of their own
	frameHeader = 52      // bytes before a frame in a chunk
)

// chunk is a run of frames.
type chunk struct {
	data        []byte // frames, each behind its header
	first, last int64  // lowest and highest time of a frame
	number      int64  // of the last frame
	users       int    // the memory, and pieces that are to be written; guarded by chunks.mu
}

// chunks are those that are in use, and those that can be used again.
type chunks struct {
	mu    sync.Mutex
	free  []*chunk // of chunkSize
	bytes int64    // of all chunks
	limit int64
}

// take returns an empty chunk with one user, nil if there is no room for it.
func (p *chunks) take(size int) *chunk {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 && size == chunkSize {
		c := p.free[n-1]
		p.free = p.free[:n-1]
		c.users = 1
		return c
	}
	for len(p.free) > 0 && p.bytes+int64(size) > p.limit {
		p.discard(p.free[len(p.free)-1])
		p.free = p.free[:len(p.free)-1]
	}
	if p.bytes+int64(size) > p.limit {
		return nil
	}
	p.bytes += int64(size)
	return &chunk{data: newBytes(size), users: 1}
}

func (p *chunks) retain(c *chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.users++
}

func (p *chunks) release(c *chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.users--; c.users > 0 {
		return
	}
	if cap(c.data) != chunkSize {
		p.discard(c)
		return
	}
	c.data = c.data[:0]
	p.free = append(p.free, c)
}

// discard gives the memory of a chunk back.
func (p *chunks) discard(c *chunk) {
	p.bytes -= int64(cap(c.data))
	freeBytes(c.data)
	c.data = nil
}

// close gives all memory back, when nobody uses it any more.
func (p *chunks) close(list []*chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range append(list, p.free...) {
		p.discard(c)
	}
	p.free = nil
}

func (p *chunks) inUse() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes - int64(len(p.free))*chunkSize
}

// piece is the frames that a chunk had at some time, for the goroutine that writes.
type piece struct {
	of    *chunk
	data  []byte
	names []string
}

// memory keeps the last frames of a capture.
type memory struct {
	chunks
	keep    int64 // nanoseconds
	snaplen int   // bytes that are kept of a frame; 0: all
	list    []*chunk
	names   []string     // of the files and the interfaces of frames
	dropped int64        // frames for which there was no room
	leaves  func(*chunk) // is called with chunks that will be forgotten next, again and again, and before they are
}

func (m *memory) add(f *capture.Frame) {
	data := f.Data
	if m.snaplen > 0 {
		data = data[:min(len(data), m.snaplen)]
	}
	for len(m.list) > 1 && m.list[0].last < f.Time-m.keep {
		m.forget()
	}
	size := frameHeader + len(data)
	c := m.newest()
	if c == nil || len(c.data)+size > cap(c.data) {
		if c = m.begin(max(size, chunkSize)); c == nil {
			m.dropped++
			return
		}
		c.first, c.last = f.Time, f.Time
	}
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

func (m *memory) newest() *chunk {
	if len(m.list) == 0 {
		return nil
	}
	return m.list[len(m.list)-1]
}

// begin adds an empty chunk. It forgets the oldest ones until there is room.
func (m *memory) begin(size int) *chunk {
	for {
		if c := m.take(size); c != nil {
			m.list = append(m.list, c)
			if m.inUse() > m.limit/2 { // the older half is written early, so that there is room in time
				for _, old := range m.list[:len(m.list)/2] {
					m.leaves(old)
				}
			}
			return c
		}
		if len(m.list) == 0 {
			return nil
		}
		m.forget()
	}
}

// forget removes the oldest chunk.
func (m *memory) forget() {
	c := m.list[0]
	m.leaves(c)
	m.list[0] = nil
	m.list = m.list[1:]
	m.release(c)
}

// oldest returns the time of the oldest frame; ok is false without any.
func (m *memory) oldest() (t int64, ok bool) {
	if len(m.list) == 0 {
		return 0, false
	}
	return m.list[0].first, true
}

// piece returns the frames of a chunk so far. It is to be released.
func (m *memory) piece(c *chunk) piece {
	m.retain(c)
	return piece{c, c.data[:len(c.data):len(c.data)], m.names}
}

// each calls do with each frame, whose Data is valid as long as the chunk is used, until do
// returns false.
func (p piece) each(do func(f *capture.Frame) bool) {
	var f capture.Frame
	for b := p.data; len(b) > 0; {
		u32 := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
		f.Number, f.Time = int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
		f.FileNumber = int64(binary.LittleEndian.Uint64(b[16:]))
		f.Len, f.Link, f.Source, f.Iface = u32(24), capture.LinkType(u32(32)), u32(36), u32(40)
		f.File, f.Interface = p.names[u32(44)], p.names[u32(48)]
		end := frameHeader + u32(28)
		f.Data, b = b[frameHeader:end:end], b[end:]
		if !do(&f) {
			return
		}
	}
}
