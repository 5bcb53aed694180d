package rules

import (
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var _ = addLines(diagnose.Rule{
	Code:     "io.device",
	Severity: diagnose.Error,
	Noun:     "message about a device",
	Summary:  "The kernel of a server reports that a device fails, or that the file system on it is damaged.",
	Meaning:  "Requests to the target on the device wait, fail with EIO, or the target turns read-only.",
	Next:     "The device, its cables and controller, smartctl, the state of the RAID or pool. Which target is on it: mount, or lctl get_param *.*.mntdev.",
}, lines{
	kinds: []debuglog.Kind{debuglog.DiskError, debuglog.DiskTimeout, debuglog.RaidFailed, debuglog.PathFailed, debuglog.FilesystemError, debuglog.StorageError},
	where: func(l *track.LogLine) []diagnose.Place {
		if strings.HasPrefix(l.Device, "fd") || strings.HasPrefix(l.Device, "sr") { // drives of removable media
			return nil
		}
		return []diagnose.Place{atStorage(l.Target, l.Node)}
	},
})
