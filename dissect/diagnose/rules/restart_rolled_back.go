package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/recovery"
)

var _ = add(diagnose.Rule{
	Code:     "restart.rolled_back",
	Severity: diagnose.Error,
	Noun:     "target that was rolled back",
	Summary:  "A target came back with an older state of its disk.",
	Meaning: "A target counts its starts, and never backwards. One that comes back with a lower number than before runs on an older copy of its disk: a snapshot that was rolled back, a backup, or the wrong half of a mirror. " +
		"What was committed since is gone: clients that replay changes fail (ENOENT, ESTALE, EOVERFLOW), and are evicted.",
	Limits:  "A target that was rolled back and started so often that its number is higher than before is not found.",
	Next:    "Find out who rolled back or restored the disk of the target (zpool history, snapshots, the storage array), and whether the newer state still exists. Stop using the file system until that is known; other targets and the clients have newer data: lctl lfsck_start afterwards.",
	Samples: []string{"rolled_back.pcap.zst"},
	Start: startRecoveries(func(v *recovery.Recovery, f *diagnose.Finding) bool {
		if v.InstanceBefore <= v.Instance || v.Instance == 0 || v.Kind != recovery.Restart && v.Kind != recovery.Failover {
			return false
		}
		f.Text = fmt.Sprintf("%s on %s came back with an older state of its disk (started %d times before, and %d times now): what it had committed since is gone.", v.Target, v.Server, v.InstanceBefore, v.Instance)
		requests, _ := v.Replayed()
		if len(requests.Errors) > 0 {
			f.Text += " Of " + plural(requests.Count, "replayed request") + " some failed: " + errorCounts(requests.Errors) + "."
		}
		f.Text += evictedText(v)
		f.Brief = diagnose.Sentences(f.Text, 1) + " Look who rolled back or restored its disk, not at the clients."
		f.Prove(v.LastReply, "the last reply of the target before")
		f.Prove(v.Back, "it accepts a connect again, with the lower number")
		f.Prove(requests.First, "the first replayed request")
		return true
	}),
})
