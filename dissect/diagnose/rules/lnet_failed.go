package rules

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

var _ = addLines(diagnose.Rule{
	Code:     "lnet.failed",
	Severity: diagnose.Warning,
	Noun:     "logged network error",
	Summary:  "LNet reports errors with a peer.",
	Meaning: "Connections to the peer fail or time out, or break, connects to the MGS cannot be sent, data are not transferred, or messages do not fit: the peer or the " +
		"network between both is to blame. Where connects fail, the address of the MGS may be wrong.",
	Next: "lctl ping and lnetctl peer show on both nodes; the switch, cables and counters of the interfaces.",
}, lines{
	kinds: []debuglog.Kind{debuglog.NetError, debuglog.NetDropped, debuglog.Note},
	reasons: []debuglog.Reason{debuglog.NetTimeout, debuglog.NetRefused, debuglog.NetReset, debuglog.NetUnreachable, debuglog.NetRouteless, debuglog.NetFailed,
		debuglog.BulkTimeout, debuglog.BulkUnsent, debuglog.NetworkError, debuglog.SentDelay},
	many:   3,
	ofPeer: true,
	where: func(l *track.LogLine) []diagnose.Place {
		places := []diagnose.Place{atNode(l.Peer), diagnose.Between(diagnose.AtPath, l.Node, l.Peer), diagnose.Between(diagnose.AtLNet, l.Node, l.Peer)}
		switch {
		case l.Kind == debuglog.NetDropped && l.Reason == debuglog.NoReason: // nobody may wait for it any more
			return nil
		case l.Kind == debuglog.NetDropped: // it came, and does not fit
			return places[2:]
		case l.Reason == debuglog.NetRouteless:
			return []diagnose.Place{atConfig(l.Node)}
		case l.GaveUp() == debuglog.NoReason:
			return places
		case l.Opcode == opcodes.MGS_CONNECT: // other requests are troubles, or follow from them
			return append(places, atConfig(l.Node))
		}
		return nil
	},
})
