package rules

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

var _ = addLines(diagnose.Rule{
	Code:     "slow.service",
	Severity: diagnose.Warning,
	Noun:     "logged line of a late request",
	Summary:  "A server reports that it was late with requests.",
	Meaning: "The server had the requests: they waited for a thread, or a thread worked on them for longer than the client was told, or still did when " +
		"the client connected again.",
	Next: "On the server: lctl get_param *.*.nrs_policies *.*.req_history, the load of its CPUs and devices, and whether threads wait for locks.",
}, lines{
	kinds:   []debuglog.Kind{debuglog.ServiceSlow, debuglog.StorageSlow, debuglog.TaskHung, debuglog.Denied, debuglog.Note},
	reasons: []debuglog.Reason{debuglog.TookLong, debuglog.NoTimeAdded, debuglog.PastDeadline, debuglog.DroppedLate, debuglog.StillBusy},
	where: func(l *track.LogLine) []diagnose.Place {
		storage := atStorage(l.Target, l.Node)
		switch {
		case l.Kind == debuglog.StorageSlow, l.Kind == debuglog.TaskHung && hasPrefix(l.Process, "jbd2/", "txg_", "z_wr_"):
			return []diagnose.Place{storage}
		case l.Kind == debuglog.TaskHung && !hasPrefix(l.Process, "ll_ost", "ll_mgs", "mdt", "ldlm_"):
			return nil // an application
		}
		places := []diagnose.Place{{Kind: diagnose.AtQueue, Node: l.Node}, atThread(l.Node), storage, {Kind: diagnose.AtOtherServer, Node: l.Node},
			atHolder(lnet.NID{}), atNode(l.Node)}
		if l.Kind == debuglog.Denied { // its threads may wait for data of the client
			places = append(places, atNode(l.Peer), diagnose.Between(diagnose.AtPath, l.Node, l.Peer), diagnose.Between(diagnose.AtLNet, l.Node, l.Peer))
		}
		return places
	},
})

func hasPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}
