package rules

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

var _ = addLines(diagnose.Rule{
	Code:     "space.reported",
	Severity: diagnose.Error,
	Noun:     "logged lack of space",
	Summary:  "A server reports that a target has no space left, or is read-only.",
	Meaning: "An MDT lets OSTs make objects before files need them. An OST without space or inodes, or one that is read-only, makes none: new files go to " +
		"others, and applications get ENOSPC when there are none.",
	Next: "lfs df and lfs df -i show the space and the objects of all targets, lctl get_param osp.*.prealloc_status on the MDS which OSTs make none.",
}, lines{
	kinds: []debuglog.Kind{debuglog.NoSpace, debuglog.PrecreateFailed, debuglog.RequestFailed},
	where: func(l *track.LogLine) []diagnose.Place {
		server := l.Node
		switch {
		case l.Kind == debuglog.RequestFailed && opcodes.IsConnect(l.Opcode): // other rules have it
			return nil
		case l.Kind == debuglog.RequestFailed: // of a client
			server = l.Peer
		case l.Name != "": // of the MDT that asks
			server = lnet.NID{}
		}
		switch {
		case l.Kind == debuglog.NoSpace, l.Status == opcodes.ENOSPC:
			return []diagnose.Place{atTarget(l.Target, server)}
		case l.Status == opcodes.EROFS:
			return []diagnose.Place{atTarget(l.Target, server), atStorage(l.Target, server), byAdmin}
		}
		return nil // it is not connected, or slow
	},
})
