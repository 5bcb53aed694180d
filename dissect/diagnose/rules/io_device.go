package rules

import (
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

var _ = addLines(diagnose.Rule{
	Code:     "io.device",
	Severity: diagnose.Error,
	Noun:     "logged I/O error",
	Summary:  "A device fails, or the file system on it is damaged, by the log of a server, or of a client that gets EIO.",
	Meaning:  "Requests to the target on the device wait, fail with EIO, or the target turns read-only.",
	Next:     "The device, its cables and controller, smartctl, the state of the RAID or pool. Which target is on it: mount, or lctl get_param *.*.mntdev.",
}, lines{
	kinds: []debuglog.Kind{debuglog.DiskError, debuglog.DiskTimeout, debuglog.RaidFailed, debuglog.PathFailed, debuglog.FilesystemError, debuglog.StorageError,
		debuglog.RequestFailed, debuglog.Note},
	reasons: []debuglog.Reason{debuglog.NoReason, debuglog.IOFailed},
	where: func(l *track.LogLine) []diagnose.Place {
		if strings.HasPrefix(l.Device, "fd") || strings.HasPrefix(l.Device, "sr") { // drives of removable media
			return nil
		}
		switch {
		case l.Kind == debuglog.RequestFailed && l.Status == opcodes.EIO && !opcodes.IsConnect(l.Opcode): // of a client
			return []diagnose.Place{atStorage(l.Target, l.Peer), atTarget(l.Target, l.Peer)}
		case l.Kind == debuglog.RequestFailed:
			return nil
		case l.Kind != debuglog.Note:
			return []diagnose.Place{atStorage(l.Target, l.Node)}
		case l.Reason == debuglog.IOFailed: // of a client
			return []diagnose.Place{atStorage(l.Target, l.Peer)}
		}
		return nil
	},
})
