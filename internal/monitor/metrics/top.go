package metrics

import (
	"container/heap"
	"hash/maphash"
	"math"
	"time"

	"github.com/lshark/lshark/internal/fifo"
)

// A Top ranks the values of a label by how often they occur, in memory that does
// not depend on how many values there are. Weights decay: after a half-life an
// event counts half.
//
// The top values are counted exactly. Of the others, the most frequent are
// candidates, counted by the space-saving algorithm: a new value replaces the
// candidate with the lowest count and inherits this count as its possible error.
// A candidate replaces the lowest top value when its count, the error deducted,
// is considerably higher, and not before that has been a top value for a quarter
// of the half-life. So values of similar weight do not take turns.
type Top struct {
	registry *Registry
	size     int
	halfLife float64 // in ns
	labels   []topLabel

	seed       maphash.Seed
	index      fifo.Index[topEntry] // by the hashes of the values
	top        topHeap
	candidates topHeap
	promotions uint64

	epoch int64   // time at which a weight counts as it is, as Registry.elapsed
	scale float64 // by which weights are multiplied at the time scaled
	// scaled is updated once a second at most.
	scaled int64
}

type topLabel struct {
	family *family
	label  int
}

type topEntry struct {
	value    []byte // its memory is reused
	count    float64
	error    float64 // the count may be too high by this
	position int     // in its heap
	since    int64   // when it became a top value, as Registry.elapsed
	isTop    bool
	fifo.Entry[topEntry]
}

const (
	minCandidates = 1024
	// maxExponent bounds the scale: all counts are divided by it when it is
	// reached.
	maxExponent = 64
)

// Top returns a ranking of the size most frequent values. Labels of several
// families can share it, and then have the same values.
func (r *Registry) Top(size int, halfLife time.Duration) *Top {
	if size < 1 || halfLife <= 0 {
		panic("metrics: a ranking without size or half-life")
	}
	return &Top{registry: r, size: size, halfLife: float64(halfLife), seed: maphash.MakeSeed(), epoch: r.elapsed, scaled: r.elapsed, scale: 1}
}

// Promotions returns how many values have become top values so far. It is to be
// called between Begin and End.
func (t *Top) Promotions() uint64 { return t.promotions }

// Count adds a weight to a value, which may become a top value by this. It is to
// be called once for each event, before the event is counted in families that
// have the value as a label: their series may be removed here.
func (t *Top) Count(value string, weight float64) {
	if !(weight > 0 && weight <= maxFloat) {
		return
	}
	if t.registry.elapsed-t.scaled >= int64(time.Second) {
		t.rescale()
	}
	weight *= t.scale
	hash, e := t.lookup(value)
	if e == nil {
		if clean := cleanValue(value); clean != value {
			value = clean
			hash, e = t.lookup(value)
		}
	}
	if value == Other { // its series is that of the values without one
		return
	}
	switch {
	case e == nil:
		e = t.add(hash, value, weight)
	case e.isTop:
		e.count += weight
		heap.Fix(&t.top, e.position)
	default:
		e.count += weight
		heap.Fix(&t.candidates, e.position)
	}
	if !e.isTop {
		t.challenge(e)
	}
}

// lookup returns the hash of a value, and its entry; nil: it has none.
func (t *Top) lookup(value string) (hash uint64, found *topEntry) {
	hash = maphash.String(t.seed, value)
	for e := t.index.First(hash); e != nil; e = e.Next() {
		if string(e.Owner.value) == value {
			return hash, e.Owner
		}
	}
	return hash, nil
}

func (t *Top) has(value string) bool {
	_, e := t.lookup(value)
	return e != nil && e.isTop
}

// add adds a value that is not counted yet, in place of the lowest candidate if
// there is no room.
func (t *Top) add(hash uint64, value string, weight float64) *topEntry {
	var e *topEntry
	switch {
	case len(t.top) < t.size:
		e = &topEntry{count: weight, since: t.registry.elapsed, isTop: true}
		heap.Push(&t.top, e)
		t.promotions++
	case len(t.candidates) < max(minCandidates, 8*t.size):
		e = &topEntry{count: weight}
		heap.Push(&t.candidates, e)
	default:
		e = t.candidates[0]
		t.index.Remove(&e.Entry)
		e.error = e.count
		e.count += weight
		heap.Fix(&t.candidates, 0)
	}
	e.value = append(e.value[:0], value...)
	t.index.Add(&e.Entry, hash, e)
	return e
}

// challenge makes a candidate a top value in place of the lowest one, if it is
// surely more frequent.
func (t *Top) challenge(e *topEntry) {
	lowest := t.top[0]
	sure := e.count - e.error
	if sure <= lowest.count || float64(t.registry.elapsed-lowest.since) < t.halfLife/4 {
		return
	}
	// In units of weight: half as much again, and more than what may be chance.
	low := lowest.count / t.scale
	if sure/t.scale <= 1.5*low+2*math.Sqrt(low)+2 {
		return
	}
	e.count, e.error = sure, 0
	t.top[0], t.candidates[e.position] = e, lowest
	e.position, lowest.position = lowest.position, e.position
	e.isTop, lowest.isTop = true, false
	e.since = t.registry.elapsed
	heap.Fix(&t.candidates, lowest.position)
	heap.Fix(&t.top, 0)
	t.promotions++
	for _, l := range t.labels {
		l.family.removeValue(l.label, string(lowest.value))
	}
}

// rescale computes the scale for the current time.
func (t *Top) rescale() {
	t.scaled = t.registry.elapsed
	exponent := float64(t.scaled-t.epoch) / t.halfLife
	if exponent > maxExponent {
		factor := math.Exp2(-exponent)
		for _, heap := range []topHeap{t.top, t.candidates} {
			for _, e := range heap {
				e.count *= factor
				e.error *= factor
			}
		}
		t.epoch = t.scaled
		exponent = 0
	}
	t.scale = math.Exp2(exponent)
}

// topHeap is a heap with the lowest count first.
type topHeap []*topEntry

// Len, Less, Swap, Push and Pop are for package heap.
func (h topHeap) Len() int           { return len(h) }
func (h topHeap) Less(i, j int) bool { return h[i].count < h[j].count }

func (h topHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].position, h[j].position = i, j
}

func (h *topHeap) Push(e any) {
	e.(*topEntry).position = len(*h)
	*h = append(*h, e.(*topEntry))
}

func (h *topHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}
