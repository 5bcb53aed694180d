package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/evictions"
)

var _ = add(diagnose.Rule{
	Code:     "evicted.denied",
	Severity: diagnose.Error,
	Noun:     "eviction",
	Summary:  "A client lost a target because the server does not accept it any more.",
	Meaning: "A client that connects again, and is refused with EACCES or EROFS, gives up the target: for its applications that is an eviction. " + evictionMeaning +
		"The rule looks for such refusals of clients that were connected before.",
	Limits: "What the server was told is not in the capture: a changed nodemap, a changed security flavor and a read-only target look alike.",
	Next:   "Look at the server's console log, and at what was changed before: lctl get_param nodemap.*, the flavors in lctl get_param *.*.srpc_info, and whether the target is mounted read-only.",
	Start: startEvictions(evictions.Denied, func(e *evictions.Eviction, f *diagnose.Finding) {
		f.Text = evictedFrom(e).String() + " does not accept " + e.Client.String() + " any more: it refused to connect it again with " + errorName(e.Status) + ", " + errnoText(e.Status) + ". The client has given up the target."
		f.Prove(e.At, "the connect is refused with %s", errorName(e.Status))
	}),
})
