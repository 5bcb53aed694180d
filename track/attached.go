package track

// Attached holds a value of a user's own for each RPC that an RPCs keeps: RPCs
// have small numbers, which are used again, and a value is found by number.
// The zero Attached is ready; it is for the RPCs of one RPCs.
type Attached[T any] struct{ values []T }

// Of returns the value of an RPC. The pointer is valid until Of is called for
// another RPC. The next RPC with the same number finds the value as it was
// left: reset it in the Done hook. A Clone has no value.
func (a *Attached[T]) Of(r *RPC) *T {
	for len(a.values) <= int(r.slot) {
		var zero T
		a.values = append(a.values, zero)
	}
	return &a.values[r.slot]
}
