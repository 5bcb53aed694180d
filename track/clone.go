package track

import (
	"slices"

	"github.com/lshark/lshark/internal/fifo"
)

// Clone keeps a record beyond the Done hook.
func (r *RPC) Clone() *RPC {
	c := *r
	c.Seen, c.name = slices.Clone(r.Seen), slices.Clone(r.name)
	c.Carriers = slices.Clone(r.Carriers)
	c.OtherErrors = slices.Clone(r.OtherErrors)
	c.group, c.interval, c.same = nil, nil, nil
	c.place = fifo.Element[RPC]{}
	return &c
}
