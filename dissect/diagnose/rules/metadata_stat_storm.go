package rules

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:     "metadata.stat_storm",
	Severity: diagnose.Warning,
	Summary:  "A client or a job asks for attributes of files again and again.",
	Meaning: "A client caches the attributes of a file together with a lock, and asks the MDT again only when somebody else has changed the file, or when it had to drop the lock. " +
		"Many requests for the attributes of the same file therefore show a program that polls a file which others change, or a lock that is lost each time." + stormMeaning,
	Limits:     "Attributes that the client has cached are not asked for.",
	Next:       "Find what polls: scripts that wait for a file, tail -f, a library that calls stat for each record. See lock.ping_pong and lock.lru_churn for why the client has to ask again.",
	Thresholds: stormThresholds,
	Samples:    []string{"stat_storm.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return startStorm(r, "the attributes of", "stat request", func(r *track.RPC, _ *dissect.Message) bool {
			return r.Opcode != opcodes.LDLM_ENQUEUE || hasIntent(r, "GETATTR", "LOOKUP")
		}, opcodes.LDLM_ENQUEUE, opcodes.MDS_GETATTR, opcodes.MDS_GETATTR_NAME, opcodes.MDS_BATCH)
	},
})
