package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
)

var _ = addTrouble(diagnose.Rule{
	Code:     "rpc.reply_lost",
	Severity: diagnose.Warning,
	Noun:     "lost reply",
	Summary:  "The reply to a request got lost above TCP, and the client waited until it sent the request again.",
	Meaning: "TCP has acknowledged the request, other messages passed on the same path all the time, and the request was answered at once when the " +
		"client sent it again: the server had done it already, or it had not come to the service. So a message was lost in LNet or ptlrpc of the " +
		"server, and the application waited for the timeout.",
	Limits: "Whether it was the request or the reply is in the log of the server. From logs alone, either node may have lost it.",
	Next: "lctl get_param stats and lnetctl stats show on both nodes (drop_count), their console logs, and whether lnetctl net_drop or fail_loc is set. " +
		"lctl get_param *.*.timeouts on the client: its timeouts decide how long a lost message costs.",
	Samples: []string{"lost_replies.pcap.zst"},
}, func(g *suspects.Group) bool { return onlySuspect(diagnose.AtLNet)(g) && !isIgnored(g) }, describeLost)
