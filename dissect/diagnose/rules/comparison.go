package rules

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// histogram counts times by their size, in steps of a quarter of a power of two.
type histogram struct {
	n    int64
	bins [histogramBins]uint32
}

const (
	histogramBins = 120
	histogramBase = 12 // the first bin has all times below 1<<12 ns
)

// add counts a time in nanoseconds.
func (h *histogram) add(ns int64) {
	h.n++
	h.bins[binOf(ns)]++
}

func binOf(ns int64) int {
	v := uint64(max(ns, 0))
	exponent := bits.Len64(v) - 1
	if exponent < histogramBase {
		return 0
	}
	return min((exponent-histogramBase)<<2+int(v>>(exponent-2)&3), histogramBins-1)
}

// valueOf returns the middle of a bin in nanoseconds.
func valueOf(bin int) float64 {
	return math.Ldexp(1+(float64(bin&3)+0.5)/4, histogramBase+bin>>2)
}

func (h *histogram) join(other *histogram) {
	h.n += other.n
	for i, n := range other.bins {
		h.bins[i] += n
	}
}

func (h *histogram) remove(other *histogram) {
	h.n -= other.n
	for i, n := range other.bins {
		h.bins[i] -= n
	}
}

// median returns the median in nanoseconds, 0 without times.
func (h *histogram) median() float64 {
	left := (h.n + 1) / 2
	for i, n := range h.bins {
		if left -= int64(n); left <= 0 && h.n > 0 {
			return valueOf(i)
		}
	}
	return 0
}

// above returns for how many pairs of a time of h and one of other the first is
// greater; equal ones count as half.
func (h *histogram) above(other *histogram) float64 {
	sum, below := 0.0, 0.0
	for i, n := range h.bins {
		sum += float64(n) * (below + float64(other.bins[i])/2)
		below += float64(other.bins[i])
	}
	return sum
}

// workClass are RPCs that should take the same time at equal targets: those of an
// operation and a job, and of about the same size.
type workClass struct {
	opcode uint32
	job    uint32 // hash of its name
	size   uint8  // logarithm of the bytes of bulk data, in steps of four
}

func classOf(r *track.RPC) workClass {
	job := uint32(2166136261) // FNV-1a
	for _, b := range r.Job() {
		job = (job ^ uint32(b)) * 16777619
	}
	return workClass{r.Opcode, job, uint8(bits.Len64(uint64(r.BulkBytes()))+1) / 2}
}

// workKey is a class of RPCs on a connection.
type workKey struct {
	conn  *track.Connection
	class workClass
}

// workTimes has the times of RPCs by connection and class.
type workTimes struct{ workMap[workKey] }

// workMap has the times of RPCs by what they have in common.
type workMap[K comparable] struct {
	times *fifo.Map[K, *work]
}

// work has the times of RPCs that have something in common, and their evidence.
type work struct {
	histogram
	first, last int64
	slowest     slowest
}

const maxWork = 1 << 12

func newWorkTimes() workTimes { return workTimes{newWorkMap[workKey]()} }

func newWorkMap[K comparable]() workMap[K] { return workMap[K]{fifo.NewMap[K, *work](maxWork)} }

func (t *workTimes) add(r *track.RPC, ns int64) {
	t.workMap.add(workKey{r.Connection, classOf(r)}, r, ns)
}

// add adds the time of an RPC, and returns those that it belongs to.
func (t *workMap[K]) add(key K, r *track.RPC, ns int64) *work {
	w := fifo.GetOrMake(t.times, key, func() *work { return &work{first: r.Begin()} })
	w.last = r.Begin()
	w.histogram.add(ns)
	w.slowest.add(r, ns)
	return w
}

// groupOf returns the member that a connection belongs to, and with which other
// members it may be compared; ok is false if it cannot be compared.
type groupOf func(*track.Connection) (member string, group comparisonGroup, ok bool)

// comparisonGroup are connections that differ in their member only.
type comparisonGroup struct {
	kind   string   // of targets, such as "lustre-OST"
	target string   // the same target, or
	client lnet.NID // the same client

	operation uint32 // 0: all of them
}

// stratum is a class of RPCs of a group.
type stratum struct {
	comparisonGroup
	workClass
}

// compared is a member of a group with its comparison.
type compared struct {
	comparison
	member      string
	conn        *track.Connection // one of them
	first, last int64
	slowest     slowest
	peers       []string // members that it was compared with
}

// compare compares each member with the others, in the order of appearance: over all
// operations, or each operation for itself.
func (t *workTimes) compare(of groupOf, byOperation bool) (list []*compared) {
	type part struct {
		member    string
		operation uint32
	}
	type place struct {
		stratum
		part
	}
	all, own := fifo.NewMap[stratum, *histogram](maxWork), fifo.NewMap[place, *histogram](maxWork)
	members := make(map[part]*compared)
	in := make(map[stratum][]string)
	for k, w := range fifo.All(t.times) {
		member, group, ok := of(k.conn)
		if !ok {
			continue
		}
		if byOperation {
			group.operation = k.class.opcode
		}
		at := place{stratum{group, k.class}, part{member, group.operation}}
		in[at.stratum] = withNew(in[at.stratum], member, unlimited)
		fifo.GetOrNew(own, at).join(&w.histogram)
		fifo.GetOrNew(all, at.stratum).join(&w.histogram)
		m := members[at.part]
		if m == nil {
			m = &compared{member: member, conn: k.conn, first: w.first}
			members[at.part] = m
			list = append(list, m)
		}
		m.first, m.last = min(m.first, w.first), max(m.last, w.last)
		m.slowest.join(&w.slowest)
	}
	for at, times := range fifo.All(own) {
		m := members[at.part]
		rest := *fifo.GetOrNew(all, at.stratum)
		rest.remove(times)
		m.add(at.workClass, times, &rest)
		for _, other := range in[at.stratum] {
			if other != at.member {
				m.peers = withNew(m.peers, other, unlimited)
			}
		}
	}
	return list
}

// comparison is how the times of one member of a group differ from those of the
// others, over the classes that both have.
type comparison struct {
	n, others  int64   // RPCs that were compared
	pairs      float64 // of these RPCs
	variance   float64 // of above, if both take the same time
	above      float64 // pairs in which that of the member took longer
	logRatio   float64 // sum of the logarithms of the ratios of medians, by RPC
	excess     float64 // nanoseconds that the RPCs took longer than at the median of the others
	own, rest  float64 // medians of the class with the most RPCs, in nanoseconds
	most       int64   // RPCs of this class
	class      workClass
	operations operationCounts
}

func (c *comparison) add(class workClass, own, others *histogram) {
	if own.n == 0 || others.n == 0 {
		return
	}
	a, b := own.median(), others.median()
	c.n += own.n
	c.others += others.n
	c.pairs += float64(own.n) * float64(others.n)
	c.variance += float64(own.n) * float64(others.n) * float64(own.n+others.n+1) / 12
	c.above += own.above(others)
	c.logRatio += float64(own.n) * math.Log2(a/b)
	c.excess += float64(own.n) * (a - b)
	if c.operations == nil {
		c.operations = make(operationCounts)
	}
	c.operations[class.opcode] += own.n
	if own.n > c.most {
		c.own, c.rest, c.most, c.class = a, b, own.n, class
	}
}

// superiority returns the probability that an RPC takes longer than one of the others.
func (c *comparison) superiority() float64 { return c.above / max(c.pairs, 1) }

// deviations returns by how many standard deviations the number of pairs is more than
// half of them, as by the rank test of Mann and Whitney.
func (c *comparison) deviations() float64 {
	return (c.above - c.pairs/2) / math.Sqrt(max(c.variance, 1))
}

// ratio returns how many times as long the RPCs take, as a mean over the classes.
func (c *comparison) ratio() float64 { return math.Exp2(c.logRatio / float64(max(c.n, 1))) }

var (
	comparedRPCs = &diagnose.Threshold{Name: "RPCs", Value: 6, Unit: "RPCs of each",
		Reason: "fewer may have come in one slow moment"}
	comparedDeviations = &diagnose.Threshold{Name: "significance", Value: 3, Unit: "standard deviations of the rank test",
		Reason: "chance does that once in 700 comparisons, and hardly ever by the ratio below"}
	comparedSuperiority = &diagnose.Threshold{Name: "superiority", Value: 0.9, Unit: "of all pairs of its RPCs with those of the others",
		Reason: "where both are equal, it takes longer in half of the pairs, whatever the distribution is"}
	comparedRatio = &diagnose.Threshold{Name: "ratio", Value: 3, Unit: "times the median of the others",
		Reason: "disks of different kinds, and different places on them, differ by less"}
	comparedExcess = &diagnose.Threshold{Name: "excess", Value: 0.02, Unit: "s for each RPC",
		Reason: "less than that is the noise of a busy server"}
)

// isFar reports whether the times of a member are far above those of the others.
func (c *comparison) isFar() bool {
	return float64(c.n) >= comparedRPCs.Value && float64(c.others) >= comparedRPCs.Value && c.superiority() >= comparedSuperiority.Value &&
		c.deviations() >= comparedDeviations.Value &&
		c.ratio() >= comparedRatio.Value && c.excess >= float64(c.n)*float64(comparedExcess.Nanoseconds())
}

func (c *comparison) text() string {
	return fmt.Sprintf("%s: %s against %s, medians; %s against %s", operationText(c.class.opcode), duration(int64(c.own)), duration(int64(c.rest)),
		plural(c.n, "RPC"), plural(c.others, "RPC"))
}
