package rules

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var _ = addLines(diagnose.Rule{
	Code:     "lnet.failed",
	Severity: diagnose.Warning,
	Noun:     "network error",
	Summary:  "LNet reports errors with a peer.",
	Meaning:  "Connections to the peer fail or time out, or break: the peer or the network between both is to blame.",
	Next:     "lctl ping and lnetctl peer show on both nodes; the switch, cables and counters of the interfaces.",
}, lines{
	kinds:   []debuglog.Kind{debuglog.NetError},
	reasons: []debuglog.Reason{debuglog.NetTimeout, debuglog.NetRefused, debuglog.NetReset, debuglog.NetUnreachable, debuglog.NetRouteless, debuglog.NetFailed},
	many:    3,
	where: func(l *track.LogLine) []diagnose.Place {
		if l.Reason == debuglog.NetRouteless {
			return []diagnose.Place{atConfig(l.Node)}
		}
		return []diagnose.Place{atNode(l.Peer), diagnose.Between(diagnose.AtPath, l.Node, l.Peer), diagnose.Between(diagnose.AtLNet, l.Node, l.Peer)}
	},
})
