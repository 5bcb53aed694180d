package lnet

import (
	"net/netip"
	"sort"

	"github.com/lshark/lshark/dissect/lnet/link"
)

// Limits of the analysis of a direction of a connection.
const (
	maxSentMessages = 32    // complete messages that are kept, since they may be retransmitted
	maxResentRanges = 64    // retransmitted ranges of messages that are not complete yet
	maxUnsettled    = 32    // retransmitted ranges of complete messages, until they are acknowledged
	maxSendTimes    = 64    // entries of analysis.times
	sendTimeStep    = 100e3 // ns between two of them
	defaultRTT      = 3e6   // ns, if the handshake was not captured
	copyAge         = 1e6   // ns from a packet to its copy in a capture of several ports, at most
	fastAge         = 20e6  // ns from the last duplicate ACK to a fast retransmission
	stampTick       = 4e6   // nanoseconds until the timestamps of a host change at most, in Linux with 250 Hz or more
	fastDuplicates  = 2     // duplicate ACKs that cause a fast retransmission
	maxAckDelay     = 200e6 // ns: a host delays an ACK no longer
	rttSamples      = 16    // round trips of which the minimum is taken
	rttAge          = 10e9  // ns until that minimum is outdated
	keepAliveBytes  = 1     // payload of a keep-alive probe, at most
	keepAliveOffset = -1    // from the next sequence number to that of a keep-alive probe
	probeAge        = 1e9   // ns between two probes, at least
	handshakeFlags  = tcpSYN | tcpACK
	unusualFlags    = tcpSYN | tcpFIN | tcpRST
)

// TCPAnomalies are counts of segments by what TCP did, as in the analysis flags of
// tshark.
type TCPAnomalies struct {
	Retransmissions int64 // segments sent again, the fast and the spurious ones included
	Fast            int64 // after duplicate ACKs
	Spurious        int64 // all of their bytes were acknowledged before
	OutOfOrder      int64 // segments that another one has overtaken
	ZeroWindows     int64 // segments that announce a receive window of 0
}

// Add adds other counts.
func (m *TCPAnomalies) Add(other *TCPAnomalies) {
	m.Retransmissions += other.Retransmissions
	m.Fast += other.Fast
	m.Spurious += other.Spurious
	m.OutOfOrder += other.OutOfOrder
	m.ZeroWindows += other.ZeroWindows
}

// TCPEvent is a TCP segment that counts in TCPAnomalies, aborts its connection, opens
// a receive window that was closed, is a keep-alive probe after another one that got no answer, or
// the first segment after such probes.
type TCPEvent struct {
	link.Frame
	Source    int // capture point
	Conn      int // number of the connection
	Src, Dst  netip.AddrPort
	Seq       uint32
	Bytes     int   // of payload
	FirstSent int64 // of one that was sent again: when its first byte was sent first; 0 when unknown. Of a probe: when the first without an answer was sent
	Probes    int   // of a keep-alive probe: how many before it got no answer
	Answer    bool  // it comes after probes of Dst that got no answer
	Alone     bool  // Probes would be wrong if Dst was not captured, as nothing else of the connection was
	Opened    int64 // for how many nanoseconds the receive window of Src was 0, until this segment
	Waited    int64 // of bytes that were sent again: for how many nanoseconds after the last time Src got them, by its timestamp
	SYN       bool
	RST       bool
	TCPAnomalies
}

// marksOf returns the counts of a segment by its class.
func marksOf(mark tcpMark, g *link.Segment) (m TCPAnomalies) {
	switch mark {
	case outOfOrder:
		m.OutOfOrder = 1
	case spuriousRetransmission:
		m.Spurious = 1
	case fastRetransmission:
		m.Fast = 1
	}
	if mark >= retransmission {
		m.Retransmissions = 1
	}
	if g.Window == 0 && g.Flags&unusualFlags == 0 {
		m.ZeroWindows = 1
	}
	return m
}

// tcpMark is the class of a segment.
type tcpMark uint8

const (
	noMark tcpMark = iota
	outOfOrder
	retransmission
	fastRetransmission
	spuriousRetransmission
)

// analysis follows the segments that one end of a connection sends: which of
// them are sent again, how long that takes, and how fast the other end
// acknowledges them.
type analysis struct {
	started bool
	next    uint32 // highest sequence number behind a segment, also when that segment is missing
	raised  int64  // time of the segment that raised next
	stamp   uint32 // timestamp of the last bytes that raised it, 0 when it has none
	initial int64  // round trip of the handshake, 0 when not captured
	synTime int64  // time of the first SYN without ACK, 0 when not captured

	acks ackState
	rtt  roundTrip
	out  *output

	past *history // nil: nothing was sent, or all of it was acknowledged long ago
}

// history is what is remembered of the bytes that one end has sent.
type history struct {
	times []sendTime
	sent  sentMessages
	again []resentRange // of messages that are not complete

	unsettled []resentRange // of messages that were handed out; what they cost is not known
}

// maxFreeHistories bounds the histories that are kept for other connections.
const maxFreeHistories = 64

// remembered returns the history.
func (a *analysis) remembered() *history {
	if a.past == nil {
		a.past = a.out.newHistory()
	}
	return a.past
}

// forget drops the history if the other end has acknowledged all that was sent.
func (a *analysis) forget(peer *analysis) {
	h, k := a.past, &peer.acks
	if h != nil && k.known && k.number == a.next && len(h.again)+len(h.unsettled) == 0 {
		a.out.freeHistory(h)
		a.past = nil
	}
}

// newHistory returns an empty history.
func (o *output) newHistory() *history {
	n := len(o.histories)
	if n == 0 {
		return &history{sent: sentMessages{out: o}}
	}
	h := o.histories[n-1]
	o.histories = o.histories[:n-1]
	*h = history{times: h.times[:0], sent: sentMessages{out: o, ring: h.sent.ring[:0]}, again: h.again[:0], unsettled: h.unsettled[:0]}
	return h
}

// freeHistory keeps a history that is no longer used for another connection; nil is fine.
func (o *output) freeHistory(h *history) {
	if h != nil && len(o.histories) < maxFreeHistories {
		o.histories = append(o.histories, h)
	}
}

// ackState is what an end acknowledges.
type ackState struct {
	known      bool
	number     uint32
	duplicates uint32
	time       int64  // of the last new or duplicate one
	echo       uint32 // timestamp that it echoes
	probes     uint32 // those in a row that are keep-alive probes, as nothing arrived since the one before
	probed     int64  // when the first of them was sent
	window     int32
	closed     int64 // since when the window is 0; 0 while it is not
}

// sendTime is when bytes from a sequence number on were sent first.
type sendTime struct {
	seq     uint32
	missing gapEvidence
	time    int64
}

// gapEvidence is how it was seen that bytes are missing from the capture.
type gapEvidence uint8

const (
	captured  gapEvidence = iota // they are not
	dataAhead                    // by data with a higher sequence number: they were sent shortly before
	ackAhead                     // by an ACK with a higher sequence number: they were sent at any time before
)

// resentRange is a range of bytes that was sent again.
type resentRange struct {
	link.Range
	time     int64 // when it was sent again
	stalled  int64 // since when the sender had sent nothing new, if that is due to the loss; else 0
	segments int   // more than one when there are too many ranges
	stamps   link.Timestamps
	spurious bool
	evidence gapEvidence // of its first byte
}

// sequenceLength returns how many sequence numbers a segment takes: its bytes,
// and one for a SYN or FIN.
func sequenceLength(g *link.Segment) int {
	if g.Flags&(tcpSYN|tcpFIN) != 0 {
		return g.Size + 1
	}
	return g.Size
}

// segment takes the next segment of this end; peer is the other end. It returns
// the class of the segment, and TCPEvent.Waited.
func (a *analysis) segment(peer *analysis, g *link.Segment) (mark tcpMark, waited int64) {
	n := sequenceLength(g)
	if a.started && g.Seq == a.next && g.Flags&unusualFlags == 0 {
		if n > 0 {
			a.advance(g, n)
		}
		if a.synTime != 0 && a.initial == 0 {
			a.handshake(peer, g)
		}
		return noMark, a.acknowledge(peer, g)
	}
	if a.started {
		mark = a.outOfSequence(peer, g, n)
	} else {
		a.started = true
		a.next = g.Seq
		a.advance(g, n)
	}
	a.handshake(peer, g)
	return mark, a.acknowledge(peer, g)
}

// advance takes n bytes that were not sent before.
func (a *analysis) advance(g *link.Segment, n int) {
	a.raised = g.Time
	if n == 0 {
		return
	}
	if g.Size > 0 {
		a.stamp = g.Stamps.Value
	}
	h := a.remembered()
	if k := len(h.times); k == 0 || h.times[k-1].missing != captured || g.Time-h.times[k-1].time >= sendTimeStep {
		h.addTime(sendTime{seq: a.next, time: g.Time})
	}
	a.next += uint32(n)
	a.rtt.begin(a.next, g.Time)
}

// outOfSequence takes a segment that does not follow the one before.
func (a *analysis) outOfSequence(peer *analysis, g *link.Segment, n int) tcpMark {
	d := int(int32(g.Seq - a.next))
	if d == keepAliveOffset && g.Size <= keepAliveBytes && g.Flags&unusualFlags == 0 {
		return noMark
	}
	mark := noMark
	if d < 0 && n > 0 && g.Flags&tcpRST == 0 && !a.isCopy(peer, g, d+n == 0) {
		mark = a.classify(peer, g, d+n == 0)
		if mark >= retransmission {
			a.resent(g, n, mark == spuriousRetransmission)
		}
	}
	if d+n <= 0 {
		return mark
	}
	if d > 0 {
		evidence := dataAhead
		if n == 0 {
			evidence = ackAhead
		}
		a.remembered().addTime(sendTime{seq: a.next, time: g.Time, missing: evidence})
		a.next = g.Seq
		a.rtt.cancel()
	} else {
		n += d
	}
	a.advance(g, n)
	return mark
}

// isCopy reports whether a segment with bytes that were sent before is the same packet again,
// as mirrored ports show it: what a host sends again has a later timestamp.
func (a *analysis) isCopy(peer *analysis, g *link.Segment, atEnd bool) bool {
	if g.Size == 0 {
		return atEnd && g.Time-a.raised < copyAge
	}
	if !g.Stamps.Known {
		return false
	}
	if h := a.past; h != nil && (isCopyOf(h.again, g) || isCopyOf(h.unsettled, g)) {
		return true
	}
	if g.Stamps.Value != a.stamp {
		return false
	}
	if atEnd {
		return g.Time-a.raised < copyAge
	}
	first, known := a.timeOf(g.Seq)
	return known && first.missing == captured && g.Time-first.time < copyAge && (peer.acks.number != g.Seq || peer.acks.duplicates == 0)
}

// isCopyOf reports whether a segment is the last one of a list that was sent again.
func isCopyOf(list []resentRange, g *link.Segment) bool {
	if len(list) == 0 {
		return false
	}
	last := &list[len(list)-1]
	return last.From == g.Seq && last.stamps == g.Stamps && g.Time-last.time < copyAge
}

// classify returns the class of a segment with bytes that were sent before, of
// which some reach up to the last one when atEnd is set.
func (a *analysis) classify(peer *analysis, g *link.Segment, atEnd bool) tcpMark {
	acks := &peer.acks
	switch {
	case g.Size > 0 && g.Stamps.Known && a.stamp != 0 && int32(g.Stamps.Value-a.stamp) < 0:
		return outOfOrder // it was sent before what has arrived: the network delayed or copied it
	case a.isDelayed(g):
		return outOfOrder // sent with what has arrived, as the sender's clock shows, and no round trip later
	case acks.known && g.Size > 0 && int32(acks.number-g.Seq-uint32(g.Size)) >= 0:
		return spuriousRetransmission
	case acks.known && acks.number == g.Seq && acks.duplicates >= fastDuplicates && g.Time-acks.time < fastAge:
		return fastRetransmission
	}
	limit := a.initial
	if limit == 0 {
		limit = defaultRTT
	}
	if g.Time-a.raised < limit && !atEnd {
		return outOfOrder
	}
	return retransmission
}

// isDelayed reports whether a segment has the timestamp of those around it, which came long before: none of them was
// sent again then, together with new bytes.
func (a *analysis) isDelayed(g *link.Segment) bool {
	if g.Size == 0 || !g.Stamps.Known || g.Stamps.Value != a.stamp || g.Time-a.raised <= stampTick {
		return false
	}
	first, known := a.timeOf(g.Seq)
	return known && a.raised-first.time <= stampTick
}

// resent records a segment that was sent again, for the messages in it: those
// that were handed out, and those that are not complete.
func (a *analysis) resent(g *link.Segment, n int, spurious bool) {
	a.rtt.cancel()
	if g.Size == 0 {
		return // a SYN or FIN is in no message
	}
	r := resentRange{Range: link.Range{From: g.Seq, To: g.Seq + uint32(n)}, time: g.Time, segments: 1, stamps: g.Stamps, spurious: spurious,
		evidence: ackAhead}
	if first, known := a.timeOf(g.Seq); known {
		r.evidence = first.missing
		if first.missing != ackAhead && g.Time-a.raised >= maxAckDelay {
			r.stalled = a.raised
		}
	}
	h := a.remembered()
	if h.sent.resent(&r) && !spurious {
		if len(h.unsettled) == maxUnsettled {
			h.unsettled = append(h.unsettled[:0], h.unsettled[1:]...)
		}
		h.unsettled = append(h.unsettled, r)
	}
	if h.sent.any && int32(r.To-h.sent.end) <= 0 {
		return
	}
	if k := len(h.again); k == maxResentRanges {
		last := &h.again[k-1]
		last.From, last.To = lower(last.From, r.From), higher(last.To, r.To)
		last.segments++
		last.time, last.stalled, last.spurious = r.time, 0, last.spurious && r.spurious
		last.evidence = max(last.evidence, r.evidence)
		return
	}
	h.again = append(h.again, r)
}

// settle reports what the ranges cost that were sent again, once an ACK shows it;
// before is the ACK before the one in g. They cost nothing if the receiver had
// their first transmission. It returns for how long that had waited for the receiver after
// the last time that it was sent, 0 if it had not.
func (a *analysis) settle(g *link.Segment, before uint32) (waited int64) {
	h := a.past
	keep := h.unsettled[:0]
	for i := range h.unsettled {
		r := &h.unsettled[i]
		switch a.received(r, g, before) {
		case firstReceived:
			h.sent.settle(r, false)
			if waited = 0; r.stamps.Known && g.Stamps.Known && g.Time-r.time > maxAckDelay {
				waited = g.Time - r.time
			}
		case againReceived:
			h.sent.settle(r, true)
		default:
			keep = append(keep, *r)
		}
	}
	h.unsettled = keep
	return waited
}

// receipt is which transmission of a range reached the receiver first.
type receipt uint8

const (
	unknownReceipt receipt = iota
	firstReceived
	againReceived
)

// received returns which transmission of a range an ACK shows to have arrived. The
// receiver reports what came twice (D-SACK), and echoes the timestamp of the segment
// that it waited for. Without timestamps the time of the ACK counts.
func (a *analysis) received(r *resentRange, g *link.Segment, before uint32) receipt {
	switch {
	case g.Twice.Overlaps(r.From, r.To):
		return firstReceived
	case int32(g.Ack-r.From) <= 0 || int32(before-r.From) > 0:
		return unknownReceipt // not acknowledged yet, or by an earlier ACK
	case r.stamps.Known && g.Stamps.Known:
		if int32(g.Stamps.Echo-r.stamps.Value) >= 0 {
			return againReceived
		}
		if r.From == before {
			return firstReceived
		}
		return unknownReceipt
	}
	switch least, passed := a.rtt.least(), g.Time-r.time; {
	case least == 0:
		return unknownReceipt
	case passed < least/2:
		return firstReceived
	case passed >= least:
		return againReceived
	}
	return unknownReceipt
}

// handshake measures the round trip of the handshake, which ends with the first
// ACK of the end that sent the SYN.
func (a *analysis) handshake(peer *analysis, g *link.Segment) {
	switch {
	case g.Flags&handshakeFlags == tcpSYN && a.synTime == 0:
		a.synTime = g.Time
	case g.Flags&handshakeFlags == tcpACK && g.Size == 0:
		if a.synTime != 0 && a.initial == 0 {
			a.initial = g.Time - a.synTime
			peer.initial = a.initial
		}
	}
}

// window notes whether a segment closes the receive window of this end. It returns for
// how long the window was closed if the segment opens it, else 0.
func (a *analysis) window(g *link.Segment, closes bool) (opened int64) {
	k := &a.acks
	switch {
	case closes && k.closed == 0:
		k.closed = g.Time
	case k.closed != 0 && (g.Window != 0 || g.Flags&unusualFlags != 0):
		opened, k.closed = g.Time-k.closed, 0
	}
	return opened
}

// acknowledge takes the ACK in a segment, and returns what settle does.
func (a *analysis) acknowledge(peer *analysis, g *link.Segment) (waited int64) {
	if g.Flags&tcpACK == 0 {
		return 0
	}
	k, sent := &a.acks, peer.past
	if sent != nil && len(sent.unsettled) > 0 && (k.number != g.Ack || g.Twice != link.Range{}) {
		waited = peer.settle(g, k.number)
	}
	if k.known && k.number == g.Ack {
		if g.Size == 0 && g.Flags&unusualFlags == 0 && k.window == g.Window {
			d := int32(g.Seq - a.next)
			k.probe(g, d == keepAliveOffset || d == 0 && a.isAlone(peer))
			if peer.started {
				k.duplicates++
			}
			k.time = g.Time
		} else {
			k.probes = 0
		}
		k.window = g.Window
		return waited
	}
	k.known, k.number, k.window = true, g.Ack, g.Window
	k.duplicates, k.time, k.echo, k.probes = 0, g.Time, g.Stamps.Echo, 0
	peer.rtt.end(g.Ack, g.Time, g.Size > 0)
	if sent != nil {
		sent.acknowledge(g.Ack, g.Time)
	}
	return waited
}

// isAlone reports whether the capture has nothing of the connection that shows where the bytes of this
// end go on.
func (a *analysis) isAlone(peer *analysis) bool { return a.past == nil && !peer.acks.known }

// probe takes an empty segment with the same ACK as the one before. A keep-alive probe begins one byte
// before the next, or where the capture has nothing else of its sender. One that echoes the same
// timestamp as the one before shows that this got no answer: that would have a newer timestamp.
func (k *ackState) probe(g *link.Segment, isProbe bool) {
	switch {
	case !isProbe || !g.Stamps.Known || g.Stamps.Echo != k.echo:
		k.echo, k.probes = g.Stamps.Echo, 0
	case g.Time-k.time >= probeAge:
		if k.probes++; k.probes == 1 {
			k.probed = g.Time
		}
	}
}

// hasProbed reports whether a probe was sent after one that got no answer.
func (k *ackState) hasProbed() bool { return k.probes > 1 }

// unanswered returns TCPEvent.Probes of the last segment.
func (k *ackState) unanswered(g *link.Segment) int {
	if k.probes == 0 || g.Flags&unusualFlags != 0 {
		return 0
	}
	return int(k.probes - 1)
}

// acknowledge notes up to where the receiver has all bytes.
func (h *history) acknowledge(ack uint32, now int64) {
	h.sent.acknowledge(ack, now)
	passed := 0
	for passed+1 < len(h.times) && int32(ack-h.times[passed+1].seq) >= 0 {
		passed++
	}
	if passed > 0 {
		h.times = append(h.times[:0], h.times[passed:]...)
	}
}

// addTime adds a time. When there are too many, each second one goes.
func (h *history) addTime(t sendTime) {
	if len(h.times) == maxSendTimes {
		keep := h.times[:0]
		for i := range h.times {
			if i%2 == 0 || h.times[i].missing != captured && i%4 == 1 {
				keep = append(keep, h.times[i])
			}
		}
		h.times = keep
	}
	h.times = append(h.times, t)
}

// timeOf returns when the byte with a sequence number was sent first.
func (a *analysis) timeOf(seq uint32) (t sendTime, known bool) {
	if a.past == nil {
		return t, false
	}
	times := a.past.times
	i := sort.Search(len(times), func(i int) bool { return int32(times[i].seq-seq) > 0 })
	if i == 0 {
		return t, false
	}
	return times[i-1], true
}

// message sets m.Transfer of a message that is complete, and remembers it for
// what TCP does with it later; from and to are its sequence numbers.
func (a *analysis) message(m *Message, from, to uint32) {
	m.Transfer, m.RoundTrips = Transfer{RTT: a.rtt.least()}, a.rtt.recent.take()
	h := a.remembered()
	if len(h.again) > 0 {
		a.collect(m, from, to)
	}
	h.sent.add(sentMessage{from: from, to: to, number: m.Number, time: m.Time})
}

// collect sets what was sent again of a message and what it cost, and drops the
// ranges that end there. A message that a retransmission completes came later by
// the time since its last byte was sent first, or was shown to be missing. Where
// other data followed, only the time is known in which nothing new was sent.
func (a *analysis) collect(m *Message, from, to uint32) {
	t, h := &m.Transfer, a.past
	due, known := a.timeOf(to - 1)
	completed := false
	for i := range h.again {
		r := &h.again[i]
		completed = completed || r.Overlaps(from, to) && r.time == m.Time && !r.spurious
	}
	completed = completed && known && due.missing != ackAhead
	keep := h.again[:0]
	for i := range h.again {
		r := &h.again[i]
		if r.Overlaps(from, to) {
			t.Resent += r.segments
			t.NotCaptured = t.NotCaptured || r.evidence != captured && !r.spurious
			switch {
			case r.spurious:
				t.Timed += r.segments
			case r.evidence == ackAhead:
			case completed:
				t.Timed += r.segments
				t.lose(due.time, m.Time)
			case r.stalled != 0:
				t.Timed += r.segments
				t.lose(r.stalled, r.time)
			}
		}
		if int32(r.To-to) > 0 {
			keep = append(keep, *r)
		}
	}
	h.again = keep
}

// sentMessages are the last messages that were handed out. What TCP does with
// them later is given to the hook.
type sentMessages struct {
	out     *output
	ring    []sentMessage
	oldest  int // of a full ring
	pending int // messages at its end that were not acknowledged
	any     bool
	end     uint32 // sequence number behind the last one
}

type sentMessage struct {
	from, to uint32
	number   int64 // Message.Number
	time     int64
}

// add adds a message.
func (s *sentMessages) add(m sentMessage) {
	if len(s.ring) < maxSentMessages {
		if s.ring == nil {
			s.ring = make([]sentMessage, 0, maxSentMessages/4)
		}
		s.ring = append(s.ring, m)
	} else {
		s.ring[s.oldest] = m
		s.oldest = (s.oldest + 1) % maxSentMessages
	}
	s.pending = min(s.pending+1, len(s.ring))
	s.any, s.end = true, m.to
}

// at returns a message, the oldest first.
func (s *sentMessages) at(i int) *sentMessage { return &s.ring[(s.oldest+i)%len(s.ring)] }

// acknowledge notes up to where the messages have been received.
func (s *sentMessages) acknowledge(ack uint32, now int64) {
	for ; s.pending > 0; s.pending-- {
		m := s.at(len(s.ring) - s.pending)
		if int32(ack-m.to) < 0 {
			return
		}
		if now-m.time > maxAckDelay {
			s.report(m.number, &Transfer{AckedLate: true})
		}
	}
}

// resent reports the messages of which bytes were sent again, and returns whether
// there are any.
func (s *sentMessages) resent(r *resentRange) bool {
	t := Transfer{Resent: 1, NotCaptured: r.evidence != captured && !r.spurious}
	if r.spurious {
		t.Timed = 1
	}
	found := false
	for i := range s.ring {
		if m := &s.ring[i]; r.Overlaps(m.from, m.to) {
			found = true
			s.report(m.number, &t)
		}
	}
	return found
}

// settle reports what it cost the messages of a range that it was sent again: the
// time since they were complete, or nothing.
func (s *sentMessages) settle(r *resentRange, lost bool) {
	for i := range s.ring {
		m := &s.ring[i]
		if !r.Overlaps(m.from, m.to) {
			continue
		}
		t := Transfer{Timed: 1}
		if lost {
			t.lose(m.time, r.time)
		}
		s.report(m.number, &t)
	}
}

func (s *sentMessages) report(number int64, t *Transfer) {
	if hook := s.out.opt.TransferUpdate; hook != nil {
		s.out.transfer = *t
		hook(number, &s.out.transfer)
	}
}

// roundTrip measures the time between data and their acknowledgement: of one
// segment at a time, and never of one that was sent again. The least of the last
// samples counts, since a receiver may delay its ACKs. An ACK that comes with data
// may have waited for these: it can only lower the round trip.
type roundTrip struct {
	timing       bool
	samples      uint8
	to           uint32 // sequence number behind the segment that is timed
	since        int64
	least1       int64 // of the samples since the last change
	least2       int64 // of those before; 0 when there are none
	beginOfLeast int64

	recent RoundTrips // since the last message
}

func (t *roundTrip) begin(to uint32, now int64) {
	if !t.timing {
		t.timing, t.to, t.since = true, to, now
	}
}

func (t *roundTrip) cancel() { t.timing = false }

func (t *roundTrip) end(ack uint32, now int64, withData bool) {
	if !t.timing || int32(ack-t.to) < 0 {
		return
	}
	t.timing = false
	t.recent.add(max(1, now-t.since))
	if least := t.least(); withData && (least == 0 || now-t.since > least) {
		return
	}
	if t.samples == rttSamples || t.samples > 0 && now-t.beginOfLeast > rttAge {
		t.least2, t.samples = t.least1, 0
	}
	sample := max(1, now-t.since)
	if t.samples == 0 {
		t.least1, t.beginOfLeast = sample, now
	}
	t.least1 = min(t.least1, sample)
	t.samples++
}

// least returns the round trip in nanoseconds, 0 when it is unknown.
func (t *roundTrip) least() int64 {
	if t.least2 != 0 && t.least2 < t.least1 {
		return t.least2
	}
	return t.least1
}

func lower(a, b uint32) uint32 {
	if int32(a-b) < 0 {
		return a
	}
	return b
}

func higher(a, b uint32) uint32 {
	if int32(a-b) > 0 {
		return a
	}
	return b
}
