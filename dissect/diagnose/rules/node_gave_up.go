package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:     "node.gave_up",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "request without a reply in time",
	Summary:  "A node gave up waiting for replies, by its debug log.",
	Meaning: "ptlrpc waits for a reply as long as the server's estimate allows, and logs \"Request sent has timed out\" or \"has failed\" when it gives " +
		"up: there was no reply in time, LNet reported an error of the network, or LNet did not send the request in time. It then sends the request " +
		"again, over a new connection where it takes the old one for lost. The rule counts these lines in the log of the node that sent the requests, " +
		"except for connects.",
	Limits: "Only the logs of nodes have it (--log beside a capture). Whether the server got the request is in the log of the server, or in a capture.",
	Next: "lshark rpcs -Y 'rpc.sends > 1' with this log shows the requests that were sent again. With the log of the server, or a capture beside this one, " +
		"log.queue and log.service say where the request was; without them look at the server and at the network between both nodes at that time.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		g := &givenUp{r, fifo.NewMap[lnet.NID, *givenUpRequests](maxTargets), fifo.NewMap[givenUpRequest, bool](maxAttempts)}
		resent := func(rpc *track.RPC) {
			if l := rpc.Log; l != nil && l.HasClient && l.Client.Resent > 0 {
				g.sentAgain(&l.Client)
			}
		}
		return diagnose.Hooks{Line: g.line, Done: resent, Unseen: resent}
	},
})

// givenUp counts the requests for whose replies nodes do not wait any longer, by the node that
// has not answered them.
type givenUp struct {
	report  *diagnose.Reporter
	servers *fifo.Map[lnet.NID, *givenUpRequests]
	counted *fifo.Map[givenUpRequest, bool] // there may be two lines about a request
}

type givenUpRequest struct {
	log int
	xid uint64
}

type givenUpRequests struct {
	series
	server     lnet.NID
	clients    []lnet.NID
	logs       []string // of nodes that are unknown
	targets    []string
	operations operationCounts
	why        [len(reasons)]int64
	again      int64
	served     bool // one of them is of a client
}

type reason struct {
	words string
	lines []string
}

// reasons are why a node gives up, with the beginnings of lines that say so.
var reasons = [...]reason{
	{"had no reply in time", []string{"Request sent has timed out for slow reply", "TIMEOUT-NORESEND"}},
	{"met an error of the network", []string{"Request sent has failed"}},
	{"did not leave the node in time", []string{"Request sent has timed out for sent delay"}},
}

func (g *givenUp) line(l *track.LogLine) {
	why := slices.IndexFunc(reasons[:], func(r reason) bool {
		return slices.ContainsFunc(r.lines, func(line string) bool { return strings.HasPrefix(l.Text, line) })
	})
	k := givenUpRequest{l.Log, l.XID}
	if _, ok := fifo.Get(g.counted, k); ok || why < 0 || l.Kind != debuglog.Note || opcodes.IsConnect(l.Opcode) {
		return
	}
	fifo.Put(g.counted, k, true)
	x := fifo.GetOrMake(g.servers, l.Peer, func() *givenUpRequests {
		return &givenUpRequests{server: l.Peer, operations: make(operationCounts)}
	})
	x.add(l.Time)
	x.operations[l.Opcode]++
	x.why[why]++
	x.served = x.served || !opcodes.IsCallback(l.Opcode)
	x.targets = withNew(x.targets, l.Target, maxNames)
	if l.Node.Len > 0 {
		x.clients = withNew(x.clients, l.Node, maxNames)
	} else {
		x.logs = withNew(x.logs, l.File, maxNames)
	}
	if len(x.proofs) < maxProofs {
		f := diagnose.Finding{}
		f.ProveLine(l)
		x.proofs = append(x.proofs, f.Evidence...)
	}
	g.report.Report(x.finding())
}

// sentAgain counts a request that was sent again.
func (g *givenUp) sentAgain(c *debuglog.Call) {
	if x, ok := fifo.Get(g.servers, c.Peer); ok && c.Failed != 0 {
		x.again++
		g.report.Report(x.finding())
	}
}

func (x *givenUpRequests) finding() diagnose.Finding {
	f := x.series.finding(diagnose.Subject{Client: only(x.clients), Target: only(x.targets), Server: x.server})
	f.Key = x.server.String()
	var who, why []string
	if len(x.clients) > 0 {
		who = append(who, nodes(x.clients))
	}
	for _, log := range x.logs {
		who = append(who, "the node of "+log)
	}
	for i, n := range x.why {
		if n > 0 {
			why = append(why, fmt.Sprintf("%d %s", n, reasons[i].words))
		}
	}
	text := words(who)
	f.Text = strings.ToUpper(text[:1]) + fmt.Sprintf("%s gave up waiting for replies of %s to %s (%s)", text[1:], x.server, plural(x.count, "request"), x.operations.text())
	if len(x.targets) > 0 {
		f.Text += " to " + words(x.targets)
	}
	f.Text += ": " + words(why) + "."
	for _, client := range x.clients {
		f.Suspects = append(f.Suspects, onPath(client, x.server), inLNet(client, x.server))
	}
	f.Suspects = append(f.Suspects, atNode(x.server))
	if x.served { // else a client did not answer callbacks
		f.Suspects = append(f.Suspects, diagnose.Place{Kind: diagnose.AtQueue, Node: x.server}, atThread(x.server), atStorage(f.Target, x.server),
			atTarget(f.Target, x.server), diagnose.Place{Kind: diagnose.AtOtherServer, Node: x.server}, atHolder(lnet.NID{}))
	}
	if x.again > 0 {
		f.Text += fmt.Sprintf(" %d of them %s sent again.", x.again, was(int(x.again)))
	}
	return f
}
