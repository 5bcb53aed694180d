package rules

import (
	"strconv"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/recovery"
)

var recoveryLate = &diagnose.Threshold{Name: "after the first client", Value: 10, Unit: "s", Reason: "Clients that lost a target try every five seconds, so all are usually back after ten."}

var _ = add(diagnose.Rule{
	Code:     "recovery.late",
	Severity: diagnose.Warning,
	Noun:     "delay of a recovery",
	Summary:  "Clients came late to a recovery, or not at all, and held up the others.",
	Meaning: "A restarted target takes new work when all clients that it had are back, or when the recovery window is over. A client that comes late makes all others wait; one that does not come at all makes them wait for the whole window, and is evicted. " +
		"The rule reports the client that connected last where that was long after the first one, and clients that were not seen again.",
	Limits: "Clients that did not come back are only known in captures of the server. A client on the node of the server itself is not captured.",
	Next:   "Look why this client came late: its console log, its list of server nodes, whether it was up. Imperative recovery tells clients when a target is back: lctl get_param mgs.MGS.live.* shows whether it is enabled.",

	Thresholds: []*diagnose.Threshold{recoveryLate},
	Samples:    []string{"late_recovery.pcap.zst", "rolled_back.pcap.zst"},
	Start: startRecoveries(func(v *recovery.Recovery, f *diagnose.Finding) bool {
		if v.Kind != recovery.Restart && v.Kind != recovery.Failover {
			return false
		}
		last := lastClient(v)
		late := last != nil
		_, atServer := v.Known()
		missing := missingClients(v)
		gone := atServer && len(missing) > 0
		if !late && !gone {
			return false
		}
		f.Text = "The recovery of " + v.Target + " on " + v.Server.String()
		if window, ok := v.Window(); ok {
			f.Text += " took " + duration(window) + "."
		} else {
			f.Text += " was held up."
		}
		if late {
			f.Client = last.Connection.Client
			f.Text += " " + f.Client.String() + " connected " + duration(last.Connected.Time-v.Back.Time) + " after the target was back, later than all others."
		}
		if gone {
			f.Text += " " + strconv.Itoa(len(missing)) + " of its clients did not come back: " + nodes(missing) + "."
		}
		f.Prove(v.Back, "the target accepts the first connect")
		if late {
			f.Prove(last.Connected, "%s connects, the last one", last.Connection.Client)
		}
		f.Prove(v.Completed, "the first client has recovered")
		return true
	}),
})

// lastClient returns the client for which a recovery waited, nil if there was none.
func lastClient(v *recovery.Recovery) *recovery.Client {
	if last := v.Last(); last != nil && last.Connected.Time-v.Back.Time >= recoveryLate.Nanoseconds() {
		return last
	}
	return nil
}
