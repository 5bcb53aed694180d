package rules

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:       "metadata.open_storm",
	Severity:   diagnose.Warning,
	Summary:    "A client or a job opens files again and again.",
	Meaning:    "Each open and close of a file is a request to the MDT, unless the client keeps an open lock. Programs that open a file for each record that they read or append spend their time there." + stormMeaning,
	Limits:     "Opens that the client answers itself, with an open lock, are not seen.",
	Next:       "Whether the program can keep the file open. For programs that cannot be changed, lctl set_param llite.*.opencache_threshold_count=1 lets the client keep open locks.",
	Thresholds: stormThresholds,
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return startStorm(r, "an open of", "open", func(r *track.RPC, _ *dissect.Message) bool { return hasIntent(r, "OPEN") }, opcodes.LDLM_ENQUEUE)
	},
})
