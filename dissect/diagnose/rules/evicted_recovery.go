package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/evictions"
)

var _ = add(diagnose.Rule{
	Code:     "evicted.recovery",
	Severity: diagnose.Error,
	Noun:     "eviction",
	Summary:  "A client was evicted because it did not recover in time from the restart of a target.",
	Meaning: "A target that is started again waits for the clients that it had: each connects, and replays what the server may have lost. Clients that do not finish before the recovery ends are evicted. " + evictionMeaning +
		"The rule looks for evicted clients whose target was restarted meanwhile: it grants another instance than before, it was not there when the client tried, or the client had begun to recover. " +
		"The MGS has no recovery: clients that it does not know any more are evicted, which costs them nothing.",
	Limits: evictionLimits + "Why a client was late is not always in the capture. A target that is mounted with abort_recov has no recovery at all.",
	Next: "lshark recovery shows who came back when. Compare the recovery window of the target (recovery_time_soft, recovery_time_hard) with how long its failover takes, and look why this client came late: " +
		"its console log, its list of server nodes, its network.",
	Samples: []string{"missed_recovery.pcap.zst", "no_recovery.pcap.zst"},
	Start: startEvictions(evictions.Recovery, func(e *evictions.Eviction, f *diagnose.Finding) {
		restarted := evictedFrom(e).String() + " was restarted" + instanceText(e.Before, e.Instance)
		switch {
		case e.Kind == "mgc":
			f.Text = restarted + ", and " + e.Client.String() + " connected to it anew."
		case isSet(e.Recovering):
			f.Text = restarted + ". " + e.Client.String() + " connected during the recovery, but did not finish it, and was evicted " + duration(e.At.Time-e.Recovering.Time) + " later."
		case isSet(e.Absent) && e.At.Time-e.Absent.Time < shortestWindow.Nanoseconds():
			f.Text = restarted + ". " + e.Client.String() + " connected " + duration(e.At.Time-e.Absent.Time) + " after the target was still absent, found no recovery, and was evicted."
		default:
			f.Text = restarted + ". " + e.Client.String()
			if isSet(e.Served) {
				f.Text += ", which had its last reply " + duration(e.At.Time-e.Served.Time) + " before,"
			}
			f.Text += " found no recovery (it was over, or there was none), and was evicted."
		}
		f.Prove(e.Served, "the last reply that the client got before")
		f.Prove(e.Absent, "the server does not have the target")
		f.Prove(e.Recovering, "the client connects, and the target is in recovery")
	}),
})
