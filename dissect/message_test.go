package dissect

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// missing looks at every hole.
func missing(m *Message, off, n int) Why {
	for _, h := range m.Holes {
		if off < h.Off+h.Len && h.Off < off+n {
			return h.Why
		}
	}
	return Present
}

func TestMissing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	m := &Message{Data: make([]byte, 400), Size: 400}
	for range 500 {
		m.Holes = m.Holes[:0]
		for at := rnd.IntN(30); at < 350; at += rnd.IntN(100) {
			h := Hole{at, 1 + rnd.IntN(20), Snaplen + Why(rnd.IntN(2))}
			m.Holes = append(m.Holes, h)
			at += h.Len
		}
		for off := range 380 {
			for _, n := range [...]int{0, 1, 4, 8, 20} {
				if got, want := m.Missing(off, n), missing(m, off, n); got != want {
					t.Fatalf("%d bytes from %d are %v, not %v: %v", n, off, got, want, m.Holes)
				}
			}
		}
	}
}

// TestMissingOfMany asks for many fields among many holes. With a look at each
// hole it takes a long time.
func TestMissingOfMany(t *testing.T) {
	const fields = 1 << 16
	m := &Message{Data: make([]byte, 8*fields), Size: 8 * fields}
	for i := range fields {
		m.Holes = append(m.Holes, Hole{8*i + 7, 1, Snaplen})
	}
	for i := range fields {
		if m.Missing(8*i, 7) != Present || m.Missing(8*i, 8) != Snaplen {
			t.Fatal("wrong")
		}
	}
}

// TestOpenAmongHoles: what a hole covers is not there, in any buffer. With a
// look at each hole for each buffer it takes a long time.
func TestOpenAmongHoles(t *testing.T) {
	const bufs, each = 200, 4096
	data := make([]byte, round8(msgFixed+4*bufs)+bufs*each)
	le := binary.LittleEndian
	le.PutUint32(data, bufs)
	le.PutUint32(data[offMagic:], msgMagic)
	for i := range bufs {
		le.PutUint32(data[msgFixed+4*i:], each)
	}
	m := &Message{Data: data, Size: len(data)}
	for off := round8(msgFixed + 4*bufs); off+2 <= len(data); off += 2 {
		m.Holes = append(m.Holes, Hole{off + 1, 1, Snaplen})
	}
	var p rpcMsg
	p.openIn(m)
	for i, b := range p.Bufs {
		if len(b) != 1 {
			t.Fatalf("buffer %d has %d bytes", i, len(b))
		}
	}
}
