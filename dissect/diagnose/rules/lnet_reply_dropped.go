package rules

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var _ = addLines(diagnose.Rule{
	Code:     "lnet.reply_dropped",
	Severity: diagnose.Warning,
	Noun:     "dropped reply",
	Summary:  "A server dropped a reply, as a test wants.",
	Meaning:  "A fault is injected by lctl set_param fail_loc: the request was executed, and the client gets no reply.",
	Next:     "lctl get_param fail_loc on the server.",
}, lines{
	kinds:   []debuglog.Kind{debuglog.Note},
	reasons: []debuglog.Reason{debuglog.ReplyDropped},
	where: func(l *track.LogLine) []diagnose.Place {
		return []diagnose.Place{diagnose.Between(diagnose.AtLNet, l.Node, l.Peer), byAdmin}
	},
})
