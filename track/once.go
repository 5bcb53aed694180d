package track

import (
	"net/netip"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/lnet"
)

// onceWindow is how many messages are remembered.
const onceWindow = 1 << 16

// Once tells messages that another capture point has seen already: the same
// bytes of the same connection. The zero value is ready.
type Once struct {
	seen *fifo.Map[place, int] // the capture point that saw it first
}

// place is where a message lies on its connection.
type place struct {
	src, dst netip.AddrPort
	seq      uint32
	size     int
	kind     lnet.Kind
}

// Again says whether a message was seen at another capture point before.
func (o *Once) Again(m *dissect.Message) bool {
	p := place{m.Src, m.Dst, m.Seq, m.Size, m.Kind}
	if o.seen == nil {
		o.seen = fifo.NewMap[place, int](onceWindow)
	}
	if source, ok := o.seen.Get(p); ok {
		return source != m.Source
	}
	o.seen.Put(p, m.Source)
	return false
}
