package rules

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:     "metadata.readdir_storm",
	Severity: diagnose.Warning,
	Summary:  "A client or a job reads directories again and again.",
	Meaning: "A client caches the pages of a directory together with a lock, and reads them again when somebody has changed the directory. A program that lists a directory in which others create or remove files reads all of it each time. " +
		"The rule counts the requests that begin at the start of a directory." + stormMeaning,
	Limits:     "Listings that the client answers from its cache are not seen.",
	Next:       "Find what lists the directory: scripts that wait for files to appear, globs in loops, monitoring. Spool directories can be split.",
	Thresholds: stormThresholds,
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return startStorm(r, "the entries of", "listing", func(_ *track.RPC, m *dissect.Message) bool {
			return m.Msg != nil && opcodes.ReadsFromStart(m.Msg)
		}, opcodes.MDS_READPAGE)
	},
})
