package rules

import (
	"fmt"
	"net/netip"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes/schema"
)

var nakPackets = &diagnose.Threshold{Name: "packets", Value: 10, Unit: "packets",
	Reason: "a few packets are lost in every Ethernet; errors that end the connection count from the first"}

var _ = add(diagnose.Rule{
	Code:     "rdma.nak",
	Severity: diagnose.Warning,
	Noun:     "refused packet",
	Summary:  "A host refused InfiniBand packets of another.",
	Meaning: "The network card of the receiver answers a packet that it cannot accept with a NAK. \"PSN sequence error\" means that " +
		"packets before it were lost: the sender sends all from there on again. " +
		"The other reasons (remote access error, invalid request, remote operational error) end the connection, as memory that is not open, " +
		"or a request that the receiver does not know, is an error of a driver.",
	Limits: "Lost packets that are sent again after a timeout, without a NAK, are not counted.",
	Next: "For lost packets over RoCE: check that flow control (PFC or ECN) is configured in the same way on hosts and switches, and the " +
		"discard counters (ethtool -S, rdma statistic). For the other reasons: console logs of both hosts (o2iblnd), firmware and driver versions.",

	Thresholds: []*diagnose.Threshold{nakPackets},
	Samples:    []string{"rdma_loss.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := newRefusedPackets(r)
		return diagnose.Hooks{IBEvent: func(p *lnet.IBEvent) {
			if reason, refused := p.Syndrome.NAK(); refused {
				x.add(p, reason, "NAK, "+reason.String())
			}
		}, Tick: func(int64) { x.naks() }, End: x.naks}
	},
})

// refusedPackets are negative acknowledgements, by the hosts and the reason.
type refusedPackets struct {
	report *diagnose.Reporter
	pairs  *fifo.Map[refusedKey, *series]
}

// refusedKey is why a host refused packets of another.
type refusedKey struct {
	hostPair
	reason ib.NAK // 0 for a receiver that was not ready
}

func newRefusedPackets(r *diagnose.Reporter) *refusedPackets {
	return &refusedPackets{r, fifo.NewMap[refusedKey, *series](maxPairs)}
}

func (x *refusedPackets) add(p *lnet.IBEvent, reason ib.NAK, what string) {
	key := refusedKey{hostPair{p.Source, p.Src.Addr(), p.Dst.Addr()}, reason}
	pair := fifo.GetOrNew(x.pairs, key)
	pair.add(p.Time)
	pair.prove(track.Point{Frame: p.Number, File: p.File, Time: p.Time}, "%s: %s", key.to, what)
}

// finding returns a finding about a pair without its text.
func (x *refusedPackets) finding(key refusedKey, pair *series) diagnose.Finding {
	f := key.finding(x.report.Paths())
	pair.describe(&f)
	f.Key += " " + key.reason.String()
	return f
}

func (x *refusedPackets) naks() {
	x.pairs.All(func(key refusedKey, pair *series) bool {
		lost := key.reason == ib.SequenceError
		if lost && float64(pair.count) < nakPackets.Value {
			return true
		}
		f := x.finding(key, pair)
		f.Text = fmt.Sprintf("%s refused %s of %s: %s.", key.to, plural(pair.count, "packet"), key.from, key.reason)
		if lost {
			f.Text += " Packets before them were lost on the way, and had to be sent again."
			f.Brief = fmt.Sprintf("Packets from %s to %s were lost on the way: %s asked for them again %d times (NAK, %s). Look at flow control "+
				"(PFC, ECN) and at the discard counters of hosts and switches, not at the servers.",
				key.from, key.to, key.to, pair.count, key.reason)
		} else {
			f.Text += " That ends the connection."
		}
		x.report.Report(f)
		return true
	})
}

// lostPackets are packets of InfiniBand that were refused or sent again.
type lostPackets struct{ list []lostPacket }

type lostPacket struct {
	at   int64
	a, b netip.Addr
}

const maxLostPackets = 1 << 10 // the last ones

func (l *lostPackets) event(p *lnet.IBEvent) {
	if len(l.list) >= maxLostPackets {
		l.list = append(l.list[:0], l.list[maxLostPackets/2:]...)
	}
	l.list = append(l.list, lostPacket{p.Time, p.Src.Addr(), p.Dst.Addr()})
}

// during reports whether packets between the nodes of an RPC were refused or sent again while it lasted.
func (l *lostPackets) during(r *track.RPC) bool { return l.since(r.Begin(), r) }

// since reports the same for the time from a moment to the reply.
func (l *lostPackets) since(from int64, r *track.RPC) bool {
	to := r.Replied().Time
	for i := range l.list {
		if p := &l.list[i]; p.at >= from && p.at <= to && (isOf(r.Client, p.a) && isOf(r.Server, p.b) || isOf(r.Client, p.b) &&
			isOf(r.Server, p.a)) {
			return true
		}
	}
	return false
}

func isOf(n lnet.NID, host netip.Addr) bool {
	a, ok := netip.AddrFromSlice(n.Addr[:n.Len])
	return ok && a == host
}

var notReadyPackets = &diagnose.Threshold{Name: "packets", Value: 3, Unit: "packets",
	Reason: "o2iblnd sends only as many messages as the receiver has buffers for, so this never happens while both are well"}

var _ = add(diagnose.Rule{
	Code:     "rdma.not_ready",
	Severity: diagnose.Warning,
	Noun:     "refused packet",
	Summary:  "A host had no receive buffers for messages over InfiniBand (RNR).",
	Meaning: "The network card refuses a message with \"receiver not ready\" when no buffer was posted for it, and the sender tries again " +
		"after a while. " +
		"o2iblnd counts credits so that this does not happen: the host is so busy that it does not post buffers in time, or both count " +
		"differently.",
	Limits: "How long the sender waits before it tries again depends on the receiver's timer, and is part of the latency.",
	Next: "CPU load and memory of the host that was not ready; peer_credits and concurrent_sends of ko2iblnd, which should be equal on " +
		"all nodes (lnetctl net show -v).",

	Thresholds: []*diagnose.Threshold{notReadyPackets},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := newRefusedPackets(r)
		report := func() {
			x.pairs.All(func(key refusedKey, pair *series) bool {
				if float64(pair.count) >= notReadyPackets.Value {
					f := x.finding(key, pair)
					f.Text = fmt.Sprintf("%s had no receive buffers for %s of %s, which had to be sent again.", key.to, plural(pair.count, "message"),
						key.from)
					r.Report(f)
				}
				return true
			})
		}
		return diagnose.Hooks{IBEvent: func(p *lnet.IBEvent) {
			if p.Syndrome.RNR() {
				x.add(p, 0, "receiver not ready")
			}
		}, Tick: func(int64) { report() }, End: report}
	},
})

var _ = add(diagnose.Rule{
	Code:     "rdma.transfer",
	Severity: diagnose.Warning,
	Noun:     "failed transfer",
	Summary:  "Transfers of bulk data by RDMA failed.",
	Meaning: "o2iblnd negotiates a transfer (PUT_REQ or GET_REQ) and reports its end with a status. A negative status is an error of the " +
		"node that had to write or to accept the data: " +
		"it had no memory region or no buffer for it, or the connection failed. The RPC has to be sent again.",
	Limits: "What the node failed at is only known by the number of the error.",
	Next:   "The console log of the node that reports the error (o2iblnd) at this time, and its memory.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := &failedTransfers{report: r, pairs: fifo.NewMap[failedKey, *series](maxPairs)}
		return diagnose.Hooks{Message: x.message, End: x.end}
	},
})

// failedTransfers are the RDMA transfers with an error.
type failedTransfers struct {
	report *diagnose.Reporter
	pairs  *fifo.Map[failedKey, *series]
}

// failedKey is an error of transfers from a host to another.
type failedKey struct {
	hostPair
	status int32
}

func (k failedKey) name() string { return string(schema.AppendErrno(nil, k.status)) }

func (x *failedTransfers) message(_ *track.RPC, m *dissect.Message) {
	if m.IB == nil || m.IB.Status >= 0 {
		return
	}
	key := failedKey{hostPair{m.Source, m.Src.Addr(), m.Dst.Addr()}, m.IB.Status}
	pair := fifo.GetOrNew(x.pairs, key)
	pair.add(m.Time)
	pair.prove(track.PointOf(m), "a transfer ends with %s", key.name())
}

func (x *failedTransfers) end() {
	x.pairs.All(func(key failedKey, pair *series) bool {
		name := key.name()
		f := key.finding(x.report.Paths())
		pair.describe(&f)
		f.Text = fmt.Sprintf("%s of bulk data from %s to %s failed (%s). Their RPCs have to be sent again.", plural(pair.count, "transfer"),
			key.from, key.to, name)
		f.Key += " " + name
		x.report.Report(f)
		return true
	})
}

var (
	lastCredits = &diagnose.Threshold{Name: "messages", Value: 20, Unit: "messages",
		Reason: "a burst may use all credits now and then"}
	lastCreditShare = &diagnose.Threshold{Name: "share", Value: 0.05, Unit: "of the messages",
		Reason: "below that, waiting for credits does not matter for the whole"}
)

var _ = add(diagnose.Rule{
	Code:     "rdma.credits",
	Severity: diagnose.Note,
	Noun:     "wait for credits",
	Summary:  "A host often used its last credit: it had to wait before it could send more.",
	Meaning: "o2iblnd may send as many messages to a peer as it has credits; the peer returns them as it posts buffers again. " +
		"A message that uses the last credit means that others may wait behind it, in the sender's queue.",
	Limits: "Whether other messages were waiting cannot be seen. Credits are known from the connect on: of connections that were made " +
		"before the capture began, only as far as messages show them.",
	Next: "lctl get_param peers on the sender (a negative min in the column of tx); raise peer_credits and map_on_demand of ko2iblnd on " +
		"all nodes in the same way.",

	Thresholds: []*diagnose.Threshold{lastCredits, lastCreditShare},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := &usedCredits{report: r, pairs: fifo.NewMap[hostPair, *series](maxPairs), one: fifo.NewMap[stream, bool](maxStreams)}
		return diagnose.Hooks{Message: x.message, End: x.end}
	},
})

// usedCredits counts the messages that use the last credit.
type usedCredits struct {
	report *diagnose.Reporter
	pairs  *fifo.Map[hostPair, *series]
	one    *fifo.Map[stream, bool] // those with one credit left
}

func (x *usedCredits) message(_ *track.RPC, m *dissect.Message) {
	if m.IB == nil || m.IB.Credits < 0 || m.IB.Credits > 1 {
		return
	}
	way := stream{m.Conn, m.Src}
	if m.IB.Credits == 1 {
		x.one.Put(way, true)
		return
	}
	if _, had := x.one.Delete(way); !had {
		return // without a credit before: what returned some was not captured
	}
	key := hostPair{m.Source, m.Src.Addr(), m.Dst.Addr()}
	pair := fifo.GetOrNew(x.pairs, key)
	pair.add(m.Time)
	pair.prove(track.PointOf(m), "a message uses the last credit")
}

func (x *usedCredits) end() {
	x.pairs.All(func(key hostPair, pair *series) bool {
		path := x.report.Paths().Get(key.source, key.from, key.to)
		if path == nil || float64(pair.count) < lastCredits.Value || float64(pair.count) < lastCreditShare.Value*float64(path.Messages) {
			return true
		}
		f := key.finding(x.report.Paths())
		pair.describe(&f)
		f.Text = fmt.Sprintf("%d of %d messages of %s to %s used the last credit, so that the next one had to wait until %s returned some.",
			pair.count, path.Messages, key.from, key.to, key.to)
		x.report.Report(f)
		return true
	})
}
