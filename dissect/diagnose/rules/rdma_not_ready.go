package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
)

var notReadyPackets = &diagnose.Threshold{Name: "packets", Value: 3, Unit: "packets",
	Reason: "o2iblnd sends only as many messages as the receiver has buffers for, so this never happens while both are well"}

var _ = add(diagnose.Rule{
	Code:     "rdma.not_ready",
	Severity: diagnose.Warning,
	Summary:  "A host had no receive buffers for messages over InfiniBand (RNR).",
	Meaning: "The network card refuses a message with \"receiver not ready\" when no buffer was posted for it, and the sender tries again after a while. " +
		"o2iblnd counts credits so that this does not happen: the host is so busy that it does not post buffers in time, or both count differently.",
	Limits: "How long the sender waits before it tries again depends on the receiver's timer, and is part of the latency.",
	Next:   "CPU load and memory of the host that was not ready; peer_credits and concurrent_sends of ko2iblnd, which should be equal on all nodes (lnetctl net show -v).",

	Thresholds: []*diagnose.Threshold{notReadyPackets},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := newRefusedPackets(r)
		report := func() {
			x.pairs.All(func(key refusedKey, pair *refusedPair) bool {
				if float64(pair.n) >= notReadyPackets.Value {
					f := x.finding(key, pair, "receiver not ready")
					f.Text = fmt.Sprintf("%s had no receive buffers for %s of %s, which had to be sent again.", key.to, plural(pair.n, "message"), key.from)
					r.Report(f)
				}
				return true
			})
		}
		return diagnose.Hooks{Nak: func(p *lnet.Nak) {
			if p.Syndrome.RNR() {
				x.add(p, 0)
			}
		}, Tick: func(int64) { report() }, End: report}
	},
})
