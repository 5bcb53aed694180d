package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/evictions"
)

var _ = add(diagnose.Rule{
	Code:     "evicted.version",
	Severity: diagnose.Error,
	Noun:     "eviction",
	Summary:  "A client was evicted because what it replayed after a restart did not fit what is on disk.",
	Meaning: "After a restart, each replayed request has the versions of the objects that it changes. If one of these has been changed without it, because another client did not come back to replay its part, the server refuses the replay with EOVERFLOW, and the client loses the rest. " + evictionMeaning +
		"The rule looks for evicted clients with such a refusal since they lost the target.",
	Limits:  evictionLimits,
	Next:    "lshark recovery shows which client did not come back: its lost changes are what the others depended on. Applications of this client must check what they wrote since the last commit.",
	Samples: []string{"rolled_back.pcap.zst"},
	Start: startEvictions(evictions.Version, func(e *evictions.Eviction, f *diagnose.Finding) {
		f.Text = whoEvicted(e) + " in recovery: " + plural(e.Mismatches, "replayed request") + " did not fit the versions of the objects on disk (EOVERFLOW), because changes on which they depend were lost."
		f.Prove(e.Recovering, "the client connects, and the target is in recovery")
		f.Prove(e.Mismatch, "a replayed request is refused with EOVERFLOW")
	}),
})
