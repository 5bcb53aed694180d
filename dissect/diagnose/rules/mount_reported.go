package rules

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

var _ = addLines(diagnose.Rule{
	Code:     "mount.reported",
	Severity: diagnose.Error,
	Noun:     "logged mount error",
	Summary:  "A node reports that a mount failed, or that it got no configuration.",
	Meaning:  "The name of the file system, the address of the MGS, or what a server lets this node do is wrong, the MGS cannot be reached, or the device of a target fails.",
	Next:     "The line has the step that failed. lctl ping of the MGS; the names on the MGS: lctl --device MGS llog_catlist.",
}, lines{
	ofClient: true,
	apart:    true,
	ofThread: true,
	kinds:    []debuglog.Kind{debuglog.MountFailed, debuglog.ConfigFailed},
	where: func(l *track.LogLine) []diagnose.Place {
		places := []diagnose.Place{atConfig(l.Node), atTarget("MGS", l.Peer), byAdmin}
		if l.Device != "" {
			return []diagnose.Place{atStorage(l.Target, l.Node), atConfig(l.Node), byAdmin}
		}
		switch l.Status {
		case 0, opcodes.EIO, opcodes.ETIMEDOUT, opcodes.ENOTCONN, opcodes.ESHUTDOWN: // it may be no answer of the MGS
			places = append(places, atNode(l.Peer), diagnose.Between(diagnose.AtPath, l.Node, l.Peer), diagnose.Between(diagnose.AtLNet, l.Node, l.Peer))
		}
		return places
	},
})
