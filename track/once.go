package track

import (
	"net/netip"

	"github.com/lshark/lshark/dissect"
)

// onceWindow is how many messages are remembered.
const onceWindow = 1 << 16

// Once tells messages that another capture point has seen already: the same
// bytes of the same connection. The zero value is ready.
type Once struct {
	seen map[place]int // the capture point that saw it first
	ring []place
	at   int
}

// place is where a message lies on its connection.
type place struct {
	src, dst netip.AddrPort
	seq      uint32
	size     int
	kind     dissect.Kind
}

// Again says whether a message was seen at another capture point before.
func (o *Once) Again(m *dissect.Message) bool {
	p := place{m.Src, m.Dst, m.Seq, m.Size, m.Kind}
	if source, ok := o.seen[p]; ok {
		return source != m.Source
	}
	if o.seen == nil {
		o.seen = make(map[place]int)
	}
	if len(o.ring) < onceWindow {
		o.ring = append(o.ring, p)
	} else {
		delete(o.seen, o.ring[o.at])
		o.ring[o.at] = p
		o.at = (o.at + 1) % onceWindow
	}
	o.seen[p] = m.Source
	return false
}
