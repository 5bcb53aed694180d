package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var _ = add(diagnose.Rule{
	Code:     "slow.client",
	Severity: diagnose.Warning,
	Summary:  "The RPCs of one client take far longer than those of the others.",
	Meaning: "The latencies of a client's RPCs are compared with those of the other clients: only the same operations, with about the same number of bytes, at the same targets. " +
		"Transfer of bulk data and network are included, as they may be what is slow. A client is reported if nearly all of its RPCs take longer than those of the others (a rank test), by a factor and by a time that matter.",
	Limits: "Only OST_READ, OST_WRITE, OST_SYNC, OST_STATFS, MDS_STATFS and MDS_READPAGE are compared, as others wait for locks or differ in what they do. In a capture on a server, the way from the client to the server is not part of the latency; see tcp.round_trip and tcp.retransmission. " +
		"A client that sends far more at a time than others waits for its own RPCs.",
	Next: "Look at the network of this client (tcp.*), its memory and CPU load, and whether its RPCs go through a router that others do not use.",

	Thresholds: []*diagnose.Threshold{comparedRPCs, comparedDeviations, comparedSuperiority, comparedRatio, comparedExcess},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		t := newWorkTimes()
		report := func() {
			for _, c := range t.compare(clientGroup) {
				if c.isFar() {
					r.Report(slowClientFinding(c))
				}
			}
		}
		return diagnose.Hooks{Opcodes: comparableOperations, Done: t.latency, Tick: func(int64) { report() }, End: report}
	},
})

// latency adds the latency of an RPC.
func (t *workTimes) latency(r *track.RPC) {
	if ns, ok := r.Latency(); ok && r.Connection != nil && !r.Failed() && r.Sends == 1 {
		t.add(r, ns)
	}
}

// clientGroup compares clients by what they ask of the same target.
func clientGroup(c *track.Connection) (member string, group comparisonGroup, ok bool) {
	return c.Client.String(), comparisonGroup{target: c.Target}, c.Target != "" && c.Client.Len > 0
}

func slowClientFinding(c *compared) diagnose.Finding {
	f := diagnose.Finding{Subject: diagnose.Subject{Client: c.conn.Client}, First: c.first, Last: c.last, Count: c.n,
		Text: fmt.Sprintf("The RPCs of %s take %.1f times as long as those of %s for the same operations at the same targets (%s).", c.member, c.ratio(), peersText(c.peers, "clients"), c.text())}
	c.slowest.prove(&f)
	return f
}
