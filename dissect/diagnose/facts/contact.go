package facts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// Contact is what passed in one direction between two hosts, at one capture point.
type Contact struct {
	Source   int
	From, To netip.Addr
	Active   Times // of frames
	Messages Times // of messages: LNet of the sender works
	Large    Times // of messages that need frames of full size
	Unacked  []*Unacknowledged
	Resets   []track.Point // the sender aborted connections
	Thawed   []track.Point // the sender acknowledged what had waited for it, as its timestamps show: it stood still

	Lost  []Span // bytes that were not captured, in which messages may have begun
	lacks int64  // time of the last lost or partly captured message

	Disturbed Times // of segments that were sent again, or out of order

	Span // from the first frame to the last
}

type contactKey struct {
	source   int
	from, to netip.Addr
}

const (
	maxContacts = 1 << 13
	maxUnacked  = 32 // of a direction
	maxResets   = 16
	fullFrame   = 1500 // bytes of a frame on most networks
	minMessage  = 24   // bytes of the shortest message of socklnd: a shorter run, as of a keep-alive probe, has none
)

// contact returns a direction between two hosts.
func (f *Facts) contact(source int, from, to netip.Addr) *Contact {
	for _, c := range f.lastContacts {
		if c != nil && c.Source == source && c.From == from && c.To == to {
			return c
		}
	}
	f.sources = max(f.sources, source+1)
	c := fifo.GetOrMake(f.contacts, contactKey{source, from, to}, func() *Contact { return &Contact{Source: source, From: from, To: to} })
	f.lastContacts = [2]*Contact{c, f.lastContacts[0]}
	return c
}

// Contacts returns the directions from one host to another, one for each capture point.
func (f *Facts) Contacts(from, to netip.Addr) (list []*Contact) {
	for source := range f.sources {
		if c, ok := fifo.Get(f.contacts, contactKey{source, from, to}); ok {
			list = append(list, c)
		}
	}
	return list
}

// LongPause is how long nothing may come from a node that works: clients ping their servers every five seconds
// where that is set, and every 25 seconds by default.
const LongPause = int64(8e9)

// BothWays returns the directions from b to a, one for each capture point, if the path between the two hosts worked
// throughout a span: frames went both ways, none was sent again for long, and nobody reset a connection.
func (f *Facts) BothWays(a, b netip.Addr, s Span) (list []*Contact) {
	for _, c := range append(f.Contacts(a, b), f.Contacts(b, a)...) {
		for _, u := range c.Unacked { // until TCP sends it again the next time, after twice the time, nothing shows that the path works
			if !u.Unproven && s.From <= u.To+u.Length() && u.From <= s.To {
				return nil
			}
		}
	}
	if _, reset := f.ResetIn(a, b, s); reset {
		return nil
	}
	for _, there := range f.Contacts(a, b) {
		for _, back := range f.Contacts(b, a) {
			if there.Source == back.Source && there.Active.Pause(s) <= LongPause && back.Active.Pause(s) <= LongPause {
				list = append(list, back)
			}
		}
	}
	return list
}

// seen takes a frame of the sender.
func (c *Contact) seen(at Point) {
	c.Span.add(at.Time)
	c.Active.add(at)
}

func (f *Facts) message(m *dissect.Message) {
	c := f.contact(m.Source, m.Src.Addr(), m.Dst.Addr())
	if m.Kind == lnet.Request && m.RPC.Cut || m.Kind == lnet.Reply && len(m.Data) < m.Size {
		c.lacks = max(c.lacks, m.Time)
	}
	isWhole := m.Missing(0, m.Size) == lnet.Present
	if !isWhole && m.Tail != lnet.Snaplen { // it may have been handed out late
		return
	}
	at := track.PointOf(m)
	c.seen(at)
	c.Messages.add(at)
	if isWhole && m.Size > fullFrame {
		c.Large.add(at)
	}
}

// notCaptured takes bytes that the capture lacks.
func (f *Facts) notCaptured(l *lnet.Loss) {
	c := f.contact(l.Source, l.Src.Addr(), l.Dst.Addr())
	if l.Bytes >= minMessage {
		c.lacks = max(c.lacks, l.To)
	}
	if len(c.Lost) < maxResets {
		c.Lost = append(c.Lost, Span{l.From, l.To})
	}
}

// LacksIn reports whether something that a host sent to another one within a span was not captured.
func (f *Facts) LacksIn(from, to netip.Addr, s Span) bool {
	return slices.ContainsFunc(f.Contacts(from, to), func(c *Contact) bool {
		return slices.ContainsFunc(c.Lost, func(l Span) bool { return l.Overlaps(s) })
	})
}

// LacksSince reports whether messages from or to a node, or parts of them, may not have been captured since a time. Over InfiniBand, whose
// addresses do not show the node, all nodes count.
func (f *Facts) LacksSince(n lnet.NID, at int64) bool {
	host := HostOf(n)
	for k, c := range fifo.All(f.contacts) {
		if c.lacks >= at && (k.from == host || k.to == host || !n.IsTCP()) {
			return true
		}
	}
	return false
}

// active takes the first frame of a second.
func (f *Facts) active(a *lnet.Activity) {
	f.contact(a.Source, a.Src.Addr(), a.Dst.Addr()).seen(track.Point{Frame: a.Number, File: a.File, Time: a.Time})
}

// segment takes a segment of TCP that is unusual.
func (f *Facts) segment(m *lnet.TCPEvent) {
	c := f.contact(m.Source, m.Src.Addr(), m.Dst.Addr())
	at := track.Point{Frame: m.Number, File: m.File, Time: m.Time}
	c.seen(at)
	if m.RST && len(c.Resets) < maxResets {
		c.Resets = append(c.Resets, at)
	}
	if m.Waited > MinUnacknowledged && len(c.Thawed) < maxResets {
		c.Thawed = append(c.Thawed, at)
	}
	if m.OutOfOrder+m.Retransmissions > 0 {
		c.Disturbed.add(at)
	}
	f.again(c, m, at, 1)
}

// packet takes a packet of InfiniBand that was refused or sent again.
func (f *Facts) packet(e *lnet.IBEvent) {
	at := track.Point{Frame: e.Number, File: e.File, Time: e.Time}
	back := f.contact(e.Source, e.Dst.Addr(), e.Src.Addr())
	if !e.Again {
		back.seen(at)
		return
	}
	c := f.contact(e.Source, e.Src.Addr(), e.Dst.Addr())
	c.seen(at)
	f.again(c, &lnet.TCPEvent{Frame: e.Frame, Source: e.Source, Conn: e.Conn, Src: e.Src, Dst: e.Dst, Seq: e.PSN, FirstSent: max(e.FirstSent, back.Span.To),
		TCPAnomalies: lnet.TCPAnomalies{Retransmissions: 1}}, at, minPackets)
}

// MessagesOf returns when messages passed, FramesOf when frames did, such as acknowledgements of TCP.
func MessagesOf(c *Contact) *Times { return &c.Messages }
func FramesOf(c *Contact) *Times   { return &c.Active }

// Talks returns another host, and not the one that is excluded, with which LNet of a host exchanged messages all through
// a span: both are alive, and can reach each other.
func (f *Facts) Talks(host netip.Addr, s Span, except netip.Addr) (at Point, peer netip.Addr, ok bool) {
	pause := max(s.Length()/3, 2*runPause)
	return f.Partner(host, except, s, func(c *Contact) bool { return c.Messages.Pause(s) <= pause })
}

// TalksWithin returns another host with which LNet of a host exchanged messages in the middle of a span, without anything sent again: where they
// have little to say, Talks does not know them.
func (f *Facts) TalksWithin(host netip.Addr, s Span, except netip.Addr) (at Point, peer netip.Addr, ok bool) {
	middle := Span{s.From + s.Length()/4, s.To - s.Length()/4}
	return f.Partner(host, except, middle, func(c *Contact) bool {
		_, heard := c.Messages.Within(middle)
		return heard && !f.DisturbedIn(c.From, c.To, s)
	})
}

// Partner returns a host other than except, for which wanted holds in both directions, and a message to it within a span.
func (f *Facts) Partner(host, except netip.Addr, s Span, wanted func(*Contact) bool) (at Point, peer netip.Addr, ok bool) {
	for _, c := range fifo.All(f.contacts) {
		if c.From != host || c.To == except || !wanted(c) {
			continue
		}
		if back, known := fifo.Get(f.contacts, contactKey{c.Source, c.To, c.From}); known && wanted(back) {
			at, _ = c.Messages.Within(s)
			return at, c.To, true
		}
	}
	return at, peer, false
}

// ThawedIn returns a sign within a span that a host had stood still, and goes on.
func (f *Facts) ThawedIn(host netip.Addr, s Span) (at Point, ok bool) {
	for _, c := range fifo.All(f.contacts) {
		for _, p := range c.Thawed {
			if c.From == host && p.Time >= s.From && p.Time <= s.To {
				return p, true
			}
		}
	}
	return at, false
}

// DisturbedIn reports whether segments between two hosts were sent again or came out of order within a span.
func (f *Facts) DisturbedIn(a, b netip.Addr, s Span) bool {
	for _, c := range append(f.Contacts(a, b), f.Contacts(b, a)...) {
		if _, ok := c.Disturbed.Within(s); ok {
			return true
		}
	}
	return false
}

// lockService are the OSTs, or the other targets, of a server.
type lockService struct {
	server lnet.NID
	ofOST  bool
}

// callbacksOf returns when a server asked clients for locks.
func (f *Facts) callbacksOf(server lnet.NID, ofOST bool) *Times {
	return fifo.GetOrNew(f.callbacks, lockService{server, ofOST})
}

// AskedForLocks reports whether a server asked clients within a span for locks of targets of the same kind as that of a wait.
func (f *Facts) AskedForLocks(w *Wait, s Span) bool {
	op, target := w.Operation.String(), w.Target.Label()
	isOST := strings.HasPrefix(op, "OST_") || strings.Contains(target, "OST")
	for _, ofOST := range []bool{false, true} {
		if ofOST != isOST && (isOST || target != "" || strings.HasPrefix(op, "MDS_")) {
			continue
		}
		if _, asked := f.callbacksOf(w.Server, ofOST).Within(s); asked {
			return true
		}
	}
	return false
}

// AllThrough reports whether a host sent some of its messages or frames all through a span, to anybody, without a longer gap than pause; with
// away, only capture points other than the host itself count.
func (f *Facts) AllThrough(host netip.Addr, s Span, pause int64, away bool, of func(*Contact) *Times) (at Point, ok bool) {
	var takenAt [][]netip.Addr
	if away {
		takenAt = f.mayBeTakenAt()
	}
	for _, c := range fifo.All(f.contacts) {
		if times := of(c); c.From == host && times.Pause(s) <= pause && !(away && slices.Contains(takenAt[c.Source], host)) {
			if at, ok = times.Within(s); ok {
				return at, true
			}
		}
	}
	return at, false
}

// Peers returns the hosts that a host exchanged messages with.
func (f *Facts) Peers(host netip.Addr) (list []netip.Addr) {
	for _, c := range fifo.All(f.contacts) {
		if c.From == host && !slices.Contains(list, c.To) {
			list = append(list, c.To)
		}
	}
	return list
}

// TakenAt returns the hosts at whose interfaces captures were taken.
func (f *Facts) TakenAt() (hosts []netip.Addr) {
	for _, list := range f.mayBeTakenAt() {
		if len(list) == 1 {
			hosts = append(hosts, list[0])
		}
	}
	return hosts
}

// mayBeTakenAt returns for each capture the hosts at whose interface it may have been taken: those of each pair of hosts that
// it has both ways. What it has one way only may be frames for another port, of which the switch did not know the right one.
// It has none if the capture has pairs without a common host, or no pairs.
func (f *Facts) mayBeTakenAt() [][]netip.Addr {
	list := make([][]netip.Addr, f.sources)
	pairs := make([]int, f.sources)
	for k, c := range fifo.All(f.contacts) {
		if _, both := fifo.Get(f.contacts, contactKey{k.source, k.to, k.from}); !both {
			continue
		}
		if pairs[c.Source]++; pairs[c.Source] == 1 {
			list[c.Source] = []netip.Addr{c.From, c.To}
		}
		list[c.Source] = slices.DeleteFunc(list[c.Source], func(h netip.Addr) bool { return h != c.From && h != c.To })
	}
	return list
}

// overhears reports whether the captures that have frames from one host to another cannot have those that come back: they were taken at other hosts.
func (f *Facts) overhears(from, to netip.Addr, takenAt [][]netip.Addr) bool {
	there := f.Contacts(from, to)
	return len(there) > 0 && len(f.Contacts(to, from)) == 0 && !slices.ContainsFunc(there, func(c *Contact) bool {
		at := takenAt[c.Source]
		return len(at) == 0 || slices.Contains(at, from) || slices.Contains(at, to)
	})
}

// HostOf returns the address of a node with a NID of TCP or of InfiniBand; it is not valid for others.
func HostOf(n lnet.NID) netip.Addr {
	a, _ := netip.AddrFromSlice(n.Addr[:n.Len])
	return a
}
