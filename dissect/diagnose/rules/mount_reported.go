package rules

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var _ = addLines(diagnose.Rule{
	Code:     "mount.reported",
	Severity: diagnose.Error,
	Noun:     "mount error that a log has",
	Summary:  "A node reports that a mount failed, or that it got no configuration.",
	Meaning:  "The name of the file system, the address of the MGS, or what a server lets this node do is wrong, or the MGS cannot be reached.",
	Next:     "The line has the step that failed. lctl ping of the MGS; the names on the MGS: lctl --device MGS llog_catlist.",
}, lines{
	ofClient: true,
	apart:    true,
	ofThread: true,
	kinds:    []debuglog.Kind{debuglog.MountFailed, debuglog.ConfigFailed},
	where: func(l *track.LogLine) []diagnose.Place {
		return []diagnose.Place{atConfig(l.Node), atTarget("MGS", l.Peer), byAdmin}
	},
})
