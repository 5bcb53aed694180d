package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/recovery"
)

var _ = add(diagnose.Rule{
	Code:     "recovery.replay",
	Severity: diagnose.Error,
	Noun:     "target with failed replays",
	Summary:  "Requests or locks could not be replayed after a restart.",
	Meaning: "After a restart, clients replay the requests whose results the server had not yet written to disk, and give back the locks that they hold. What is refused, or is not replayed although it should be, is lost: " +
		"applications were told that it was done. The rule reports errors of replays, and transactions that a client had the reply to, that were not on disk, and that it did not replay.",
	Limits:  "Transactions from before the capture are not known. Nothing is reported where a part of the replay was not captured. A client that is evicted in the recovery replays nothing more; that is reported as an eviction.",
	Next:    "lshark recovery -v shows what was replayed, with the transaction numbers. The server's console log names the requests that failed. Applications must check what they wrote last.",
	Samples: []string{"rolled_back.pcap.zst"},
	Start: startRecoveries(func(v *recovery.Recovery, f *diagnose.Finding) bool {
		requests, locks := v.Replayed()
		gap := v.NotReplayed()
		if len(requests.Errors) == 0 && len(locks.Errors) == 0 && gap.Count == 0 {
			return false
		}
		f.Text = "In the recovery of " + v.Target + " on " + v.Server.String()
		separator := " "
		if len(requests.Errors) > 0 {
			f.Text += separator + "replays of requests failed: " + errorCounts(requests.Errors)
			separator = "; "
		}
		if len(locks.Errors) > 0 {
			f.Text += separator + "replays of locks failed: " + errorCounts(locks.Errors)
			separator = "; "
		}
		if gap.Count > 0 {
			f.Text += separator + plural(gap.Count, "transaction") + " that the server may have lost were not replayed"
		}
		f.Text += "."
		f.Prove(v.Back, "the target accepts connects again")
		f.Prove(requests.First, "the first replayed request")
		f.Prove(locks.First, "the first replayed lock")
		f.Prove(gap.Seen, "a client has replayed all that it has")
		return true
	}),
})
