package comparison

// timeline divides a capture into periods of equal length. When it would need
// more than maxPeriods, their length doubles.
type timeline struct {
	begin  int64 // nanoseconds since the epoch
	period int64 // nanoseconds, 0 before the first RPC
}

const (
	maxPeriods  = 64      // more than the phases of most work, and long enough for a stall
	firstPeriod = 1 << 20 // nanoseconds
)

// number returns the period of a time; fold is called for each time that two
// periods become one.
func (l *timeline) number(t int64, fold func()) int {
	if l.period == 0 {
		l.begin, l.period = t, firstPeriod
	}
	for (t-l.begin)/l.period >= maxPeriods {
		l.period *= 2
		fold()
	}
	return int(max(0, t-l.begin) / l.period)
}

// clusters sums up values by period, as far as needed to find by how much those of
// one period resemble each other.
type clusters struct {
	periods [maxPeriods]struct {
		n   int64
		sum float64
	}
	squares float64 // sum of the squares of all values
}

func (c *clusters) add(period int, v float64) {
	c.periods[period].n++
	c.periods[period].sum += v
	c.squares += v * v
}

func (c *clusters) fold() {
	for i := range maxPeriods / 2 {
		c.periods[i] = c.periods[2*i]
		c.periods[i].n += c.periods[2*i+1].n
		c.periods[i].sum += c.periods[2*i+1].sum
	}
	clear(c.periods[maxPeriods/2:])
}

// variances is an analysis of the variance of values in periods, of one or several
// rows: squared deviations and degrees of freedom, between and within periods.
type variances struct {
	between, within   float64
	betweenN, withinN float64
	sizes             float64 // of the periods
}

func (v *variances) add(c *clusters) {
	var n, k, sum, periods, squaredSizes float64
	for i := range c.periods {
		if p := &c.periods[i]; p.n > 0 {
			size := float64(p.n)
			n, k, sum = n+size, k+1, sum+p.sum
			periods += p.sum * p.sum / size
			squaredSizes += size * size
		}
	}
	if k < 2 || n <= k {
		return
	}
	v.within += max(0, c.squares-periods)
	v.between += max(0, periods-sum*sum/n)
	v.betweenN += k - 1
	v.withinN += n - k
	v.sizes += n - squaredSizes/n
}

// correlation returns that of two values of the same period, from 0 to 1.
func (v *variances) correlation() float64 {
	if v.betweenN == 0 || v.withinN == 0 {
		return 0
	}
	between, within := v.between/v.betweenN, v.within/v.withinN
	total := between + (v.sizes/v.betweenN-1)*within
	if total <= 0 {
		return 0
	}
	return min(1, max(0, (between-within)/total))
}

// group returns how many values count as one, when those of a period have that
// correlation: the design effect of Kish.
func (c *clusters) group(correlation float64) float64 {
	var n, squaredSizes float64
	for i := range c.periods {
		size := float64(c.periods[i].n)
		n += size
		squaredSizes += size * size
	}
	if n == 0 {
		return 1
	}
	return 1 + (squaredSizes/n-1)*correlation
}

// bursts counts events by period.
type bursts [maxPeriods]int64

func (b *bursts) fold() {
	for i := range maxPeriods / 2 {
		b[i] = b[2*i] + b[2*i+1]
	}
	clear(b[maxPeriods/2:])
}

// group returns how many events occur together: the index of dispersion of the
// first n periods, at least 1.
func (b *bursts) group(n int) float64 {
	var sum, squares float64
	for _, k := range b[:n] {
		sum += float64(k)
		squares += float64(k) * float64(k)
	}
	if n < 2 || sum == 0 {
		return 1
	}
	mean := sum / float64(n)
	return max(1, (squares-sum*mean)/float64(n-1)/mean)
}
