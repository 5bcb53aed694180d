package rules

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var _ = addLines(diagnose.Rule{
	Code:        "target.stopped",
	Severity:    diagnose.Warning,
	Noun:        "stopped target",
	CountsLines: true,
	Summary:     "A target was stopped by a command.",
	Meaning:     "A server logs \"Failing over\" and \"server umount … complete\" when somebody, or the HA software, unmounts a target.",
	Next:        "Who stopped it: the history of commands and the log of the HA software on that node at that time.",
}, lines{
	kinds: []debuglog.Kind{debuglog.FailingOver, debuglog.Stopped},
	where: func(l *track.LogLine) []diagnose.Place { return []diagnose.Place{atTarget(l.Target, l.Node), byAdmin} },
})
