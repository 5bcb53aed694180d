package rules

import (
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var _ = addLines(diagnose.Rule{
	Code:     "node.injected",
	Severity: diagnose.Warning,
	Noun:     "injected fault",
	Summary:  "A fault is injected into Lustre, as tests do.",
	Meaning:  "lctl set_param fail_loc lets Lustre fail, drop a message or sleep at a place in its code. The kernel logs that it does so.",
	Next:     "lctl get_param fail_loc fail_val on that node; fail_loc=0 ends it.",
}, lines{
	kinds: []debuglog.Kind{debuglog.Injected},
	where: func(l *track.LogLine) []diagnose.Place {
		switch {
		case strings.Contains(l.Text, "id 312 sleeping for "): // OBD_FAIL_LDLM_PAUSE_CANCEL
			return []diagnose.Place{atHolder(l.Node), byAdmin}
		case strings.Contains(l.Text, " sleeping for "):
			return []diagnose.Place{atThread(l.Node), byAdmin}
		case strings.Contains(l.Text, "cfs_fail_loc=408,"), strings.Contains(l.Text, "cfs_fail_loc=409,"): // wrong checksums of data
			return []diagnose.Place{atClient(l.Node), byAdmin}
		case strings.Contains(l.Text, "cfs_fail_loc="): // what it does, the line does not say
			return []diagnose.Place{byAdmin}
		}
		return nil // a device that is read-only, as umount -f makes it
	},
})
