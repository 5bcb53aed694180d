package comparison

import (
	"math"

	"github.com/lshark/lshark/dissect/track"
)

// Stats counts and measures the RPCs of one capture. Its methods Sent, Answered
// and Done have the types of the hooks in track.Options.
type Stats struct {
	*track.Stats
	by       []track.Dimension
	rows     map[track.Key]*samples
	list     []*samples // of all rows, in the order in which they appeared
	total    samples
	dropped  int64 // RPCs beyond maxSampled
	timeline timeline
	latest   int // the period of the last RPC
	from, to int64
}

// maxSampled is the number of rows that are compared, of less than 10 KiB each. RPCs
// of others count in the totals only.
const maxSampled = 1 << 13

// samples is what the tests need of the RPCs of a row beside its track.Row.
type samples struct {
	Sizes
	retransmitted int64 // RPCs with bytes that were sent again
	oldest        int64 // when the oldest request was sent whose reply was not due at the end of the capture; 0: none
	sent          bursts
	series        [serieses]clusters // of logarithms
}

// series is a kind of values.
type series uint8

const (
	latencies series = iota
	requestSizes
	bulkSizes
	serieses
)

// Sizes are the sizes of the messages of RPCs in bytes.
type Sizes struct {
	Request track.Distribution
	Bulk    track.Distribution // of the RPCs with bulk data
}

// NewStats returns a Stats that groups RPCs by dimensions.
func NewStats(by []track.Dimension) *Stats {
	return &Stats{Stats: track.NewStats(track.StatsOptions{By: by}), by: by, rows: make(map[track.Key]*samples)}
}

// Done counts an RPC that has ended.
func (s *Stats) Done(r *track.RPC) {
	s.Stats.Done(r)
	period := s.timeline.number(r.Begin(), s.fold)
	s.latest = max(s.latest, period)
	s.total.add(r, period)
	key := r.Key(s.by)
	row := s.rows[key]
	if row == nil {
		if len(s.rows) >= maxSampled {
			s.dropped++
			return
		}
		row = &samples{}
		s.rows[key] = row
		s.list = append(s.list, row)
	}
	row.add(r, period)
}

func (s *Stats) fold() {
	s.latest /= 2
	s.total.fold()
	for _, r := range s.list {
		r.fold()
	}
}

// SetTime sets when the capture began and ended, in nanoseconds since the epoch.
func (s *Stats) SetTime(first, last int64) { s.from, s.to = first, last }

// Seconds returns how long the capture is.
func (s *Stats) Seconds() float64 { return math.Max(0, float64(s.to-s.from)/1e9) }

// Dropped returns the number of RPCs that are in no row, because there would be too
// many rows.
func (s *Stats) Dropped() int64 { return s.dropped }

func (s *samples) add(r *track.RPC, period int) {
	s.sent[period]++
	if ns, ok := r.Latency(); ok {
		s.note(latencies, period, ns)
	}
	if r.Missing == track.CaptureEnded && (s.oldest == 0 || r.Begin() < s.oldest) {
		s.oldest = r.Begin()
	}
	if r.RequestSize > 0 {
		s.Request.Add(int64(r.RequestSize))
		s.note(requestSizes, period, int64(r.RequestSize))
	}
	if n := r.BulkBytes(); n > 0 {
		s.Bulk.Add(n)
		s.note(bulkSizes, period, n)
	}
	if r.Retransmits() > 0 {
		s.retransmitted++
	}
}

func (s *samples) note(of series, period int, v int64) {
	s.series[of].add(period, math.Log1p(float64(max(0, v))))
}

func (s *samples) fold() {
	s.sent.fold()
	for i := range s.series {
		s.series[i].fold()
	}
}

// correlations returns by how much the values of a kind resemble those of about the
// same time, in rows: for few values of one row it would be known too badly.
func correlations(rows ...*samples) (list [serieses]float64) {
	for i := range list {
		var v variances
		for _, r := range rows {
			v.add(&r.series[i])
		}
		list[i] = v.correlation()
	}
	return list
}
