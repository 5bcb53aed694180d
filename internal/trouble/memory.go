package trouble

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/lshark/lshark/dissect/capture"
)

const (
	chunkSize   = 1 << 20 // bytes
	frameHeader = 52      // bytes before a frame in a chunk
)

// chunk is a run of frames.
type chunk struct {
	data        []byte // frames, each behind its header
	first, last int64  // lowest and highest time of a frame
	number      int64  // of the last frame
	users       int    // the memory, and pieces that are to be written; guarded by chunks.mu
}

// chunks are those that can be used again. They have the same size, and are never given back.
type chunks struct {
	mu    sync.Mutex
	free  []*chunk
	used  int64
	limit int64 // of those in use
}

// take returns an empty chunk with one user, nil if there is no room for it.
func (p *chunks) take() *chunk {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used == p.limit {
		return nil
	}
	p.used++
	n := len(p.free)
	if n == 0 {
		return &chunk{data: newBytes(chunkSize), users: 1}
	}
	c := p.free[n-1]
	p.free = p.free[:n-1]
	c.users = 1
	return c
}

func (p *chunks) retain(c *chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.users++
}

func (p *chunks) release(c *chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.users--; c.users == 0 {
		p.used--
		c.data = c.data[:0]
		p.free = append(p.free, c)
	}
}

func (p *chunks) inUse() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
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
	data := f.Data[:min(len(f.Data), cmp.Or(m.snaplen, chunkSize), chunkSize-frameHeader)]
	for len(m.list) > 1 && m.list[0].last < f.Time-m.keep {
		m.forget()
	}
	var c *chunk
	if n := len(m.list); n > 0 {
		c = m.list[n-1]
	}
	if c == nil || len(c.data)+frameHeader+len(data) > chunkSize {
		if c = m.begin(f.Time); c == nil {
			m.dropped++
			return
		}
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

// begin adds an empty chunk. It forgets the oldest ones until there is room.
func (m *memory) begin(now int64) *chunk {
	for {
		if c := m.take(); c != nil {
			c.first, c.last = now, now
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
