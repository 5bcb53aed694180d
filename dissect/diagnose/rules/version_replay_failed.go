package rules

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var _ = addLines(diagnose.Rule{
	Code:     "version.replay_failed",
	Severity: diagnose.Error,
	Noun:     "logged failure of a replay",
	Summary:  "Requests that a client replays to a restarted target fail.",
	Meaning: "The target has lost transactions that it had reported as committed, or other clients that changed the same objects did not come " +
		"back.",
	Next: "The storage of the target: write caches, snapshots and rollbacks.",
}, lines{
	kinds:   []debuglog.Kind{debuglog.TransnoBack, debuglog.ReplayFailed, debuglog.Note},
	reasons: []debuglog.Reason{debuglog.NoReason, debuglog.ReplayMismatch, debuglog.ReplayTimeout},
	where: func(l *track.LogLine) []diagnose.Place {
		if l.Kind == debuglog.Note && l.Reason == debuglog.NoReason {
			return nil
		}
		server := l.Peer
		if l.Served {
			server = l.Node
		}
		return []diagnose.Place{atTarget(l.Target, server), atStorage(l.Target, server), byAdmin}
	},
})
