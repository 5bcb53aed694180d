package rules

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

var _ = add(diagnose.Rule{
	Code:     "node.not_on_wire",
	Severity: diagnose.Warning,
	Noun:     "message that never came onto the wire",
	Summary:  "A node sent requests or replies, by its debug log, that never came onto the wire.",
	Meaning: "The log of a node has each request that ptlrpc has sent, and each reply that a thread has made. In a capture at the same node, messages are " +
		"missing that LNet could not send: it had no connection to the other node, no route, or a packet filter of the node dropped them. " +
		"The rule needs the debug log of the node (--log) with the flag rpctrace, beside a capture that was taken at this node.",
	Limits: "Where the capture lacks bytes at that time, nothing is reported.",
	Next: "On this node: the console log for errors of LNet and of its drivers at that time, lnetctl net show -v, lnetctl route show, lctl ping of " +
		"the other node, and its packet filter (nft list ruleset).",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		n := &notOnWire{r, factsOf(r), fifo.NewMap[unsent, *tally](maxPairs)}
		return diagnose.Hooks{Unseen: n.take, Done: n.take}
	},
})

// notOnWire counts the RPCs of which a log has more than the capture.
type notOnWire struct {
	report *diagnose.Reporter
	known  *facts.Facts
	nodes  *fifo.Map[unsent, *tally]
}

// unsent is what a node did not send to another one.
type unsent struct {
	nodePair
	what debuglog.NotOnWire
}

func (n *notOnWire) take(r *track.RPC) {
	if r.Log == nil || r.Log.NotOnWire == debuglog.Nothing {
		return
	}
	k := unsent{nodePair{r.Client, r.Server}, r.Log.NotOnWire}
	t := fifo.GetOrNew(n.nodes, k)
	s, at := &r.Log.Server, r.Requested()
	what, sent := "its request", r.Client.String()+" sent "
	if k.what == debuglog.ReplyUnseen {
		what, sent = "the reply", r.Server.String()+" made replies for "
		at = track.Point{Frame: -s.LastLine, File: s.File, Time: s.Handled}
	}
	t.add(r, at)
	t.prove(at, "%s of %s x%d", what, operationText(r.Opcode), r.XID)
	f := t.finding(diagnose.Subject{Client: k.client, Server: k.server, Detail: k.what.String()})
	f.Node = k.client
	f.Text = sent + t.operationsText()
	if k.what == debuglog.ReplyUnseen {
		f.Node = k.server
		f.Text += " of " + k.client.String()
	} else {
		f.Text += " to " + k.server.String()
	}
	f.Text += ", by its log, that never came onto the wire."
	suspect(&f, inLNet(k.client, k.server), atNode(f.Node), onPath(k.client, k.server))
	excludePath(&f, n.known, k.client, k.server, facts.Span{From: f.First, To: f.Last})
	if to := facts.HostOf(k.server); f.Node == k.client && to.IsValid() && len(n.known.Peers(to)) == 0 {
		f.Text += " The capture has nothing of " + k.server.String() + ": it may be down, or nobody may have this address."
		suspect(&f, atNode(k.server), atConfig(k.client), inLNet(k.client, k.server), atNode(k.client))
	}
	n.report.Report(f)
}
