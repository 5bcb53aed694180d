package store

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

// Query chooses rows.
type Query struct {
	Kind       Kind
	Filter     string // display filter; empty: all rows
	Sort       string // name of a column; empty: in the order of time, RPCs by their first messages
	Descending bool
}

// View is the rows of a Query. Advance finds them, in one goroutine; the other methods are
// for any.
type View struct {
	Query
	store   *Store
	rows    *Reader
	matches func(*Row) bool // nil: all rows do
	column  *Column         // nil: not sorted
	message records.Message
	text    []byte
	next    atomic.Int64 // first row that was not tested
	dropped int64        // rows that the store no longer has, and the view neither

	advancing sync.Mutex // a view may be shown again before another goroutine has left it

	sorted []sorted // by the column
	fresh  []sorted // to be merged into it

	mu      sync.Mutex
	ids     []int64
	version int
	err     error
}

// NewView makes a View. The error is that of the filter, a *filter.Error.
func (s *Store) NewView(q Query) (v *View, err error) {
	v = &View{Query: q, store: s, rows: s.NewReader()}
	if q.Sort != "" {
		v.column, _ = NewColumn(q.Kind, q.Sort)
	}
	if q.Filter != "" {
		v.matches, err = v.compile()
	}
	return v, err
}

// compile returns the func that compares a row with the filter, and what is wrong with that.
func (v *View) compile() (matches func(*Row) bool, err error) {
	if v.Kind == Messages {
		f, err := filter.Compile(v.Filter)
		return func(row *Row) bool {
			v.message.Set(row.Message, row.First)
			return f.Match(&v.message)
		}, err
	}
	f, err := filter.CompileRPC(v.Filter)
	return func(row *Row) bool {
		if f.ReadsMessages() {
			for _, id := range row.Messages {
				if m, err := v.rows.Read(Messages, id); err == nil { // else it was dropped
					v.message.Set(m.Message, m.First)
					f.Mark(&v.message, row.RPC)
				}
			}
		}
		return f.Match(row.RPC)
	}, err
}

// batch is how many rows one call of Advance tests.
const batch = 1024

// Advance tests some of the rows that have not been tested. When all were tested, it sorts
// the rows that were found last into the view and removes those that the store has dropped.
// It returns false when there was nothing to do.
func (v *View) Advance() bool {
	v.advancing.Lock()
	defer v.advancing.Unlock()
	from, to := v.store.Range(v.Kind)
	next := max(v.next.Load(), from)
	if next >= to {
		merged := v.merge()
		dropped := v.drop(from)
		return merged || dropped
	}
	var found []int64
	for to = min(to, next+batch); next < to; next++ {
		ok, err := v.test(next)
		if err != nil && err != errDropped {
			v.mu.Lock()
			v.err = err
			v.mu.Unlock()
		}
		if ok {
			found = append(found, next)
		}
	}
	v.next.Store(next)
	if len(v.fresh) > max(4*batch, len(v.sorted)/2) {
		v.merge()
	}
	if v.column == nil && len(found) > 0 {
		v.set(merge(v.ids, found, v.byTime))
	}
	return true
}

// set changes the rows. Only Advance does, so it reads them without mu.
func (v *View) set(ids []int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ids = ids
	v.version++
}

// byTime compares rows that are not sorted. RPCs are found in the order in which they ended.
func (v *View) byTime(a, b int64) int {
	if v.Kind == Messages {
		return cmp.Compare(a, b)
	}
	x, _ := v.store.entry(RPCs, a)
	y, _ := v.store.entry(RPCs, b)
	return cmp.Or(cmp.Compare(x.of, y.of), cmp.Compare(a, b))
}

// merge returns a list in order with further values. What is in the list stays where it is in memory.
func merge[T any](list, further []T, compare func(a, b T) int) []T {
	slices.SortFunc(further, compare)
	n := len(list)
	for n > 0 && compare(list[n-1], further[0]) > 0 {
		n--
	}
	later := list[n:]
	if len(later) > 0 {
		list = list[:n:n]
	}
	for _, x := range further {
		for len(later) > 0 && compare(later[0], x) < 0 {
			list, later = append(list, later[0]), later[1:]
		}
		list = append(list, x)
	}
	return append(list, later...)
}

// test reports whether a row is in the view. It adds the rows of a sorted view.
func (v *View) test(id int64) (ok bool, err error) {
	if v.matches == nil && v.column == nil {
		x, ok := v.store.entry(v.Kind, id)
		return ok && x.of != isCopy, nil
	}
	row, err := v.rows.Read(v.Kind, id)
	if err != nil || row.Of == isCopy || v.matches != nil && !v.matches(&row) {
		return false, err
	}
	if v.column != nil {
		v.text = v.column.Append(v.text[:0], &row)
		v.fresh = append(v.fresh, sorted{parseKey(v.text), id})
	}
	return true, nil
}

// merge sorts the rows that were found last into the others, and reports whether there
// were any.
func (v *View) merge() bool {
	if len(v.fresh) == 0 {
		return false
	}
	v.sorted, v.fresh = merge(v.sorted, v.fresh, order(v.Descending)), nil
	ids := make([]int64, len(v.sorted))
	for i := range v.sorted {
		ids[i] = v.sorted[i].id
	}
	v.set(ids)
	return true
}

// drop removes the rows that are no longer kept, and reports whether there were any.
func (v *View) drop(from int64) bool {
	if from == v.dropped {
		return false
	}
	v.dropped = from
	v.sorted = slices.DeleteFunc(v.sorted, func(x sorted) bool { return x.id < from })
	v.set(slices.DeleteFunc(slices.Clone(v.ids), func(id int64) bool { return id < from }))
	return true
}

// IDs returns the rows, and a number that changes when they do. The list must not be
// changed; it stays as it is.
func (v *View) IDs() (ids []int64, version int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ids[:len(v.ids):len(v.ids)], v.version
}

// Tested returns how many rows were tested, those that were dropped included.
func (v *View) Tested() int64 { return v.next.Load() }

// Err returns why rows could not be read.
func (v *View) Err() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}
