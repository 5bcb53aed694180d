package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
)

var _ = add(diagnose.Rule{
	Code:     "tcp.refused",
	Severity: diagnose.Warning,
	Noun:     "refused connection",
	Summary:  "A host refused TCP connections to the port of LNet: LNet does not run there.",
	Meaning: "A host answers an attempt to connect with RST when no program listens on the port. It is up, and LNet is not: it was not started, or was stopped. " +
		"Nothing of this node can be used; clients try its failover partners, and connect again and again.",
	Limits:  "A firewall can refuse connections in the same way.",
	Next:    "On the host that refused: lctl list_nids, lsmod | grep lnet, and whether the node was restarted without starting its services.",
	Samples: []string{"crashed_server.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := newAborted(r, false)
		return diagnose.Hooks{TCPEvent: x.marked, End: func() { x.each(refusedFinding) }}
	},
})

func refusedFinding(r *diagnose.Reporter, h hostPair, p *abortedPair) diagnose.Finding {
	f := h.finding(r.Paths())
	f.Node = hostNID(r.Paths(), h.from)
	f.First, f.Last, f.Count = p.first, p.last, p.conns
	f.Text = fmt.Sprintf("%s refused %s of %s to port %d: LNet does not run there.", h.from, plural(p.conns, "connection"), h.to, p.port.Port())
	for _, at := range p.evidence {
		f.Prove(at, "%s refuses a connection", h.from)
	}
	return f
}
