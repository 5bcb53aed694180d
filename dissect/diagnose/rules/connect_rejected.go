package rules

import (
	"net/netip"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:     "connect.rejected",
	Severity: diagnose.Error,
	Noun:     "refused connect",
	Summary:  "A node refused InfiniBand connections of LNet.",
	Meaning: "Before a node sends anything over o2iblnd, the connection manager of InfiniBand makes a connection. The other node may " +
		"refuse it, with a reason of its own or of the connection manager: nothing listens there, out of memory, parameters that do not match. " +
		"The rule reports pairs of nodes with such refusals and no connection by the end of the capture, or only after several seconds. " +
		"Two nodes that connect to each other at once, and a node that has restarted, are not reported.",
	Limits: "Nodes try other parameters by themselves after a refusal for these.",
	Next: "lnetctl net show -v on both nodes: map_on_demand, peer_credits and concurrent_sends of o2iblnd must fit together. " +
		"INVALID_SERVICE_ID and INVALID_SRV_ID mean that LNet is not up on that interface; the console logs of both nodes have the rest.",
	Thresholds: []*diagnose.Threshold{connectSoon},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		pairs := fifo.NewMap[addressPair, *rejection](maxAttempts)
		return diagnose.Hooks{Message: func(_ *track.RPC, m *dissect.Message) {
			if m.Kind != lnet.Connrej && m.Kind != lnet.Connack {
				return
			}
			k := addressPair{m.Dst.Addr(), m.Src.Addr()}
			v, ok := fifo.Get(pairs, k)
			if m.Kind == lnet.Connack {
				if ok {
					v.connected = track.PointOf(m)
				}
				return
			}
			if m.IB == nil || m.IB.SrcQP != 0 {
				return // the node that has asked for the connection gives up
			}
			reason, doc := opcodes.Refusal(m.IB.Reject, m.Data)
			if reason == "CONN_RACE" || reason == "CONN_STALE" || reason == "STALE_CONN" {
				return
			}
			if !ok {
				v = &rejection{client: m.LNet.Dst, server: m.LNet.Src}
				fifo.Put(pairs, k, v)
			}
			v.add(track.PointOf(m))
			v.connected, v.reason, v.doc = track.Point{}, reason, doc
		}, End: func() {
			for k, v := range fifo.All(pairs) {
				wait := v.connected.Time - v.first.Time
				switch {
				case !isSet(v.connected):
					r.Report(v.finding(k, diagnose.Error, " There was no connection by the end of the capture."))
				case wait >= connectSoon.Nanoseconds():
					f := v.finding(k, diagnose.Warning, " Connected "+duration(wait)+" after the first refusal.")
					f.CompareTime(connectSoon, wait)
					r.Report(f)
				}
			}
		}}
	},
})

// addressPair is two nodes: the one that connects, and the one that refuses.
type addressPair struct{ client, server netip.Addr }

// rejection is what a pair of nodes has in refusals.
type rejection struct {
	run
	client, server lnet.NID // the zero NID: unknown
	reason, doc    string
	connected      track.Point // after the last
}

func (v *rejection) finding(k addressPair, s diagnose.Severity, outcome string) diagnose.Finding {
	f := v.run.finding(diagnose.Subject{Client: v.client, Server: v.server}, "the first refusal", "the last one")
	f.Key, f.Severity = k.client.String()+" "+k.server.String(), s
	f.Text = nodeName(v.server, k.server) + " refused " + plural(v.count, "InfiniBand connection") + " of " + nodeName(v.client, k.client)
	if v.reason != "" {
		f.Text += ": " + v.reason
		if v.doc != "" {
			f.Text += ", " + v.doc
		}
	}
	f.Text += "." + outcome
	f.Prove(v.connected, "a connection is accepted")
	suspect(&f, atConfig(v.server), atNode(v.server))
	return f
}

// nodeName returns a NID, or the address of a node whose NID is unknown.
func nodeName(n lnet.NID, a netip.Addr) string {
	if n == (lnet.NID{}) {
		return a.String()
	}
	return n.String()
}
