package track

// Attached holds a value for each RPC, for the use of a package that follows
// RPCs. A value is found by a small number that the RPC has until it ends, so it
// costs neither a lookup nor an allocation. The zero Attached is ready for use.
type Attached[T any] struct{ values []T }

// Of returns the value of an RPC. The pointer is valid until Of is called for
// another RPC. Reset the value in the Done hook: the next RPC with the same
// number gets it as it was left. A Clone has no value.
func (a *Attached[T]) Of(r *RPC) *T {
	for len(a.values) <= int(r.slot) {
		var zero T
		a.values = append(a.values, zero)
	}
	return &a.values[r.slot]
}
