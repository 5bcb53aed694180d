package values

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/wiretest"
)

// arena returns the messages of a sample.
func arena(t testing.TB, name string) *dissect.Arena {
	a := &dissect.Arena{}
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) { a.Add(m) }})
	wiretest.Play(d, wiretest.ReadSample(t, sample(t, name)))
	return a
}

// TestNoAllocations replaces messages whose values are known.
func TestNoAllocations(t *testing.T) {
	a, p, dst := arena(t, "metadata.pcap.zst"), New([]byte("key")), make([]byte, 1<<20)
	all := func() {
		for i := range a.Len() {
			m := a.At(i)
			p.Message(dst[:len(m.Data)], m)
		}
	}
	all()
	if n := testing.AllocsPerRun(3, all) / float64(a.Len()); n > 0.05 {
		t.Errorf("%.2f allocations for each message", n)
	}
}
