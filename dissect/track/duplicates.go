package track

import (
	"net/netip"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
)

// duplicateWindow is how many messages are remembered.
const duplicateWindow = 1 << 16

// Duplicates recognizes messages that another capture point has seen already:
// the same bytes of the same TCP connection or queue pair. The zero Duplicates is ready for
// use.
type Duplicates struct {
	sources *fifo.Map[streamPosition, int] // the capture point that saw it first
}

// streamPosition is the position of a message on its TCP connection or queue pair.
type streamPosition struct {
	src, dst netip.AddrPort
	destQP   uint32 // 0 of TCP
	seq      uint32
	size     int
	kind     lnet.Kind
}

// Seen reports whether another capture point has seen a message before.
func (d *Duplicates) Seen(m *dissect.Message) bool {
	if d.sources == nil {
		d.sources = fifo.NewMap[streamPosition, int](duplicateWindow)
	}
	p := streamPosition{m.Src, m.Dst, 0, m.Seq, m.Size, m.Kind}
	if m.IB != nil {
		p.destQP = m.IB.DestQP
	}
	if source, ok := fifo.Get(d.sources, p); ok {
		return source != m.Source
	}
	fifo.Put(d.sources, p, m.Source)
	return false
}
