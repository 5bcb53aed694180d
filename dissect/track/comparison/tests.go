package comparison

import (
	"math"
	"slices"
)

const (
	// falseDiscoveryRate is the share of noise among the changes that are found, on
	// average at most. With one percent it is unlikely that a comparison with a
	// dozen changes has one that is noise, and changes of a few dozen RPCs can
	// still be found among a hundred tests.
	falseDiscoveryRate = .01

	// leastRatio is the factor that a value has to change by at least. No run of the
	// same work is exactly like another: caches, placement and other load differ. In
	// long captures chance alone explains much smaller differences, which nobody
	// has to know of.
	leastRatio = 1.25
)

// result is the outcome of a test.
type result struct {
	p     float64 // probability of a difference as large as this one or larger, by chance
	least float64 // smallest p that so few values can have
	sign  float64 // positive: the second sample has the greater values; 0: unknown
}

// noTest is the result for values that are not compared.
var noTest = result{p: 1, least: 1}

// either returns the result of a test in both directions.
func either(up, down result) result {
	return result{p: min(1, 2*min(up.p, down.p)), least: min(1, 2*min(up.least, down.least))}
}

// discoveryLimit returns the p up to which a result is a change, by the method of
// Benjamini and Hochberg; it is negative when there are no changes. Results that could not
// be significant, whatever the values, do not count as tests: so does Gilbert's
// method for discrete values.
func discoveryLimit(all []result) float64 {
	var p []float64
	for _, r := range all {
		if r.least <= falseDiscoveryRate {
			p = append(p, r.p)
		}
	}
	slices.Sort(p)
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] <= falseDiscoveryRate*float64(i+1)/float64(len(p)) {
			return p[i]
		}
	}
	return -1
}

// differs reports whether one value is at least leastRatio times the other.
func differs(a, b float64) bool { return max(a, b) > 0 && max(a, b) >= leastRatio*min(a, b) }

// testRates compares how often something occurred: k times in w, which is a time
// or a number of trials. group is the average number of events that occur together
// and count as one. It is the exact conditional test of two Poisson rates.
func testRates(k1, w1, k2, w2, group float64) result {
	if w1 <= 0 || w2 <= 0 || k1+k2 == 0 {
		return noTest
	}
	n1, n2 := math.Round(k1/group), math.Round(k2/group)
	tail := func(k, w float64) result {
		p := w / (w1 + w2) // of an event to be on this side
		return result{p: binomialTail(k, n1+n2, p), least: math.Pow(p, n1+n2)}
	}
	return either(tail(n2, w2), tail(n1, w1))
}

// binomialTail returns the probability of k or more successes in n trials; 1 where
// k is no more than is expected.
func binomialTail(k, n, p float64) float64 {
	if k <= n*p {
		return 1
	}
	return sumTail(k, n, func(i float64) float64 {
		return math.Exp(logChoose(n, i) + i*math.Log(p) + (n-i)*math.Log1p(-p))
	})
}

// hypergeometricTail returns the probability that k or more of drawn values are
// marked ones, when marked of all values are; 1 where k is no more than is expected.
func hypergeometricTail(k, drawn, marked, all float64) float64 {
	if all == 0 || k <= drawn*marked/all {
		return 1
	}
	return sumTail(k, min(drawn, marked), func(i float64) float64 {
		return math.Exp(logChoose(marked, i) + logChoose(all-marked, drawn-i) - logChoose(all, drawn))
	})
}

// sumTail sums up terms that fall, from one number to another, as far as they
// matter.
func sumTail(from, to float64, term func(float64) float64) (sum float64) {
	const precision = 1e-12
	for i := from; i <= to; i++ {
		t := term(i)
		if sum += t; t < sum*precision {
			break
		}
	}
	return min(1, sum)
}

func logChoose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}

// normalTail returns the probability of a value of z or more.
func normalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// sample is the values of one capture, of which some resemble each other.
type sample struct {
	values []valueCount // smallest first
	n      int64
	group  float64 // number of values that count as one
}

type valueCount struct{ v, n int64 }

// add adds n times a value that is not less than those before it.
func (s *sample) add(v, n int64) {
	s.n += n
	if last := len(s.values) - 1; last >= 0 && s.values[last].v == v {
		s.values[last].n += n
		return
	}
	s.values = append(s.values, valueCount{v, n})
}

// size returns how many independent values the sample is worth.
func (s *sample) size() float64 { return float64(s.n) / s.group }

// location is the outcome of the test of Mann and Whitney.
type location struct {
	z      float64
	most   float64 // greatest z that so few values can have
	weight float64 // among several, as van Elteren has proposed
}

// compareLocations tests whether values of the second sample are greater.
func compareLocations(first, second *sample) location {
	n1, n2 := first.size(), second.size()
	deviation := math.Sqrt((n1 + n2 + 1) / (12 * n1 * n2))
	return location{(superiority(first, second) - .5) / deviation, .5 / deviation, n1 * n2 / (n1 + n2 + 1)}
}

// superiority returns the probability that a value of the second sample is greater
// than one of the first, equal ones counting half.
func superiority(first, second *sample) float64 {
	var sum, below float64
	i := 0
	for _, s := range second.values {
		for i < len(first.values) && first.values[i].v < s.v {
			below += float64(first.values[i].n)
			i++
		}
		equal := 0.
		if i < len(first.values) && first.values[i].v == s.v {
			equal = float64(first.values[i].n)
		}
		sum += float64(s.n) * (below + equal/2)
	}
	return sum / float64(first.n) / float64(second.n)
}

// test returns the two-sided result of the test.
func (l location) test() result {
	return result{2 * normalTail(math.Abs(l.z)), 2 * normalTail(l.most), l.z}
}

// locations sums up the tests of samples that are compared each for itself.
type locations struct{ sum, weights, most float64 }

func (s *locations) add(l location) {
	root := math.Sqrt(l.weight)
	s.sum += root * l.z
	s.most += root * l.most
	s.weights += l.weight
}

func (s *locations) test() result {
	if s.weights == 0 {
		return noTest
	}
	root := math.Sqrt(s.weights)
	return location{z: s.sum / root, most: s.most / root}.test()
}

// exceedances is how many values of two samples are above a threshold.
type exceedances struct {
	above1, n1 float64
	above2, n2 float64
}

// compareQuantiles counts the values above the common quantile of both samples.
func compareQuantiles(first, second *sample, q float64) exceedances {
	rank := max(1, int64(math.Ceil(q*float64(first.n+second.n)-1e-9)))
	i, k := 0, 0
	var below1, below2 int64
	for below1+below2 < rank { // the threshold itself counts as below
		var v int64
		switch {
		case k == len(second.values):
			v = first.values[i].v
		case i == len(first.values):
			v = second.values[k].v
		default:
			v = min(first.values[i].v, second.values[k].v)
		}
		if i < len(first.values) && first.values[i].v == v {
			below1 += first.values[i].n
			i++
		}
		if k < len(second.values) && second.values[k].v == v {
			below2 += second.values[k].n
			k++
		}
	}
	e := exceedances{n1: math.Floor(first.size()), n2: math.Floor(second.size())}
	e.above1 = math.Round(float64(first.n-below1) / first.group)
	e.above2 = math.Round(float64(second.n-below2) / second.group)
	e.above1, e.above2 = min(e.above1, e.n1), min(e.above2, e.n2)
	return e
}

// test returns the result of Fisher's exact test.
func (e exceedances) test() result {
	all, marked := e.n1+e.n2, e.above1+e.above2
	tail := func(above, n float64) result {
		return result{p: hypergeometricTail(above, n, marked, all), least: hypergeometricTail(min(marked, n), n, marked, all)}
	}
	return either(tail(e.above2, e.n2), tail(e.above1, e.n1))
}

// tables sums up the exceedances of samples that are compared each for itself, for
// the test of Mantel and Haenszel.
type tables struct{ above, expected, variance float64 }

func (s *tables) add(e exceedances) {
	all, marked := e.n1+e.n2, e.above1+e.above2
	if all < 2 {
		return
	}
	s.above += e.above2
	s.expected += e.n2 * marked / all
	s.variance += e.n1 * e.n2 * marked * (all - marked) / (all * all * (all - 1))
}

// test returns the two-sided result of the test. It returns no result where the
// variance is too small for the normal approximation.
func (s *tables) test() result {
	const leastVariance, continuity = 5, .5
	if s.variance < leastVariance {
		return noTest
	}
	z := max(0, math.Abs(s.above-s.expected)-continuity) / math.Sqrt(s.variance)
	return result{2 * normalTail(z), 0, s.above - s.expected}
}
