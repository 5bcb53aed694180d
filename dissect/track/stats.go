package track

import (
	"math"

	"github.com/lshark/lshark/dissect"
)

// StatsOptions are the settings of a Stats.
type StatsOptions struct {
	By []Dimension

	// Step cuts the time into intervals, in nanoseconds; 0: there is one.
	Step int64

	// Patience is how long an interval waits for RPCs that have not ended,
	// in nanoseconds; 0: until they have. An RPC that ends later counts in
	// the oldest interval there is.
	Patience int64

	// Window is the length in nanoseconds of the last part of the capture for
	// which Interval.Rate computes rates; 0: there are no rates.
	Window int64

	// Subject returns the file that an RPC is about, and the OST object, for the
	// dimensions ByFID, ByFile and ByObject; each is zero when it is unknown. Path
	// returns the path of a file, empty when it is unknown.
	Subject func(*RPC) (file, object FID)
	Path    func(file FID) string

	// Flush gets the intervals in order, as they are complete.
	Flush func(*Interval)
}

// Stats counts and measures RPCs. Its methods Sent, Answered and Done have the types
// of the hooks in Options.
type Stats struct {
	opt               StatsOptions
	intervals         []*Interval // oldest first
	flushedTo         int64       // end of the last interval that was flushed
	window            window
	requestDimensions []Dimension // the dimensions that are known when a request is sent
	bySubject         bool        // rows are grouped by files or objects

	// RPCs in flight: those that wait for a reply.
	inFlight      map[RequestKey]*inFlightCount
	latest        [latestRows]*inFlightCount // found last, by their opcode
	totalInFlight int32
	free          *inFlightCount
	attached      Attached[statsOfRPC]
}

// inFlightCount counts the RPCs of a key that are in flight.
type inFlightCount struct {
	key  RequestKey
	n    int32
	next *inFlightCount // in the list of free ones
}

// statsOfRPC is what a Stats attaches to an RPC until it ends.
type statsOfRPC struct {
	inFlight          *inFlightCount // nil: the RPC is not in flight
	depth, totalDepth int32          // RPCs in flight when it was sent, with its key and in all
	interval          *Interval      // of its first message
}

// NewStats makes a Stats.
func NewStats(o StatsOptions) *Stats {
	s := &Stats{opt: o, flushedTo: math.MinInt64, inFlight: make(map[RequestKey]*inFlightCount)}
	if o.Window > 0 {
		s.window = window{step: max(1, o.Window/windowSteps), newest: math.MinInt64 / 2}
	}
	for _, d := range o.By {
		if d != ByError && !d.NeedsSubject() {
			s.requestDimensions = append(s.requestDimensions, d)
		}
		s.bySubject = s.bySubject || d.NeedsSubject()
	}
	return s
}

// Sent counts an RPC in flight.
func (s *Stats) Sent(r *RPC, m *dissect.Message) {
	s.enterInterval(r, m)
	a := s.attached.Of(r)
	if a.inFlight != nil || !r.IsWaiting() {
		return
	}
	k := r.Key(s.requestDimensions).RequestKey
	latest := &s.latest[k.Opcode%latestRows]
	f := *latest
	if f == nil || f.key != k {
		f = s.inFlight[k]
	}
	if f == nil {
		if len(s.inFlight) >= maxRows {
			return
		}
		if f = s.free; f == nil {
			f = &inFlightCount{}
		}
		s.free, f.key = f.next, k
		s.inFlight[k] = f
	}
	*latest = f
	f.n++
	s.totalInFlight++
	a.inFlight, a.depth, a.totalDepth = f, f.n, s.totalInFlight
}

// Answered counts an RPC that is no longer in flight.
func (s *Stats) Answered(r *RPC, m *dissect.Message) {
	s.endFlight(s.attached.Of(r))
	s.enterInterval(r, m)
}

// enterInterval puts an RPC into the interval of its first message: that one
// is not complete until the RPC has ended.
func (s *Stats) enterInterval(r *RPC, m *dissect.Message) {
	s.Advance(m.Time)
	if a := s.attached.Of(r); a.interval == nil && r.state != ended {
		a.interval = s.intervalAt(m.Time)
		a.interval.unended++
	}
}

func (s *Stats) endFlight(a *statsOfRPC) {
	f := a.inFlight
	if f == nil {
		return
	}
	a.inFlight = nil
	s.totalInFlight--
	// While there are few keys they are kept, for the next RPC.
	if f.n--; f.n == 0 && len(s.inFlight) > maxRows/2 {
		delete(s.inFlight, f.key)
		if latest := &s.latest[f.key.Opcode%latestRows]; *latest == f {
			*latest = nil
		}
		f.next, s.free = s.free, f
	}
}

// Done counts an RPC that has ended.
func (s *Stats) Done(r *RPC) {
	a := s.end(r)
	i := a.interval
	if i == nil || i.flushed {
		i = s.intervalAt(r.Begin())
	}
	k := r.Key(s.opt.By)
	if s.bySubject && s.opt.Subject != nil {
		file, object := s.opt.Subject(r)
		k.setSubject(s.opt.By, file, object)
	}
	row := i.row(&k)
	if s.bySubject {
		a.depth = 0 // the file is not known when a request is sent
	}
	row.add(r, int64(a.depth))
	i.Total.add(r, int64(a.totalDepth))
	s.window.count(row, r)
	s.window.count(&i.Total, r)
}

// Drop forgets an RPC that has ended without counting it.
func (s *Stats) Drop(r *RPC) { s.end(r) }

// end takes what was attached to an RPC.
func (s *Stats) end(r *RPC) statsOfRPC {
	a := s.attached.Of(r)
	s.endFlight(a)
	if a.interval != nil {
		a.interval.unended--
	}
	taken := *a
	*a = statsOfRPC{}
	return taken
}

// Intervals returns the intervals that were not flushed: without steps the
// only one.
func (s *Stats) Intervals() []*Interval { return s.intervals }

// Advance flushes the intervals that are complete at a time. Messages do the
// same; a live capture calls Advance while no message comes.
func (s *Stats) Advance(now int64) {
	if s.opt.Step == 0 || s.opt.Flush == nil {
		return
	}
	for len(s.intervals) > 0 {
		i := s.intervals[0]
		age := now - i.To
		if age < 0 || i.unended > 0 && (s.opt.Patience == 0 || age < s.opt.Patience) {
			return
		}
		s.intervals = s.intervals[1:]
		i.flushed, s.flushedTo = true, i.To
		s.opt.Flush(i)
	}
}

// Close flushes all intervals.
func (s *Stats) Close() {
	for _, i := range s.intervals {
		if s.opt.Flush != nil {
			s.opt.Flush(i)
		}
	}
	s.intervals = nil
}
