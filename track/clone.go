package track

import "slices"

// Clone keeps a record beyond the Done hook.
func (r *RPC) Clone() *RPC {
	c := *r
	c.Seen, c.name = slices.Clone(r.Seen), slices.Clone(r.name)
	c.OtherErrors = slices.Clone(r.OtherErrors)
	c.record = record{slot: -1, created: r.created}
	return &c
}
