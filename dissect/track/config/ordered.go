package config

// ordered is a map that keeps its keys in the order in which they were added.
type ordered[K comparable, V any] struct {
	at     map[K]int
	keys   []K
	values []V
}

func (o *ordered[K, V]) get(k K) (v V, ok bool) {
	i, ok := o.at[k]
	if ok {
		v = o.values[i]
	}
	return v, ok
}

// put sets the value of a key, which is added at the end if it is new.
func (o *ordered[K, V]) put(k K, v V) {
	if i, ok := o.at[k]; ok {
		o.values[i] = v
		return
	}
	if o.at == nil {
		o.at = make(map[K]int)
	}
	o.at[k] = len(o.keys)
	o.keys = append(o.keys, k)
	o.values = append(o.values, v)
}

func (o *ordered[K, V]) delete(k K) { delete(o.at, k) }

// list returns the values in their order.
func (o *ordered[K, V]) list() (values []V) {
	for i, k := range o.keys {
		if at, ok := o.at[k]; ok && at == i {
			values = append(values, o.values[i])
		}
	}
	return values
}
