package lnet

// Transfer is what TCP or InfiniBand did to carry a message: what was sent again, and
// how much later the message arrived because of it.
type Transfer struct {
	Resent int   // retransmitted packets with bytes of the message
	Timed  int   // those of them whose cost in latency is known
	RTT    int64 // round trip of the connection in nanoseconds, 0 if unknown

	// Lost is by how many nanoseconds the Timed packets delayed the message, between
	// LostFrom and LostTo. A packet that the receiver had already (spurious) costs
	// nothing.
	Lost             int64
	LostFrom, LostTo int64

	NotCaptured bool // bytes were sent again of which the capture lacks the first transmission
	AckedLate   bool // the first acknowledgement came so late that an earlier one must be missing
}

// RoundTrips are measurements of how long data of a direction of a connection waited for
// the acknowledgement, without data that was sent again. A receiver may delay an
// acknowledgement, so a single one only shows that the round trip took no longer.
type RoundTrips struct {
	N     int   // number of measurements
	Least int64 // the shortest in nanoseconds, 0 without any
}

// add adds a measurement.
func (t *RoundTrips) add(ns int64) {
	if t.N == 0 || ns < t.Least {
		t.Least = ns
	}
	t.N++
}

// take returns the measurements and resets them.
func (t *RoundTrips) take() RoundTrips {
	taken := *t
	*t = RoundTrips{}
	return taken
}

// Add adds what happened later.
func (t *Transfer) Add(later *Transfer) {
	t.Resent += later.Resent
	t.Timed += later.Timed
	t.lose(later.LostFrom, later.LostTo)
	t.NotCaptured = t.NotCaptured || later.NotCaptured
	t.AckedLate = t.AckedLate || later.AckedLate
}

// lose adds the latency that was lost between two times. It counts once where
// losses overlap.
func (t *Transfer) lose(from, to int64) {
	if from >= to {
		return
	}
	if t.Lost == 0 {
		t.Lost, t.LostFrom, t.LostTo = to-from, from, to
		return
	}
	t.Lost += max(0, to-max(from, t.LostTo)) + max(0, min(to, t.LostFrom)-from)
	t.LostFrom, t.LostTo = min(t.LostFrom, from), max(t.LostTo, to)
}
