package store

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lshark/lshark/opcodes/schema"
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
	rpcs    *filter.RPCFilter // nil: all
	records *filter.Filter    // of messages, nil: all
	column  *Column           // nil: not sorted
	message records.Message
	texts   map[string]string
	text    []byte
	next    int64 // first row that was not tested

	advancing sync.Mutex // a view may be shown again before another goroutine has left it

	sorted []sorted // by the column
	fresh  []sorted // to be merged into it

	mu      sync.Mutex
	ids     []int64
	tested  int64
	version int
	err     error
}

// NewView makes a View. The error is that of the filter, a *filter.Error.
func (s *Store) NewView(q Query, index *schema.Index) (v *View, err error) {
	v = &View{Query: q, store: s, rows: s.NewReader(), texts: make(map[string]string)}
	switch {
	case q.Filter == "":
	case q.Kind == RPCs:
		v.rpcs, err = filter.CompileRPC(q.Filter)
	default:
		v.records, err = filter.Compile(q.Filter)
	}
	if q.Sort != "" {
		v.column, _ = NewColumn(q.Kind, q.Sort, index)
	}
	return v, err
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
	v.next = max(v.next, from)
	if v.next >= to {
		merged := v.merge()
		dropped := v.drop(from)
		return merged || dropped
	}
	to = min(to, v.next+batch)
	var found []int64
	for ; v.next < to; v.next++ {
		ok, err := v.test(v.next)
		if err != nil && err != errDropped {
			v.mu.Lock()
			v.err = err
			v.mu.Unlock()
		}
		if ok {
			found = append(found, v.next)
		}
	}
	if v.column != nil && len(v.fresh) > max(4*batch, len(v.sorted)/2) {
		v.merge()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tested = v.next
	if v.column == nil && len(found) > 0 {
		v.insert(found)
		v.version++
	}
	return true
}

// insert adds rows in the order of time. RPCs are found in the order in which they ended.
func (v *View) insert(found []int64) {
	if v.Kind == Messages {
		v.ids = append(v.ids, found...)
		return
	}
	first := func(id int64) int64 {
		x, _ := v.store.entry(RPCs, id)
		return x.of
	}
	compare := func(a, b int64) int { return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a, b)) }
	slices.SortFunc(found, compare)
	n := len(v.ids)
	for n > 0 && compare(v.ids[n-1], found[0]) > 0 {
		n--
	}
	later := v.ids[n:]
	if len(later) > 0 {
		v.ids = v.ids[:n:n] // the list that IDs returned stays as it is
	}
	for _, id := range found {
		for len(later) > 0 && compare(later[0], id) < 0 {
			v.ids, later = append(v.ids, later[0]), later[1:]
		}
		v.ids = append(v.ids, id)
	}
	v.ids = append(v.ids, later...)
}

// test reports whether a row is in the view. It adds the rows of a sorted view.
func (v *View) test(id int64) (ok bool, err error) {
	if v.records == nil && v.rpcs == nil && v.column == nil {
		x, ok := v.store.entry(v.Kind, id)
		return ok && x.of != isCopy, nil
	}
	row, err := v.rows.Read(v.Kind, id)
	if err != nil || row.IsCopy {
		return false, err
	}
	if v.records != nil {
		v.message.Set(row.Message, row.First)
		if !v.records.Match(&v.message) {
			return false, nil
		}
	}
	if v.rpcs != nil {
		if v.rpcs.ReadsMessages() {
			v.mark(&row)
		}
		if !v.rpcs.Match(row.RPC) {
			return false, nil
		}
	}
	if v.column != nil {
		v.text = v.column.Append(v.text[:0], &row)
		v.fresh = append(v.fresh, sorted{parseKey(v.text, v.texts), id})
	}
	return true, nil
}

// mark compares the messages of an RPC with the filter, without those that were dropped.
func (v *View) mark(row *Row) {
	for _, id := range row.Messages {
		if m, err := v.rows.Message(id); err == nil {
			v.message.Set(m.Message, m.First)
			v.rpcs.Mark(&v.message, row.RPC)
		}
	}
}

// merge sorts the rows that were found last into the others, and reports whether there
// were any.
func (v *View) merge() bool {
	if len(v.fresh) == 0 {
		return false
	}
	compare := order(v.Descending)
	slices.SortFunc(v.fresh, compare)
	v.sorted = merge(v.sorted, v.fresh, compare)
	v.fresh = nil
	v.setSorted()
	return true
}

func (v *View) setSorted() {
	ids := make([]int64, len(v.sorted))
	for i := range v.sorted {
		ids[i] = v.sorted[i].id
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ids = ids
	v.version++
}

// drop removes the rows that are no longer kept, and reports whether there were any.
func (v *View) drop(from int64) bool {
	gone := func(id int64) bool { return id < from }
	if v.column != nil {
		n := len(v.sorted)
		if v.sorted = slices.DeleteFunc(v.sorted, func(x sorted) bool { return gone(x.id) }); len(v.sorted) == n {
			return false
		}
		v.setSorted()
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.ContainsFunc(v.ids, gone) {
		return false
	}
	v.ids = slices.DeleteFunc(slices.Clone(v.ids), gone)
	v.version++
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
func (v *View) Tested() int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.tested
}

// Err returns why rows could not be read.
func (v *View) Err() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}
