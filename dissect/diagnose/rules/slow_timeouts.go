package rules

import (
	"fmt"
	"strconv"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// isContext reports whether an operation is about a security context.
func isContext(opcode uint32) bool {
	return opcode == opcodes.SEC_CTX_INIT || opcode == opcodes.SEC_CTX_INIT_CONT || opcode == opcodes.SEC_CTX_FINI
}

var (
	longEstimate = &diagnose.Threshold{Name: "estimate", Value: 30, Unit: "s",
		Reason: "a server begins with 5 s (at_min) and raises it only when RPCs took longer"}
	raisedEstimate = &diagnose.Threshold{Name: "ratio", Value: 2, Unit: "times the least estimate of the connection",
		Reason: "at_min may be set to a high value, and then nothing was raised"}
)

var _ = add(diagnose.Rule{
	Code:       "slow.timeouts",
	Severity:   diagnose.Note,
	Background: true,
	Summary:    "Adaptive timeouts have grown: some RPCs of the last minutes took very long.",
	Meaning: "With each reply a server tells how long its RPCs take at most, as seen in the last minutes (adaptive timeouts). Clients wait " +
		"that long, and a quarter more, before they give up. " +
		"A high estimate shows that RPCs were slow before, perhaps before the capture began, and it makes clients slow to notice that a " +
		"server is gone.",
	Limits: "The estimate is of a service of the server, and not of a single target. Which RPCs were slow does not show in it. The " +
		"estimates in replies to connects and to requests for security contexts do not count.",
	Next: "lctl get_param *.*.timeouts on client and server shows the history of the estimates; slow.changed and slow.wait " +
		"whether RPCs are slow now.",

	Thresholds: []*diagnose.Threshold{longEstimate, raisedEstimate},
	Samples:    []string{"black_hole.pcap.zst", "checksum.pcap.zst", "eio.pcap.zst", "enospc.pcap.zst", "evicted.pcap.zst", "evicted_ping.pcap.zst", "failback.pcap.zst", "failover.pcap.zst", "hung_target.pcap.zst", "late_recovery.pcap.zst", "late_recovery_client.pcap.zst", "lost_in_lnet.pcap.zst", "lost_replies.pcap.zst", "no_recovery.pcap.zst", "partition.pcap.zst", "rdma_loss.pcap.zst", "slow_client.pcap.zst", "slow_mdt.pcap.zst", "slow_network.pcap.zst", "slow_target.pcap.zst", "two_faults.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(reporter *diagnose.Reporter) diagnose.Hooks {
		connections := fifo.NewMap[*track.Connection, *estimateRange](maxTargets)
		return diagnose.Hooks{Done: func(r *track.RPC) {
			if r.Connection == nil || r.Estimate == 0 || opcodes.IsCallback(r.Opcode) || opcodes.IsConnect(r.Opcode) || !r.HasOpcode ||
				isContext(r.Opcode) {
				return
			}
			t := fifo.GetOrNew(connections, r.Connection)
			if t.least == 0 || r.Estimate < t.least {
				t.least = r.Estimate
			}
			if float64(r.Estimate) < longEstimate.Value {
				return
			}
			if t.long == 0 {
				t.first = r.Replied().Time
			}
			t.long++
			t.last = r.Replied().Time
			if r.Estimate > t.most {
				t.most, t.at, t.opcode = r.Estimate, r.Replied(), r.Opcode
			}
		}, End: func() {
			servers := fifo.NewMap[lnet.NID, *estimateRange](maxTargets) // as an estimate is not of a single target
			for c, t := range fifo.All(connections) {
				fifo.GetOrNew(servers, c.Server).join(t)
			}
			for server, t := range fifo.All(servers) {
				if t.long > 0 && float64(t.most) >= raisedEstimate.Value*float64(t.least) {
					f := t.finding(server)
					f.Compare(longEstimate, float64(t.most))
					f.Compare(raisedEstimate, float64(t.most)/float64(t.least))
					reporter.Report(f)
				}
			}
		}}
	},
})

// estimateRange are the estimates of a connection in seconds.
type estimateRange struct {
	least, most uint32
	long        int64 // RPCs with a long one
	first, last int64
	at          track.Point // reply with the highest
	opcode      uint32      // of this RPC
}

// join adds the estimates of another connection.
func (t *estimateRange) join(o *estimateRange) {
	if o.least != 0 && (t.least == 0 || o.least < t.least) {
		t.least = o.least
	}
	if o.long > 0 && (t.long == 0 || o.first < t.first) {
		t.first = o.first
	}
	t.last, t.long = max(t.last, o.last), t.long+o.long
	if o.most > t.most {
		t.most, t.at, t.opcode = o.most, o.at, o.opcode
	}
}

func (t *estimateRange) finding(server lnet.NID) diagnose.Finding {
	f := diagnose.Finding{Subject: diagnose.Subject{Server: server}, First: t.first, Last: t.last, Count: t.long,
		Text: fmt.Sprintf("%s expects some of its RPCs to take up to %d s, while %d s is the least that it says: in the minutes before, some "+
			"took that long. Clients wait for %d s or longer before they give up.",
			server, t.most, t.least, t.most+t.most/4)}
	f.Prove(t.at, "a reply (%s) with an estimate of %d s", operationText(t.opcode), t.most)
	return f
}

// ofThem refers to n of all RPCs.
func ofThem(n, all int) string {
	if all == 1 {
		return "it"
	}
	return strconv.Itoa(n) + " of them"
}
