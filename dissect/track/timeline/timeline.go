// Package timeline follows how latencies and the mix of operations change in the
// course of a capture.
//
// A Timeline receives RPCs from a track.Pairing: pass its method Done as a hook in
// track.Options. It divides the time into bins, of which there are at most MaxBins:
// when the capture grows beyond them, each two neighbouring bins become one of twice the width.
// Its memory is constant, and an RPC costs no allocation.
package timeline

import (
	"slices"
	"time"

	"github.com/lshark/lshark/dissect/track"
)

const (
	// MaxBins is the greatest number of bins.
	MaxBins = 96

	// MaxOperations is how many operations are counted one by one. They are the first
	// that appear; all others are counted together.
	MaxOperations = 63

	minWidth = int64(time.Millisecond)
)

// latencyBounds are 1, 2 and 5 times the powers of ten, from one microsecond to 5000
// seconds, in nanoseconds.
var latencyBounds = func() (list []int64) {
	for unit := int64(time.Microsecond); unit <= 1000*int64(time.Second); unit *= 10 {
		list = append(list, unit, 2*unit, 5*unit)
	}
	return list
}()

// LatencyBounds returns the upper ends of the buckets of latencies, in nanoseconds. A
// bucket has the latencies that are at most its bound and greater than the one before;
// the last one has also those beyond all bounds.
func LatencyBounds() []int64 { return latencyBounds }

// latencyBuckets is the number of buckets of latencies.
const latencyBuckets = 30

// Bin counts the RPCs whose requests were sent in a part of the capture's time.
type Bin struct {
	Latencies [latencyBuckets]int64    // RPCs with a reply, by latency, see LatencyBounds
	Counts    [MaxOperations + 1]int64 // RPCs, by the index in Operations; the last one counts all others
}

func (b *Bin) add(o *Bin) {
	for i := range o.Latencies {
		b.Latencies[i] += o.Latencies[i]
	}
	for i := range o.Counts {
		b.Counts[i] += o.Counts[i]
	}
}

// Operation is an operation that is counted one by one.
type Operation struct {
	Opcode    uint32
	HasOpcode bool // false: that of RPCs whose operation is unknown
}

// Timeline divides the time of a capture into bins.
type Timeline struct {
	width      int64        // of a bin, in nanoseconds
	first      int64        // number of the first bin: its begin divided by width
	bins       [MaxBins]Bin // from first on
	n          int          // bins in use
	operations []Operation  // by the index in Counts
	indexes    map[Operation]int
}

// New makes a Timeline.
func New() *Timeline { return &Timeline{width: minWidth, indexes: make(map[Operation]int)} }

// Done counts an RPC that has ended.
func (t *Timeline) Done(r *track.RPC) {
	b := t.bin(r.Begin())
	b.Counts[t.index(Operation{r.Opcode, r.HasOpcode})]++
	if ns, ok := r.Latency(); ok {
		k, _ := slices.BinarySearch(latencyBounds, ns)
		b.Latencies[min(k, latencyBuckets-1)]++
	}
}

func (t *Timeline) index(o Operation) int {
	k, ok := t.indexes[o]
	if ok {
		return k
	}
	if len(t.operations) == MaxOperations {
		return MaxOperations
	}
	k = len(t.operations)
	t.operations, t.indexes[o] = append(t.operations, o), k
	return k
}

func (t *Timeline) bin(ns int64) *Bin {
	number := floorDiv(ns, t.width)
	if t.n == 0 {
		t.first, t.n = number, 1
	}
	for max(number, t.first+int64(t.n)-1)-min(number, t.first) >= MaxBins {
		t.widen()
		number = floorDiv(ns, t.width)
	}
	if before := int(t.first - number); before > 0 { // RPCs end in another order than they begin
		copy(t.bins[before:], t.bins[:t.n])
		clear(t.bins[:before])
		t.first, t.n = number, t.n+before
	}
	k := int(number - t.first)
	t.n = max(t.n, k+1)
	return &t.bins[k]
}

// widen makes the bins twice as wide.
func (t *Timeline) widen() {
	const factor = 2
	t.width *= factor
	first := floorDiv(t.first, factor)
	n := 0
	for k := range t.n {
		to := int(floorDiv(t.first+int64(k), factor) - first)
		if to != k {
			t.bins[to].add(&t.bins[k])
			t.bins[k] = Bin{}
		}
		n = to + 1
	}
	t.first, t.n = first, n
}

// floorDiv divides and rounds down, also times before 1970.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Bins returns the bins in the order of time, without gaps. They are valid until the
// next call of Done.
func (t *Timeline) Bins() []Bin { return t.bins[:t.n] }

// Begin returns when the first bin begins, in nanoseconds since the epoch.
func (t *Timeline) Begin() int64 { return t.first * t.width }

// Width returns how much time each bin covers, in nanoseconds.
func (t *Timeline) Width() int64 { return t.width }

// Operations returns the operations by their index in Bin.Counts.
func (t *Timeline) Operations() []Operation { return t.operations }
