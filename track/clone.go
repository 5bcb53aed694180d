package track

import "slices"

// Clone keeps a record beyond the Done hook.
func (r *RPC) Clone() *RPC {
	c := *r
	c.Seen, c.name = slices.Clone(r.Seen), slices.Clone(r.name)
	c.Carriers = slices.Clone(r.Carriers)
	c.OtherErrors = slices.Clone(r.OtherErrors)
	c.group, c.interval, c.list, c.prev, c.next, c.same = nil, nil, nil, nil, nil, nil
	return &c
}
