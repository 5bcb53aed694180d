package rules

import (
	"fmt"

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
		return followRefused(r, nakPackets, func(p *lnet.IBEvent) (ib.NAK, string, bool) {
			reason, refused := p.Syndrome.NAK()
			return reason, "NAK, " + reason.String(), refused
		}, func(key refusedKey, pair *series, f *diagnose.Finding) {
			from, to := hostNID(r.Paths(), key.from), hostNID(r.Paths(), key.to)
			suspect(f, onPath(from, to))
			if key.reason != ib.SequenceError {
				suspect(f, atNode(from), atNode(to))
			}
			f.Text = fmt.Sprintf("%s refused %s of %s: %s.", key.to, plural(pair.count, "packet"), key.from, key.reason)
			if key.reason != ib.SequenceError {
				f.Text += " That ends the connection."
				return
			}
			f.Text += " Packets before them were lost on the way, and had to be sent again."
			f.Brief = fmt.Sprintf("Packets from %s to %s were lost on the way: %s asked for them again %d times (NAK, %s). Look at flow control "+
				"(PFC, ECN) and at the discard counters of hosts and switches, not at the servers.",
				key.from, key.to, key.to, pair.count, key.reason)
		})
	},
})

var unansweredRequests = &diagnose.Threshold{Name: "requests", Value: 3, Unit: "requests",
	Reason: "a request for a connection is sent again after four seconds: one may be lost in any network"}

var _ = add(diagnose.Rule{
	Code:     "rdma.no_answer",
	Severity: diagnose.Warning,
	Noun:     "unanswered request",
	Summary:  "A host did not answer requests for InfiniBand connections.",
	Meaning: "Before a node sends anything over o2iblnd, the connection manager of InfiniBand asks the other node for a connection, again and again " +
		"until there is an answer. Even a host without LNet refuses. The rule reports hosts of which the capture has no message, although they were asked.",
	Limits: "Whether the host is down, or the network between both, cannot be told from one capture. A host that sent something before is " +
		"reported as silent (node.silent).",
	Next: "Is the host up, and the link of its adapter (ibstat, rdma link)? Does it answer ping to the same address? Over RoCE, " +
		"UDP port 4791 must not be filtered.",
	Thresholds: []*diagnose.Threshold{unansweredRequests},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		type asked struct {
			series
			diagnose.Subject
		}
		pairs := fifo.NewMap[hostPair, *asked](maxPairs)
		return diagnose.Hooks{Message: func(_ *track.RPC, m *dissect.Message) {
			if m.Kind == lnet.Connreq && m.IB != nil && len(m.IB.Headers) > 0 {
				from := m.Src.Addr()
				pair := fifo.GetOrNew(pairs, hostPair{m.Source, from, m.Dst.Addr()})
				pair.note(track.PointOf(m), "%s asks for a connection", from)
				pair.Client, pair.Server = m.LNet.Src, m.LNet.Dst
			}
		}, End: func() {
			for h, pair := range fifo.All(pairs) {
				back := r.Paths().Get(h.source, h.to, h.from)
				if float64(pair.count) < unansweredRequests.Value || back != nil && back.Messages > 0 {
					continue
				}
				f := pair.between(h, r.Paths())
				f.Subject = pair.Subject
				f.Compare(unansweredRequests, float64(pair.count))
				f.Text = fmt.Sprintf("%s did not answer %s of %s for an InfiniBand connection in %s. The capture has nothing that it sent.",
					nodeName(pair.Server, h.to), plural(pair.count, "request"), nodeName(pair.Client, h.from), duration(f.Last-f.First))
				suspect(&f, atNode(f.Node), onPath(hostNID(r.Paths(), h.from), f.Node))
				r.Report(f)
			}
		}}
	},
})

// refusedKey is why a host refused packets of another.
type refusedKey struct {
	hostPair
	reason ib.NAK // 0 for a receiver that was not ready
}

// followRefused counts the packets that is selects, by the hosts and the reason, and reports pairs
// of hosts with so many of them, or with any that end the connection.
func followRefused(r *diagnose.Reporter, least *diagnose.Threshold, is func(*lnet.IBEvent) (reason ib.NAK, what string, ok bool),
	describe func(refusedKey, *series, *diagnose.Finding)) diagnose.Hooks {
	pairs := fifo.NewMap[refusedKey, *series](maxPairs)
	report := func() {
		for key, pair := range fifo.All(pairs) {
			if key.reason == ib.SequenceError && float64(pair.count) < least.Value {
				continue
			}
			f := pair.between(key.hostPair, r.Paths())
			f.Key += " " + key.reason.String()
			if key.reason == ib.SequenceError {
				f.Compare(least, float64(pair.count))
			}
			describe(key, pair, &f)
			r.Report(f)
		}
	}
	return diagnose.Hooks{IBEvent: func(p *lnet.IBEvent) {
		if reason, what, ok := is(p); ok {
			key := refusedKey{hostPair{p.Source, p.Src.Addr(), p.Dst.Addr()}, reason}
			fifo.GetOrNew(pairs, key).note(track.Point{Frame: p.Number, File: p.File, Time: p.Time}, "%s: %s", key.to, what)
		}
	}, Tick: func(int64) { report() }, End: report}
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
		return followRefused(r, notReadyPackets, func(p *lnet.IBEvent) (ib.NAK, string, bool) { return 0, "receiver not ready", p.Syndrome.RNR() },
			func(key refusedKey, pair *series, f *diagnose.Finding) {
				f.Text = fmt.Sprintf("%s had no receive buffers for %s of %s, which had to be sent again.", key.to, plural(pair.count, "message"),
					key.from)
				suspect(f, atNode(f.Node))
			})
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
		pairs := fifo.NewMap[failedKey, *series](maxPairs)
		return diagnose.Hooks{Message: func(_ *track.RPC, m *dissect.Message) {
			if m.IB != nil && m.IB.Status < 0 {
				key := failedKey{hostPair{m.Source, m.Src.Addr(), m.Dst.Addr()}, m.IB.Status}
				fifo.GetOrNew(pairs, key).note(track.PointOf(m), "a transfer ends with %s", key.name())
			}
		}, End: func() {
			for key, pair := range fifo.All(pairs) {
				f := pair.between(key.hostPair, r.Paths())
				f.Text = fmt.Sprintf("%s of bulk data from %s to %s failed (%s). Their RPCs have to be sent again.", plural(pair.count, "transfer"),
					key.from, key.to, key.name())
				f.Key += " " + key.name()
				suspect(&f, atNode(hostNID(r.Paths(), key.from)), atNode(f.Node), onPath(hostNID(r.Paths(), key.from), f.Node))
				r.Report(f)
			}
		}}
	},
})

// failedKey is an error of transfers from a host to another.
type failedKey struct {
	hostPair
	status int32
}

func (k failedKey) name() string { return string(schema.AppendErrno(nil, k.status)) }

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
		pairs := fifo.NewMap[hostPair, *series](maxPairs)
		one := fifo.NewMap[stream, bool](maxStreams) // those with one credit left
		return diagnose.Hooks{Message: func(_ *track.RPC, m *dissect.Message) {
			if m.IB == nil || m.IB.Credits < 0 || m.IB.Credits > 1 {
				return
			}
			way := stream{m.Conn, m.Src}
			if m.IB.Credits == 1 {
				fifo.Put(one, way, true)
				return
			}
			if _, had := fifo.Delete(one, way); had { // else what returned some was not captured
				fifo.GetOrNew(pairs, hostPair{m.Source, m.Src.Addr(), m.Dst.Addr()}).note(track.PointOf(m), "a message uses the last credit")
			}
		}, End: func() {
			for key, pair := range fifo.All(pairs) {
				path := r.Paths().Get(key.source, key.from, key.to)
				if path == nil || float64(pair.count) < lastCredits.Value || float64(pair.count) < lastCreditShare.Value*float64(path.Messages) {
					continue
				}
				f := pair.between(key, r.Paths())
				f.Text = fmt.Sprintf("%d of %d messages of %s to %s used the last credit, so that the next one had to wait until %s returned some.",
					pair.count, path.Messages, key.from, key.to, key.to)
				f.Compare(lastCredits, float64(pair.count))
				f.Compare(lastCreditShare, float64(pair.count)/float64(path.Messages))
				suspect(&f, atConfig(f.Node), atNode(f.Node))
				r.Report(f)
			}
		}}
	},
})
