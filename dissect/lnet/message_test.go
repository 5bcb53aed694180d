package lnet

import (
	"math/rand/v2"
	"testing"
)

// missing returns the same as Message.Missing, by checking every hole.
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

// TestMissingOfMany checks many fields among many holes. It takes long if every hole is
// checked for each.
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
