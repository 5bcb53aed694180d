package comparison

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
)

// Measure is what is compared of two rows.
type Measure uint8

// The measures, in the order in which they are shown.
const (
	Count Measure = iota
	Errors
	Unanswered
	Resends
	P50
	P90
	P99
	Longest
	RTT
	Retransmitted
	RequestSize
	BulkSize
	measures
)

// measured is what there is to know about a measure.
type measured struct {
	name   string
	value  func(*Side) int64
	has    func(*Side) bool // nil: each side has it
	perRPC bool             // it counts RPCs: their share is compared
}

var measureFacts = [measures]measured{
	Count: {name: "count", value: func(s *Side) int64 { return s.Count }},
	Errors: {name: "errors", value: func(s *Side) (sum int64) {
		for _, n := range s.Row.Errors {
			sum += n
		}
		return sum
	}},
	Unanswered:    {name: "unanswered", value: func(s *Side) int64 { return s.Missing[track.Unanswered] }, perRPC: true},
	Resends:       {name: "resends", value: func(s *Side) int64 { return s.Resends }, perRPC: true},
	P50:           quantile("p50", .5, (*Side).latency),
	P90:           quantile("p90", .9, (*Side).latency),
	P99:           quantile("p99", .99, (*Side).latency),
	Longest:       {name: "max", value: func(s *Side) int64 { return max(s.Latency.Quantile(1), s.pending()) }, has: func(s *Side) bool { return s.Latency.N > 0 || s.pending() > 0 }},
	RTT:           quantile("rtt", .5, func(s *Side) *track.Distribution { return &s.RTT }),
	Retransmitted: {name: "retransmitted", value: func(s *Side) int64 { return s.retransmitted }, perRPC: true},
	RequestSize:   quantile("request_size", .5, func(s *Side) *track.Distribution { return &s.Request }),
	BulkSize:      quantile("bulk_size", .5, func(s *Side) *track.Distribution { return &s.Bulk }),
}

// quantile returns a measure that is a quantile.
func quantile(name string, q float64, of func(*Side) *track.Distribution) measured {
	return measured{name: name, value: func(s *Side) int64 { return of(s).Quantile(q) }, has: func(s *Side) bool { return of(s).N > 0 }}
}

// String returns the name of the measure.
func (m Measure) String() string { return measureFacts[m].name }

// Measures returns all measures.
func Measures() []Measure {
	list := make([]Measure, measures)
	for i := range list {
		list[i] = Measure(i)
	}
	return list
}

// Row is the statistics of the RPCs with one key in both captures.
type Row struct {
	track.Key
	Total         bool  // of all RPCs
	Before, After *Side // nil: there are none
	Changed       []Measure
	Few           []Measure // of Changed: all values differ, but so few that it may be chance
	ChangedErrors []int32   // errnos, negative

	found [measures]result
	errno map[int32]result
}

// Side is a row in one capture.
type Side struct {
	*track.Row
	*samples
	Rate         float64 // RPCs per second of the capture
	end          int64   // of the capture
	correlations [serieses]float64
}

// Has reports whether the side has values for a measure.
func (s *Side) Has(m Measure) bool { return measureFacts[m].has == nil || measureFacts[m].has(s) }

// Value returns the value of a measure: a number of RPCs, nanoseconds or bytes. That
// of Errors is the number of RPCs with an error.
func (s *Side) Value(m Measure) int64 { return measureFacts[m].value(s) }

func (s *Side) latency() *track.Distribution { return &s.Latency }

// pending returns how long the oldest request without a reply had waited when the
// capture ended, in nanoseconds.
func (s *Side) pending() int64 {
	if s.oldest == 0 {
		return 0
	}
	return max(0, s.end-s.oldest)
}

// sample returns the values of a kind.
func (s *Side) sample(of series) *sample {
	d := [serieses]*track.Distribution{&s.Latency, &s.Request, &s.Bulk}[of]
	v := &sample{group: s.series[of].group(s.correlations[of])}
	d.Each(v.add)
	return v
}

// roundTrips returns those of the connections. All RPCs of a connection have the same,
// so each value counts once.
func (s *Side) roundTrips() *sample {
	v := &sample{group: 1}
	s.RTT.Each(v.add)
	for i := range v.values {
		v.values[i].n = 1
	}
	v.n = int64(len(v.values))
	return v
}

// Changes reports whether a measure has changed.
func (r *Row) Changes(m Measure) bool { return slices.Contains(r.Changed, m) }

// pairs are the rows of two captures.
type pairs struct {
	before, after *Stats
	total         *Row
	rows          []*Row                         // without the total
	targets       [2]map[track.Key]*targetCounts // of each capture, by the other dimensions
}

// targetCounts are the RPCs whose target is known, and the others.
type targetCounts struct{ known, unknown int64 }

// Rows compares two captures. The row of all RPCs comes first, then the others,
// those with the most RPCs first. There is none when neither capture has RPCs.
func Rows(before, after *Stats) []*Row {
	c := &pairs{before: before, after: after}
	c.pair()
	if c.total.Before == nil && c.total.After == nil {
		return nil
	}
	c.test()
	// Two families: the few tests of all RPCs are not to be lost among those of
	// hundreds of rows.
	decide([]*Row{c.total})
	decide(c.rows)
	for _, r := range c.rows {
		r.findTrouble()
		r.findFew()
	}
	c.findNodes()
	return append([]*Row{c.total}, c.rows...)
}

// pair fills in the rows.
func (c *pairs) pair() {
	rows := make(map[track.Key]*Row)
	row := func(k track.Key) *Row {
		if rows[k] == nil {
			rows[k] = &Row{Key: k}
		}
		return rows[k]
	}
	c.total = &Row{Total: true}
	total := greater(correlations(&c.before.total), correlations(&c.after.total))
	inRow := greater(correlations(c.before.list...), correlations(c.after.list...))
	c.before.eachSide(c.total, row, total, inRow, func(r *Row, s *Side) { r.Before = s })
	c.after.eachSide(c.total, row, total, inRow, func(r *Row, s *Side) { r.After = s })
	for i := range c.targets {
		c.targets[i] = make(map[track.Key]*targetCounts)
	}
	for _, r := range rows {
		k := withoutTarget(r.Key)
		for i, side := range []*Side{r.Before, r.After} {
			if c.targets[i][k] == nil {
				c.targets[i][k] = &targetCounts{}
			}
			switch {
			case side == nil:
			case r.Target == "":
				c.targets[i][k].unknown += side.Count
			default:
				c.targets[i][k].known += side.Count
			}
		}
	}
	c.rows = slices.SortedFunc(maps.Values(rows), func(a, b *Row) int {
		return cmp.Or(cmp.Compare(b.count(), a.count()), compareKeys(&a.Key, &b.Key))
	})
}

func withoutTarget(k track.Key) track.Key {
	k.Target = ""
	return k
}

// misplaced returns how many RPCs of a capture, 0 or 1, may belong to a row, but are
// in others, because their target is unknown; or because it is known, where the row is
// of those with an unknown one.
func (c *pairs) misplaced(r *Row, capture int) float64 {
	if r.Total || !slices.Contains(c.before.by, track.ByTarget) {
		return 0
	}
	n := c.targets[capture][withoutTarget(r.Key)]
	if r.Target == "" {
		return float64(n.known)
	}
	return float64(n.unknown)
}

func compareKeys(a, b *track.Key) int {
	return cmp.Or(cmp.Compare(a.Opcode, b.Opcode), cmp.Compare(a.Variant, b.Variant), cmp.Compare(a.Target, b.Target),
		cmp.Compare(a.Client.String(), b.Client.String()), cmp.Compare(a.Server.String(), b.Server.String()),
		cmp.Compare(string(a.JobName()), string(b.JobName())), cmp.Compare(a.UID, b.UID),
		cmp.Compare(a.Portal, b.Portal), cmp.Compare(a.Handle, b.Handle), cmp.Compare(b.Error, a.Error))
}

// greater returns the greater correlations of two captures. One stall in the second
// shows how stalls would look in the first.
func greater(a, b [serieses]float64) [serieses]float64 {
	for i := range a {
		a[i] = max(a[i], b[i])
	}
	return a
}

// eachSide makes the sides of a capture, with the correlations for the total and for
// the rows, and sets them in the rows.
func (s *Stats) eachSide(total *Row, row func(track.Key) *Row, ofTotal, inRow [serieses]float64, set func(*Row, *Side)) {
	list := s.Intervals()
	if len(list) == 0 || list[0].Total.Count == 0 {
		return
	}
	i := list[0] // the whole capture
	side := func(r *track.Row, of *samples, correlations [serieses]float64) *Side {
		side := &Side{Row: r, samples: of, correlations: correlations, end: s.to}
		if t := s.Seconds(); t > 0 {
			side.Rate = float64(r.Count) / t
		}
		return side
	}
	set(total, side(&i.Total, &s.total, ofTotal))
	for k, samples := range s.rows {
		if r := i.Rows[k]; r != nil {
			set(row(k), side(r, samples, inRow))
		}
	}
}

// count returns the number of RPCs in both captures.
func (r *Row) count() (n int64) {
	for _, s := range []*Side{r.Before, r.After} {
		if s != nil {
			n += s.Count
		}
	}
	return n
}

// test fills in the results of all tests.
func (c *pairs) test() {
	c.total.test()
	c.total.found[Count] = c.testCount(c.total)
	var p50 locations
	var p90, p99 tables
	for _, r := range c.rows {
		r.test()
		r.found[Count] = c.testCount(r)
		if r.Before == nil || r.After == nil || !r.Before.Has(P50) || !r.After.Has(P50) {
			continue
		}
		before, after := r.Before.sample(latencies), r.After.sample(latencies)
		l := compareLocations(before, after)
		e90, e99 := compareQuantiles(before, after, .9), compareQuantiles(before, after, .99)
		r.found[P50], r.found[P90], r.found[P99] = l.test(), e90.test(), e99.test()
		p50.add(l)
		p90.add(e90)
		p99.add(e99)
	}
	// Other operations than before must not pass for other latencies: the total is
	// compared row by row.
	c.total.found[P50], c.total.found[P90], c.total.found[P99] = p50.test(), p90.test(), p99.test()
}

// testCount compares the number of RPCs. It has changed when neither the rate nor
// the share of all RPCs is the same: one of the captures may be longer, and the same
// work may take longer.
func (c *pairs) testCount(r *Row) result {
	var k1, k2 float64
	group := 1.
	if r.Before != nil {
		k1 = float64(r.Before.Count)
	}
	if r.After != nil {
		k2 = float64(r.After.Count)
	}
	// Where few RPCs have a known target, the others may be those that are missing.
	t1, t2 := c.before.Seconds(), c.after.Seconds()
	if k1*t2 < k2*t1 {
		k1 = min(k1+c.misplaced(r, 0), k2*t1/t2)
	} else if t1 > 0 {
		k2 = min(k2+c.misplaced(r, 1), k1*t2/t1)
	}
	if r.Before == nil || r.After == nil {
		return testRates(k1, t1, k2, t2, group)
	}
	if !differs(k1*t2, k2*t1) {
		return noTest
	}
	group = max(r.Before.sent.group(c.before.latest), r.After.sent.group(c.after.latest))
	rate := testRates(k1, t1, k2, t2, group)
	if r.Total {
		return rate
	}
	all1, all2 := float64(c.total.Before.Count), float64(c.total.After.Count)
	if !differs(k1/all1, k2/all2) {
		return noTest
	}
	share := testRates(k1, all1, k2, all2, group)
	return result{p: max(rate.p, share.p), least: max(rate.least, share.least)}
}

// test compares everything but the number of RPCs and latencies.
func (r *Row) test() {
	for m := range r.found {
		r.found[m] = noTest
	}
	b, a := r.Before, r.After
	if b == nil || a == nil {
		return
	}
	share := func(k1, k2 int64) result {
		return testRates(float64(k1), float64(b.Count), float64(k2), float64(a.Count), 1)
	}
	for _, m := range Measures() {
		if measureFacts[m].perRPC {
			r.found[m] = share(b.Value(m), a.Value(m))
		}
	}
	r.errno = make(map[int32]result)
	for _, side := range []*Side{b, a} {
		for e := range side.Errors {
			if k1, k2 := b.Errors[e], a.Errors[e]; differs(float64(k1)/float64(b.Count), float64(k2)/float64(a.Count)) {
				r.errno[e] = share(k1, k2)
			}
		}
	}
	location := func(m Measure, before, after *sample) {
		if before.n > 0 && after.n > 0 {
			r.found[m] = compareLocations(before, after).test()
		}
	}
	location(RTT, b.roundTrips(), a.roundTrips())
	if !r.Total { // the sizes of all operations together have no meaning
		location(RequestSize, b.sample(requestSizes), a.sample(requestSizes))
		location(BulkSize, b.sample(bulkSizes), a.sample(bulkSizes))
	}
}

// decide fills in what has changed in rows.
func decide(rows []*Row) {
	var all []result
	for _, r := range rows {
		all = append(all, r.found[:]...)
		for _, e := range r.errno {
			all = append(all, e)
		}
	}
	limit := discoveryLimit(all)
	for _, r := range rows {
		for e, found := range r.errno {
			if found.p <= limit {
				r.ChangedErrors = append(r.ChangedErrors, e)
			}
		}
		slices.Sort(r.ChangedErrors)
		for _, m := range Measures() {
			if r.found[m].p <= limit && r.differs(m) || m == Errors && len(r.ChangedErrors) > 0 {
				r.Changed = append(r.Changed, m)
			}
		}
	}
}

// differs reports whether a measure differs by leastRatio, in the direction that the
// test has found, or a row is in one capture only.
func (r *Row) differs(m Measure) bool {
	b, a := r.Before, r.After
	switch {
	case b == nil || a == nil:
		return true
	case m == Count:
		return differs(b.Rate, a.Rate)
	case measureFacts[m].perRPC:
		return differs(float64(b.Value(m))/float64(b.Count), float64(a.Value(m))/float64(a.Count))
	}
	before, after := float64(b.Value(m)), float64(a.Value(m))
	// Of all RPCs, other operations can change a quantile in the other direction.
	return differs(before, after) && (after-before)*r.found[m].sign >= 0
}

// node is a value of a dimension that stands for a client, server or target.
type node struct {
	by    track.Dimension
	value any
}

func nodes(k *track.Key, by []track.Dimension) (list []node) {
	for _, d := range by {
		switch {
		case d == track.ByClient:
			list = append(list, node{d, k.Client})
		case d == track.ByServer:
			list = append(list, node{d, k.Server})
		case d == track.ByTarget && k.Target != "":
			list = append(list, node{d, k.Target})
		}
	}
	return list
}

// findNodes adds the clients, servers and targets that only one of the captures has,
// however few RPCs they have: of each, the row with the most RPCs.
func (c *pairs) findNodes() {
	if c.total.Before == nil || c.total.After == nil {
		return
	}
	counts := make(map[node]*[2]int64) // RPCs in each capture
	var unknown [2]int64               // those without a known target
	for _, r := range c.rows {
		for i, s := range []*Side{r.Before, r.After} {
			if s == nil {
				continue
			}
			if r.Target == "" {
				unknown[i] += s.Count
			}
			for _, n := range nodes(&r.Key, c.before.by) {
				if counts[n] == nil {
					counts[n] = &[2]int64{}
				}
				counts[n][i] += s.Count
			}
		}
	}
	for _, r := range c.rows {
		for _, n := range nodes(&r.Key, c.before.by) {
			in := counts[n]
			if in == nil {
				continue // found by an earlier row
			}
			delete(counts, n)
			isNew := in[0] == 0 || in[1] == 0
			if n.by == track.ByTarget { // the RPCs of the other capture without a known target may be to it
				isNew = in[0] == 0 && in[1] > unknown[0] || in[1] == 0 && in[0] > unknown[1]
			}
			if isNew && !r.Changes(Count) {
				r.Changed = slices.Insert(r.Changed, 0, Count)
			}
		}
	}
}

const (
	// An operation that takes hangs nanoseconds, and hangRatio times what it took at
	// most in the other capture, hangs.
	hangs     = int64(5e9)
	hangRatio = 10

	// A few latencies differ if all of one capture are at least fewRatio times those of
	// the other, and longer by leastFew nanoseconds: at least fewSamples on both sides.
	fewSamples = 3
	fewRatio   = 2
	leastFew   = int64(10e6)
)

// answers are the errors that applications get in the course of ordinary work.
var answers = []string{"EPERM", "ENOENT", "ENXIO", "EAGAIN", "EACCES", "EEXIST", "EXDEV", "ENOTDIR", "EISDIR", "EINVAL",
	"ERANGE", "ENAMETOOLONG", "ENOTEMPTY", "ELOOP", "ENODATA", "EREMOTE", "EOPNOTSUPP"}

// findTrouble adds what is never noise, however few RPCs have it: errors of only one
// of the captures that are not ordinary answers, RPCs without an answer, and
// operations that hang.
func (r *Row) findTrouble() {
	value := func(s *Side, m Measure) int64 {
		if s == nil || !s.Has(m) {
			return 0
		}
		return s.Value(m)
	}
	for _, sides := range [][2]*Side{{r.Before, r.After}, {r.After, r.Before}} {
		with, without := sides[0], sides[1]
		if with == nil {
			continue
		}
		for e := range with.Errors {
			if name := schema.Errnos.Name(uint64(-e)); slices.Contains(answers, name) || without != nil && without.Errors[e] > 0 {
				continue
			}
			if !slices.Contains(r.ChangedErrors, e) {
				r.ChangedErrors = append(r.ChangedErrors, e)
			}
			r.change(Errors)
		}
		if with.Value(Unanswered) > 0 && value(without, Unanswered) == 0 {
			r.change(Unanswered)
		}
		if longest := value(with, Longest); longest >= hangs && longest >= hangRatio*value(without, Longest) {
			r.change(Longest)
		}
	}
	slices.Sort(r.ChangedErrors)
}

// findFew adds latencies that do not overlap where there are too few of them to
// exclude chance.
func (r *Row) findFew() {
	b, a := r.Before, r.After
	if b == nil || a == nil || r.Changes(P50) || b.Latency.N < fewSamples || a.Latency.N < fewSamples {
		return
	}
	fast, slow := b, a
	if b.Value(P50) > a.Value(P50) {
		fast, slow = a, b
	}
	longest, shortest := fast.Latency.Quantile(1), slow.Latency.Quantile(0)
	if shortest >= fewRatio*longest && shortest-longest >= leastFew {
		r.change(P50)
		r.Few = append(r.Few, P50)
	}
}

// change adds a measure to those that have changed.
func (r *Row) change(m Measure) {
	if !r.Changes(m) {
		r.Changed = append(r.Changed, m)
		slices.Sort(r.Changed)
	}
}

// TooFew reports whether the RPCs of the row are so few that no latencies could prove
// a change.
func (r *Row) TooFew() bool { return r.found[P50].least > falseDiscoveryRate }
