package rules

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
)

var _ = add(diagnose.Rule{
	Code:     "tcp.no_answer",
	Severity: diagnose.Warning,
	Noun:     "silence of a host",
	Summary:  "A host did not acknowledge anything for a while: it or the network to it was down.",
	Meaning: "When a host does not acknowledge what was sent to it, TCP sends the same bytes again and again, each time after twice the time. " +
		"Four such retransmissions take three seconds or more; a network that only loses some of its packets hardly loses one segment five times.",
	Limits: "Whether the host was down, or the network in one of both directions, cannot be told from one capture. The host may have been " +
		"busy only if its kernel was: TCP is acknowledged by the kernel.",
	Next: "Compare with a capture of the other host. Look for a restart or a crash of the host, and for changes of links in the logs of " +
		"both hosts and of the switches.",

	Thresholds: []*diagnose.Threshold{{Name: "repeats", Value: silentRepeats, Unit: "retransmissions",
		Reason: "with the shortest timeout of TCP, 0.2 s, they take 3 s"}},
	Samples: []string{"crashed_server.pcap.zst", "evicted_ping.pcap.zst", "frozen_server.pcap.zst", "late_recovery.pcap.zst",
		"late_recovery_client.pcap.zst", "no_answer.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := newStalledStreams(r)
		report := func(end bool) {
			for h, p := range x.pairs.All {
				if p.silenced > 0 && !slices.ContainsFunc(p.silences, func(s *silence) bool {
					return s.isBlackHole() || !end && s.mayBeBlackHole(r.Now())
				}) {
					r.Report(silenceFinding(r, h, p))
				}
			}
		}
		return diagnose.Hooks{TCPEvent: x.marked, Message: x.message, Tick: func(int64) { report(false) }, End: func() { report(true) }}
	},
})

// silenceFinding describes when a host did not answer.
func silenceFinding(r *diagnose.Reporter, h hostPair, p *resentPair) diagnose.Finding {
	f := h.finding(r.Paths())
	f.Count = p.silenced
	longest := p.silences[0]
	connects := 0
	for _, s := range p.silences {
		if f.First == 0 || s.from < f.First {
			f.First = s.from
		}
		f.Last = max(f.Last, s.last.Time)
		if s.last.Time-s.from > longest.last.Time-longest.from {
			longest = s
		}
		if s.syn {
			connects++
		}
	}
	what := "what " + h.from.String() + " sent"
	if connects == len(p.silences) {
		what = "the attempts of " + h.from.String() + " to connect"
	}
	f.Text = fmt.Sprintf("%s did not acknowledge %s for at least %s: the same bytes were sent again %d times.", h.to, what,
		duration(longest.last.Time-longest.from), longest.again)
	switch back := r.Paths().Get(h.source, h.to, h.from); {
	case back == nil || back.Messages == 0:
		f.Text += " The capture has nothing that it sent."
	case float64(longest.passed.back) >= smallMessages.Value:
		f.Text += " Other messages from it arrived meanwhile."
	case back.Last.Time > f.Last:
		f.Text += " It answered again later, so it or the network between both was interrupted."
	default:
		f.Text += " Nothing came from it until the end of the capture."
	}
	for _, s := range p.silences {
		f.Prove(s.first, "%s sends bytes again that were not acknowledged", h.from)
		f.Prove(s.last, "the last of %d retransmissions of them", s.again)
	}
	return f
}

var _ = add(diagnose.Rule{
	Code:     "tcp.refused",
	Severity: diagnose.Warning,
	Noun:     "refused connection",
	Summary:  "A host refused TCP connections to the port of LNet: LNet does not run there.",
	Meaning: "A host answers an attempt to connect with RST when no program listens on the port. It is up, and LNet is not: it was not " +
		"started, or was stopped. " +
		"Nothing of this node can be used; clients try its failover partners, and connect again and again.",
	Limits:  "A firewall can refuse connections in the same way.",
	Next:    "On the host that refused: lctl list_nids, lsmod | grep lnet, and whether the node was restarted without starting its services.",
	Samples: []string{"crashed_server.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return followAborted(r, false, refusedFinding)
	},
})

func refusedFinding(r *diagnose.Reporter, h hostPair, p *abortedPair) diagnose.Finding {
	f := p.between(h, r.Paths())
	f.Node = hostNID(r.Paths(), h.from)
	f.Text = fmt.Sprintf("%s refused %s of %s to port %d: LNet does not run there.", h.from, plural(p.count, "connection"), h.to,
		p.port.Port())
	return f
}

var manyResets = &diagnose.Threshold{Name: "connections", Value: 4, Unit: "connections",
	Reason: "LNet uses three connections between two nodes, and aborts them once when a node is restarted"}

var _ = add(diagnose.Rule{
	Code:     "tcp.reset",
	Severity: diagnose.Warning,
	Noun:     "aborted connection",
	Summary:  "A host aborted connections of LNet.",
	Meaning: "A connection that ends with RST was aborted: by a host that no longer knows it, since it was restarted, by LNet when a peer " +
		"seems to be dead, or by a firewall. " +
		"LNet connects again; RPCs that were on their way are sent again after a timeout. A few are a note, more, or all between two nodes at " +
		"once, a warning.",
	Limits: "Who aborted the connection is known by the address of the segment; a firewall uses that of a host.",
	Next:   "Look at the console logs of both hosts at this time (LNetError, socklnd), and whether one of them was restarted (recovery.*).",

	Thresholds: []*diagnose.Threshold{manyResets},
	Samples: []string{"crashed_server.pcap.zst", "evicted_ping.pcap.zst", "late_recovery.pcap.zst", "late_recovery_client.pcap.zst",
		"missed_recovery.pcap.zst", "tcp_reset.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return followAborted(r, true, resetFinding)
	},
})

// socklndConns is how many connections two nodes have.
const socklndConns = 3

// abortedPair are the connections of a host that another aborted.
type abortedPair struct {
	series
	port netip.AddrPort // that the host was connected to
}

// followAborted follows the connections that hosts abort: those that were established, or those
// that were refused.
func followAborted(r *diagnose.Reporter, established bool,
	finding func(*diagnose.Reporter, hostPair, *abortedPair) diagnose.Finding) diagnose.Hooks {
	conns, pairs := fifo.NewMap[int, bool](maxStreams), fifo.NewMap[hostPair, *abortedPair](maxPairs)
	return diagnose.Hooks{TCPEvent: func(m *lnet.TCPEvent) {
		if !m.RST || isRefusal(m) == established {
			return
		}
		if _, known := conns.Get(m.Conn); known {
			return
		}
		conns.Put(m.Conn, true)
		p := fifo.GetOrNew(pairs, pairOf(m))
		if p.count == 0 {
			p.port = m.Src
		}
		does := "refuses"
		if established {
			does = "aborts"
		}
		p.note(pointOf(m), "%s %s a connection", m.Src.Addr(), does)
	}, End: func() {
		for h, p := range pairs.All {
			r.Report(finding(r, h, p))
		}
	}}
}

// isRefusal reports whether a reset answers a SYN: that has no acknowledgement, so the
// reset has the sequence number 0.
func isRefusal(m *lnet.TCPEvent) bool { return m.RST && m.Seq == 0 }

func resetFinding(r *diagnose.Reporter, h hostPair, p *abortedPair) diagnose.Finding {
	f := p.between(h, r.Paths())
	if from := hostNID(r.Paths(), h.from); f.Client.Len > 0 {
		f.Node = from
	} else { // of two servers, the other one may have been silent, or this one restarted
		f.Server = from
	}
	f.Severity = diagnose.Note
	f.Text = fmt.Sprintf("%s aborted %s to %s (RST). RPCs that were on their way have to be sent again.", h.from,
		plural(p.count, "connection"), h.to)
	there, back := r.Paths().Get(h.source, h.from, h.to), r.Paths().Get(h.source, h.to, h.from)
	atOnce := p.count >= socklndConns && p.last-p.first < inFlight && there != nil && back != nil && there.Messages > 0 && back.Messages > 0
	if float64(p.count) >= manyResets.Value || atOnce {
		f.Severity = diagnose.Warning
	}
	if atOnce && there.First.Time < p.first && there.Last.Time > p.last && back.Last.Time > p.last {
		f.Text += " Both hosts were up before and after it."
		f.Brief = fmt.Sprintf("%s aborted %s to %s at once (RST), though both hosts were up. Look on %s for who closed its sockets (LNet, ss "+
			"-K, a firewall), not at %s or the network.", h.from, plural(p.count, "connection"), h.to, h.from, h.to)
	}
	return f
}
