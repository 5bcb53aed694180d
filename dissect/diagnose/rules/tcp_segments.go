package rules

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/paths"
	"github.com/lshark/lshark/internal/fifo"
)

// hostPair is one direction between two hosts at a capture point.
type hostPair struct {
	source   int
	from, to netip.Addr
}

func pairOf(m *lnet.TCPEvent) hostPair {
	return hostPair{m.Source, m.Src.Addr(), m.Dst.Addr()}
}

// subject returns what a finding about a direction is about. The client is the host
// that sends requests, if only one of both does.
func (h hostPair) subject(all *paths.Paths) (s diagnose.Subject) {
	there, back := all.Get(h.source, h.from, h.to), all.Get(h.source, h.to, h.from)
	if there == nil || back == nil {
		return s
	}
	switch from, to := there.FromNID, there.ToNID; {
	case there.Requests > 0 && back.Requests == 0:
		s.Client, s.Server = from, to
	case back.Requests > 0 && there.Requests == 0:
		s.Client, s.Server = to, from
	}
	return s
}

// finding returns a finding about a direction. What several capture points see of it is
// one finding.
func (h hostPair) finding(all *paths.Paths) diagnose.Finding {
	return diagnose.Finding{Subject: h.subject(all), Key: h.from.String() + " > " + h.to.String(), Node: hostNID(all, h.to)}
}

// between returns a finding about what happened between two hosts, without its text.
func (s *series) between(h hostPair, all *paths.Paths) diagnose.Finding {
	f := h.finding(all)
	s.describe(&f)
	return f
}

// pointOf returns where a segment is.
func pointOf(m *lnet.TCPEvent) track.Point {
	return track.Point{Frame: m.Number, File: m.File, Time: m.Time}
}

// stream is a direction of a connection.
type stream struct {
	conn int
	from netip.AddrPort
}

// resentPair are the segments of a direction between two hosts.
type resentPair struct {
	series // those that were sent again, without those of silences and spurious ones
	bytes  int64
	unseen int64 // bytes in which messages may have begun that were not captured
}

// repeated is the segment that was sent again last in a stream.
type repeated struct {
	seq                uint32
	again, fast, bytes int64
	first, last        int64 // times
	silent             bool  // it was sent again so often that the receiver is silent
}

const (
	maxPairs      = 1 << 12
	maxStreams    = 1 << 13
	silentRepeats = 4   // retransmissions of the same bytes
	copyTime      = 1e6 // nanoseconds until a mirrored port shows a segment for the second time, at most
	reordered     = 4   // times the segments that were sent again arrive late where the network delays rather than loses
)

var (
	resentSegments = &diagnose.Threshold{Name: "segments", Value: 10, Unit: "segments",
		Reason: "a few are lost in every network, and TCP needs some to find out how fast it may send"}
	resentShare = &diagnose.Threshold{Name: "share", Value: 0.005, Unit: "of the bytes",
		Reason: "a loss of one segment in two hundred halves what TCP can send over a network with a round trip of a millisecond"}
	resentTime = &diagnose.Threshold{Name: "time", Value: 2, Unit: "s",
		Reason: "single losses at the end of a message cost 0.2 s each, and every network has some"}
)

var _ = add(diagnose.Rule{
	Code:     "tcp.retransmission",
	Severity: diagnose.Warning,
	Noun:     "retransmitted segment",
	Summary:  "A host sends segments again because they were lost.",
	Meaning: "TCP sends a segment again when it is not acknowledged: at once if later segments were (fast retransmission), else after 0.2 " +
		"s or more (timeout). " +
		"The RPCs whose bytes were in it take longer by that. The rule counts the segments that two hosts sent again to each other, and how " +
		"much of the latency of their RPCs passed by that.",
	Limits: "Segments that were lost before they came to the capture point, and were not sent again, are not seen: what the other host " +
		"sends again is seen better on its side. " +
		"Segments that the receiver had already (spurious), and those that are sent again and again to a host that does not answer " +
		"(node.silent, path.cut), do not count.",
	Next: "Find the link that loses frames: ip -s link and ethtool -S on both hosts (errors, drops), the counters of the switch ports " +
		"between them, and tc -s qdisc. Compare with other hosts on the same switch.",

	Thresholds: []*diagnose.Threshold{resentSegments, resentShare, resentTime},
	Samples:    []string{"black_hole.pcap.zst", "losses.pcap.zst", "two_faults.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := &lossyHosts{report: r, pairs: fifo.NewMap[hostPair, *resentPair](maxPairs), streams: fifo.NewMap[stream, *repeated](maxStreams),
			cost: fifo.NewMap[nodePair, *resentCost](maxPairs)}
		return diagnose.Hooks{TCPEvent: x.segment, Done: x.done, Lost: x.lost, Tick: func(int64) { x.end() }, End: x.end}
	},
})

// lossyHosts finds hosts between which segments are lost.
type lossyHosts struct {
	report  *diagnose.Reporter
	pairs   *fifo.Map[hostPair, *resentPair]
	streams *fifo.Map[stream, *repeated]
	cost    *fifo.Map[nodePair, *resentCost]
}

// segment takes a segment that was sent again. The same one again and again is a silence of the receiver, which node.silent and path.cut
// report: it counts no more.
func (x *lossyHosts) segment(m *lnet.TCPEvent) {
	if m.Retransmissions == 0 || m.Spurious > 0 {
		return
	}
	pair, r := fifo.GetOrNew(x.pairs, pairOf(m)), fifo.GetOrNew(x.streams, stream{m.Conn, m.Src})
	if r.again > 0 && r.seq == m.Seq && m.Time-r.last < copyTime {
		return
	}
	if r.again == 0 || r.seq != m.Seq {
		*r = repeated{seq: m.Seq, first: m.Time}
	}
	r.again, r.fast, r.bytes, r.last = r.again+1, r.fast+m.Fast, r.bytes+int64(m.Bytes), m.Time
	switch {
	case r.again < silentRepeats || r.fast > 0:
		pair.bytes += int64(m.Bytes)
		pair.note(pointOf(m), "%s sends bytes again", m.Src.Addr())
	case !r.silent:
		r.silent = true
		pair.count -= r.again - 1
		pair.bytes -= min(pair.bytes, r.bytes)
		pair.proofs = slices.DeleteFunc(pair.proofs, func(p diagnose.Evidence) bool { return p.Time >= r.first })
	}
}

// resentCost is what retransmissions cost the RPCs between two nodes.
type resentCost struct {
	rpcs    int64
	time    int64 // nanoseconds of latency
	most    int64
	at      track.Point // request of the RPC that lost most
	unknown int64       // RPCs of which the capture does not show how much they lost
}

// maxResentTime is the longest time that single losses cost an RPC. It is longer when a
// host does not answer.
const maxResentTime = 3e9

// done sums up what retransmissions cost.
func (x *lossyHosts) done(r *track.RPC) {
	if r.Retransmits() == 0 {
		return
	}
	ns, ok := r.RetransmitTime()
	if ok && ns == 0 || ns > maxResentTime {
		return
	}
	key := nodePair{r.Client, r.Server}
	c := fifo.GetOrNew(x.cost, key)
	if !ok {
		c.unknown++
		return
	}
	c.rpcs++
	c.time += ns
	if ns > c.most {
		c.most, c.at = ns, r.Requested()
	}
}

// costBetween returns what retransmissions cost the RPCs between two nodes, either way.
func (x *lossyHosts) costBetween(a, b lnet.NID) (sum resentCost) {
	for _, key := range []nodePair{{a, b}, {b, a}} {
		if c, ok := fifo.Get(x.cost, key); ok {
			sum.rpcs += c.rpcs
			sum.time += c.time
			sum.unknown += c.unknown
			if c.most > sum.most {
				sum.most, sum.at = c.most, c.at
			}
		}
	}
	return sum
}

// lost takes bytes that were not captured: they count as bytes of messages.
func (x *lossyHosts) lost(l *lnet.Loss) {
	if !l.OneWay {
		fifo.GetOrNew(x.pairs, hostPair{l.Source, l.Src.Addr(), l.Dst.Addr()}).unseen += l.Bytes
	}
}

// lossyDirection is a direction between two hosts in which segments were sent again.
type lossyDirection struct {
	hostPair
	*resentPair
	share float64 // of the bytes of its messages
}

// isMuch reports whether enough was sent again to matter, whatever it cost.
func (d *lossyDirection) isMuch() bool {
	return d.resentPair != nil && float64(d.count) >= resentSegments.Value && d.share >= resentShare.Value
}

// end reports the hosts between which it matters what was sent again. Both directions are one
// finding: they have the same links.
func (x *lossyHosts) end() {
	best := make(map[[2]netip.Addr]lossyDirection) // of the capture point that saw most
	var order [][2]netip.Addr
	for h, p := range fifo.All(x.pairs) {
		path := x.report.Paths().Get(h.source, h.from, h.to)
		if path == nil || p.count == 0 {
			continue
		}
		key := [2]netip.Addr{h.from, h.to}
		old, known := best[key]
		if !known {
			order = append(order, key)
		}
		if !known || p.count > old.count {
			best[key] = lossyDirection{h, p, float64(p.bytes) / float64(max(path.Bytes+p.unseen, 1))}
		}
	}
	for _, key := range order {
		there, back := best[key], best[[2]netip.Addr{key[1], key[0]}]
		delete(best, key)
		switch {
		case there.resentPair == nil: // reported with the other direction
		case back.isMuch() && !there.isMuch():
			x.check(back, there)
		default:
			x.check(there, back)
		}
		delete(best, [2]netip.Addr{key[1], key[0]})
	}
}

// check reports a direction if what was sent again matters, and with it the other one if it is
// as bad.
func (x *lossyHosts) check(there, back lossyDirection) {
	path := x.report.Paths().Get(there.source, there.from, there.to)
	cost := x.costBetween(path.FromNID, path.ToNID)
	if !there.isMuch() && cost.time < resentTime.Nanoseconds() {
		return
	}
	f := there.finding(x.report.Paths())
	f.Key = min(there.from.String()+" > "+there.to.String(), there.to.String()+" > "+there.from.String())
	f.First, f.Last, f.Count = there.first, there.last, there.count
	if there.isMuch() {
		f.Compare(resentSegments, float64(there.count))
		f.Compare(resentShare, there.share)
	} else {
		f.CompareTime(resentTime, cost.time)
	}
	f.Text = fmt.Sprintf("%s sent %s to %s again (%.1f %% of the bytes of its messages).",
		there.from, plural(there.count, "segment"), there.to, 100*there.share)
	directions := []lossyDirection{there}
	if back.isMuch() {
		directions = append(directions, back)
		f.First, f.Last, f.Count = min(f.First, back.first), max(f.Last, back.last), f.Count+back.count
		f.Text = fmt.Sprintf("%s and %s sent %d and %d segments to each other again (%.1f %% and %.1f %% of the bytes of their messages).",
			there.from, there.to, there.count, back.count, 100*there.share, 100*back.share)
	}
	if cost.time > 0 {
		f.Text += fmt.Sprintf(" As far as known, %s between both lost %s by retransmission, at most %s", plural(cost.rpcs, "RPC"),
			duration(cost.time), roundedUp(cost.most))
		if cost.unknown > 0 {
			f.Text += "; how much " + plural(cost.unknown, "other") + " lost, the capture does not show"
		}
		f.Text += "."
	}
	if path.TCP.OutOfOrder > reordered*there.count {
		f.Text += fmt.Sprintf(" Beside these, %d arrived out of order: the network delays segments, and what was sent again need not have been lost.", path.TCP.OutOfOrder)
		f.Next = "Find the link that delays frames, and sends some of them another way: tc -s qdisc on both hosts, bonding and multipath between them."
	}
	for _, d := range directions {
		f.Evidence = append(f.Evidence, d.proofs[:min(len(d.proofs), maxProofs/len(directions))]...)
	}
	f.Prove(cost.at, "the request of the RPC that lost most time by retransmission")
	from, to := hostNID(x.report.Paths(), there.from), hostNID(x.report.Paths(), there.to)
	suspect(&f, onPath(from, to), atNode(from), atNode(to)) // the interface of the one; the other acknowledges late where it is short of CPU
	x.report.Report(f)
}

var closedTime = &diagnose.Threshold{Name: "time", Value: 1, Unit: "s",
	Reason: "a window that is closed for milliseconds is normal while a receiver is slower than the network"}

var _ = add(diagnose.Rule{
	Code:     "tcp.zero_window",
	Severity: diagnose.Warning,
	Noun:     "closed window",
	Summary:  "A host did not read what had arrived, so the other had to stop sending.",
	Meaning: "A host announces a receive window of 0 when its buffers are full because LNet does not read from the connection. The sender must stop. " +
		"The rule sums up how long the windows of connections between two hosts were closed.",
	Limits: "That LNet does not read is known, and not why: it may have no buffers for messages, or its threads get no CPU.",
	Next: "On the host that does not read: lctl get_param stats buffers peers (a negative min of rtr or tx), memory and CPU load, and " +
		"its console log for messages of socklnd.",

	Thresholds: []*diagnose.Threshold{closedTime},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		pairs := fifo.NewMap[hostPair, *closedPair](maxPairs)
		closed := fifo.NewMap[stream, track.Point](maxStreams) // windows, since when
		report := func() {
			for h, p := range fifo.All(pairs) {
				if p.sum >= closedTime.Nanoseconds() {
					f := p.finding(h, r.Paths())
					f.CompareTime(closedTime, p.sum)
					r.Report(f)
				}
			}
		}
		return diagnose.Hooks{TCPEvent: func(m *lnet.TCPEvent) {
			key := stream{m.Conn, m.Src}
			if m.ZeroWindows > 0 {
				if _, known := fifo.Get(closed, key); !known {
					fifo.Put(closed, key, pointOf(m))
				}
				return
			}
			if m.Opened == 0 {
				return
			}
			from, _ := fifo.Delete(closed, key)
			p := fifo.GetOrNew(pairs, pairOf(m))
			if p.add(m.Time); p.count == 1 {
				p.first = from.Time
			}
			p.sum += m.Opened
			p.longest = max(p.longest, m.Opened)
			if p.count <= maxProofs {
				p.proofs.Add(from, "%s closes its receive window", m.Src.Addr())
				p.proofs.Add(pointOf(m), "it opens it after %s", duration(m.Opened))
			}
		}, Tick: func(int64) { report() }, End: report}
	},
})

// closedPair is what a host did with the windows of its connections to another.
type closedPair struct {
	series
	sum     int64 // nanoseconds
	longest int64
}

func (p *closedPair) finding(h hostPair, all *paths.Paths) diagnose.Finding {
	closed := fmt.Sprintf("%d times, for %s in all and %s at most", p.count, duration(p.sum), roundedUp(p.longest))
	if p.count == 1 {
		closed = "once, for " + duration(p.sum)
	}
	f := p.between(h, all)
	f.Text = fmt.Sprintf("%s did not read what %s had sent: its receive window was closed %s. %s had to wait.", h.from, h.to, closed, h.to)
	return f
}
