package rules

import (
	"fmt"
	"net/netip"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

var nakPackets = &diagnose.Threshold{Name: "packets", Value: 10, Unit: "packets",
	Reason: "a few packets are lost in every Ethernet; errors that end the connection count from the first"}

var _ = add(diagnose.Rule{
	Code:     "rdma.nak",
	Severity: diagnose.Warning,
	Summary:  "A host refused InfiniBand packets of another.",
	Meaning: "The network card of the receiver answers a packet that it cannot accept with a NAK. \"PSN sequence error\" means that packets before it were lost: the sender sends all from there on again. " +
		"The other reasons (remote access error, invalid request, remote operational error) end the connection, as memory that is not open, or a request that the receiver does not know, is an error of a driver.",
	Limits: "Lost packets that are sent again after a timeout, without a NAK, are not counted.",
	Next:   "For lost packets over RoCE: check that flow control (PFC or ECN) is configured in the same way on hosts and switches, and the discard counters (ethtool -S, rdma statistic). For the other reasons: console logs of both hosts (o2iblnd), firmware and driver versions.",

	Thresholds: []*diagnose.Threshold{nakPackets},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := newRefusedPackets(r)
		return diagnose.Hooks{Nak: func(p *lnet.Nak) {
			if reason, refused := p.Syndrome.NAK(); refused {
				x.add(p, reason)
			}
		}, Tick: func(int64) { x.naks() }, End: x.naks}
	},
})

// refusedPackets are negative acknowledgements, by the hosts and the reason.
type refusedPackets struct {
	report *diagnose.Reporter
	pairs  *fifo.Map[refusedKey, *refusedPair]
}

// refusedKey is why a host refused packets of another.
type refusedKey struct {
	hostPair
	reason ib.NAK // 0 for a receiver that was not ready
}

// refusedPair are the packets of a host that another refused.
type refusedPair struct {
	n           int64
	first, last int64
	evidence    []track.Point
}

func newRefusedPackets(r *diagnose.Reporter) *refusedPackets {
	return &refusedPackets{r, fifo.NewMap[refusedKey, *refusedPair](maxPairs)}
}

func (x *refusedPackets) add(p *lnet.Nak, reason ib.NAK) {
	key := refusedKey{hostPair{p.Source, p.Src.Addr(), p.Dst.Addr()}, reason}
	pair, ok := x.pairs.Get(key)
	if !ok {
		pair = &refusedPair{first: p.Time}
		x.pairs.Put(key, pair)
	}
	pair.n++
	pair.last = p.Time
	if len(pair.evidence) < retransmitProofs {
		pair.evidence = append(pair.evidence, track.Point{Frame: p.Number, File: p.File, Time: p.Time})
	}
}

// finding returns a finding about a pair without its text.
func (x *refusedPackets) finding(key refusedKey, pair *refusedPair, what string) diagnose.Finding {
	f := key.finding(x.report.Paths())
	f.First, f.Last, f.Count = pair.first, pair.last, pair.n
	f.Key += " " + key.reason.String()
	for _, at := range pair.evidence {
		f.Prove(at, "%s: %s", key.to, what)
	}
	return f
}

func (x *refusedPackets) naks() {
	x.pairs.All(func(key refusedKey, pair *refusedPair) bool {
		lost := key.reason == ib.SequenceError
		if lost && float64(pair.n) < nakPackets.Value {
			return true
		}
		f := x.finding(key, pair, "NAK, "+key.reason.String())
		f.Text = fmt.Sprintf("%s refused %s of %s: %s.", key.to, plural(pair.n, "packet"), key.from, key.reason)
		if lost {
			f.Text += " Packets before them were lost on the way, and had to be sent again."
		} else {
			f.Text += " That ends the connection."
		}
		x.report.Report(f)
		return true
	})
}

// lostPackets are packets of InfiniBand that were refused, and so sent again.
type lostPackets struct{ list []lostPacket }

type lostPacket struct {
	at   int64
	a, b netip.Addr
}

const maxLostPackets = 1 << 10 // the last ones

func (l *lostPackets) refused(p *lnet.Nak) {
	if len(l.list) >= maxLostPackets {
		l.list = append(l.list[:0], l.list[maxLostPackets/2:]...)
	}
	l.list = append(l.list, lostPacket{p.Time, p.Src.Addr(), p.Dst.Addr()})
}

// during reports whether packets between the nodes of an RPC were refused while it lasted.
func (l *lostPackets) during(r *track.RPC) bool {
	from, to := r.Begin(), r.Replied().Time
	for i := range l.list {
		if p := &l.list[i]; p.at >= from && p.at <= to && (isOf(r.Client, p.a) && isOf(r.Server, p.b) || isOf(r.Client, p.b) && isOf(r.Server, p.a)) {
			return true
		}
	}
	return false
}

// isOf reports whether a NID has the address of a host.
func isOf(n lnet.NID, host netip.Addr) bool {
	a, ok := netip.AddrFromSlice(n.Addr[:n.Len])
	return ok && a == host
}
