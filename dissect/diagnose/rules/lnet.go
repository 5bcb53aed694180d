package rules

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

var _ = addTrouble(diagnose.Rule{
	Code:     "lnet.lost",
	Severity: diagnose.Warning,
	Noun:     "message that LNet lost",
	Summary:  "Messages between two nodes were lost above TCP.",
	Meaning: "A reply came to the host of the client, whose TCP acknowledged it, and the client sent the request again as if it had no reply: " +
		"LNet of the client dropped it. So do requests get lost that a host acknowledged and did not answer.",
	Limits:  "Why LNet drops messages is not on the wire.",
	Next:    "On the client: lnetctl stats show (drop_count), lctl get_param peers nis, the console log for LNet errors, lctl net_drop_list.",
	Samples: []string{"lost_in_lnet.pcap.zst"},
}, func(g *suspects.Group) bool { return onlySuspect(diagnose.AtLNet)(g) && isIgnored(g) }, describeLost)

// isIgnored reports whether a reply was seen before a request was sent again.
func isIgnored(g *suspects.Group) bool {
	return slices.ContainsFunc(g.Troubles, func(t *suspects.Trouble) bool { return t.Wait != nil && !t.Wait.Before.IsZero() })
}

// describeLost says at which host messages were lost: at the one that had acknowledged them.
func describeLost(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	s := sumOf(g)
	var clients, servers []lnet.NID
	ignored, unanswered := 0, 0
	for _, w := range s.waits {
		switch {
		case !w.Before.IsZero():
			ignored++
			clients = withNew(clients, w.Client, maxNames)
		case w.Request.Frame > 0 && len(w.Sends) > 1:
			unanswered++
			servers = withNew(servers, w.Server, maxNames)
		}
	}
	which := func(n int) string {
		if n == len(s.waits) {
			return them(n)
		}
		return ofThem(n, len(s.waits))
	}
	if ignored > 0 {
		f.Text += fmt.Sprintf(" The reply to %s had come to the host of %s, whose TCP acknowledged it: it was lost in LNet there.", which(ignored), nodes(clients))
	}
	if unanswered > 0 {
		f.Text += fmt.Sprintf(" TCP of %s acknowledged %s, and no reply was sent until the request came again: the request or its reply was lost in LNet or ptlrpc there.",
			nodes(servers), which(unanswered))
	}
	orPtlrpc := ""
	if ignored == 0 {
		orPtlrpc = " and ptlrpc"
	}
	at := clients
	for _, n := range servers {
		at = withNew(at, n, maxNames)
	}
	if at == nil {
		f.Text += " The request or its reply was lost in LNet or ptlrpc of one of both nodes."
		at = []lnet.NID{g.Suspects[0].Node, g.Suspects[0].Peer}
	}
	f.Text += excluded(g, diagnose.AtPath, diagnose.AtStorage, diagnose.AtThread)
	f.Brief = diagnose.Sentences(f.Text, 2) + " Look at LNet" + orPtlrpc + " of " + nodes(at) + ", not at the network or the storage."
}

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
