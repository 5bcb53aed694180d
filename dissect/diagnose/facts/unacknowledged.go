package facts

import (
	"math"
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// Unacknowledged is a stretch of time in which a host sent the same bytes again and again, and
// the other one acknowledged none of them.
type Unacknowledged struct {
	Span           // from when they were sent first to when they were sent last
	First    Point // of those that were sent again
	Last     Point
	Again    int   // how often
	Vain     int64 // when they were sent the last time but one, for certain in vain; 0: they were sent again once
	Probes   bool  // they are keep-alive probes
	Unproven bool  // they prove nothing if the receiver was not captured
	Bytes    int   // of the segment
	Conn     int
}

// Point is when and where a message was seen.
type Point = track.Point

// MinUnacknowledged is the time from which on bytes without an acknowledgement count: TCP sends
// them again after 0.2, 0.6, 1.4 and 3 seconds, and a network that loses some of its packets
// hardly loses one five times.
const MinUnacknowledged = int64(2500e6)

// minPackets is how often packets of InfiniBand must have been sent again to count: adapters wait for seconds before they do.
const minPackets = 3

// minProbes is how many keep-alive probes must have followed one in vain: nothing else is sent, and any network may lose one.
const minProbes = 2

// resentBytes is what was sent again last in a stream.
type resentBytes struct {
	seq  uint32
	last int64
	list *Unacknowledged // nil: once only
	Unacknowledged
}

type stream struct {
	Conn int
	from netip.AddrPort
}

const (
	maxStreams = 1 << 13
	copyTime   = int64(1e6) // until a mirrored port shows a segment for the second time, at most
)

// again takes a segment that was sent again, or a keep-alive probe. It counts from so many times on.
func (f *Facts) again(c *Contact, m *lnet.TCPEvent, at Point, least int) {
	if m.Retransmissions == 0 && m.Probes == 0 || m.Spurious > 0 {
		return
	}
	b := fifo.GetOrNew(f.resent, stream{m.Conn, m.Src})
	if b.Again > 0 && b.seq == m.Seq && m.Time-b.last < copyTime {
		return
	}
	back := f.spokeAgain(c, b.list)
	if b.Again == 0 || b.seq != m.Seq || m.Fast > 0 || m.Probes == 1 || back != 0 {
		*b = resentBytes{seq: m.Seq, Unacknowledged: Unacknowledged{Span: Span{m.Time, m.Time}, First: at, Probes: m.Probes > 0,
			Unproven: m.Alone, Bytes: m.Bytes, Conn: m.Conn}}
		if m.FirstSent != 0 && back == 0 {
			b.From = m.FirstSent
		}
	}
	if b.Again++; b.Again > 1 {
		b.Vain = b.last
	}
	b.last, b.To, b.Last = m.Time, m.Time, at
	switch {
	case b.Length() < MinUnacknowledged, b.Again < least, b.Probes && b.Again < minProbes:
	case b.list == nil:
		own := b.Unacknowledged
		b.list = &own
		if len(c.Unacked) < maxUnacked {
			c.Unacked = append(c.Unacked, b.list)
		}
	default:
		*b.list = b.Unacknowledged
	}
}

// spokeAgain ends a long silence at the first frame that the host sends after it. Bytes that are sent again after this frame do not prolong
// the silence: the host has lost the connection, and will not acknowledge them. It returns the time of the frame, 0 if there is none.
func (f *Facts) spokeAgain(c *Contact, u *Unacknowledged) int64 {
	if u == nil || u.Length() <= LongPause {
		return 0
	}
	back, ok := fifo.Get(f.contacts, contactKey{c.Source, c.To, c.From})
	if !ok || back.Active.Pause(u.Span) < u.Length()-runPause {
		return 0
	}
	at, ok := back.Active.Within(Span{u.To, c.Span.To})
	if !ok || at.Time < u.To {
		return 0
	}
	u.To = at.Time
	return at.Time
}

// UnackedIn returns what one host sent to another within a span that was not acknowledged for
// long, the first one.
func (f *Facts) UnackedIn(from, to netip.Addr, s Span) *Unacknowledged {
	for _, c := range f.Contacts(from, to) {
		for _, u := range c.Unacked {
			if u.Span.Overlaps(s) && !u.Unproven {
				return u
			}
		}
	}
	return nil
}

// Silence is what one host did not acknowledge of what another one sent, at about the same time.
type Silence struct {
	Sender, Receiver netip.Addr
	*Unacknowledged  // what was sent most often, of these the longest
}

// Silences returns all silences.
func (f *Facts) Silences() (list []*Silence) {
	for _, c := range fifo.All(f.contacts) {
		for _, u := range c.Unacked {
			if u.Unproven {
				continue
			}
			at := slices.IndexFunc(list, func(s *Silence) bool {
				return s.Sender == c.From && s.Receiver == c.To && s.Span.Overlaps(u.Span)
			})
			switch {
			case at < 0:
				list = append(list, &Silence{c.From, c.To, u})
			case u.Again > list[at].Again, u.Again == list[at].Again && u.Length() > list[at].Length():
				list[at].Unacknowledged = u
			}
		}
	}
	return list
}

// ResetAfter returns the first frame of a host after a time, if that resets a connection: the host does not know it any more.
func (f *Facts) ResetAfter(host netip.Addr, after int64) (first Point, ok bool) {
	for _, c := range fifo.All(f.contacts) {
		if at, heard := c.Active.Within(Span{after, math.MaxInt64}); c.From == host && heard && (first.IsZero() || at.Time < first.Time) {
			first, ok = at, slices.Contains(c.Resets, at)
		}
	}
	return first, ok
}

// ResetIn returns the first reset between two hosts within a span.
func (f *Facts) ResetIn(a, b netip.Addr, s Span) (p Point, ok bool) {
	for _, c := range append(f.Contacts(a, b), f.Contacts(b, a)...) {
		for _, r := range c.Resets {
			if r.Time >= s.From && r.Time <= s.To {
				return r, true
			}
		}
	}
	return p, false
}
