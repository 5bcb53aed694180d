package track

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/fifo"
)

// duplicateWindow is how many messages are remembered.
const duplicateWindow = 1 << 16

// Duplicates recognizes messages that another capture point has seen already:
// the same bytes of the same TCP connection or queue pair. The zero Duplicates is ready for
// use.
type Duplicates struct {
	sources *fifo.Map[dissect.Position, int] // the capture point that saw it first
}

// Seen reports whether another capture point has seen a message before.
func (d *Duplicates) Seen(m *dissect.Message) bool {
	if d.sources == nil {
		d.sources = fifo.NewMap[dissect.Position, int](duplicateWindow)
	}
	p := m.Position()
	if source, ok := fifo.Get(d.sources, p); ok {
		return source != m.Source
	}
	fifo.Put(d.sources, p, m.Source)
	return false
}
