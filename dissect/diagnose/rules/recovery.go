package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/recovery"
)

// startRecoveries returns a func that starts a rule about targets that were lost.
// describe fills in the text and the evidence of a finding, or returns false where
// there is nothing to report.
func startRecoveries(describe func(*diagnose.Reporter, *recovery.Recovery, *diagnose.Finding) bool) func(*diagnose.Reporter) diagnose.Hooks {
	return func(r *diagnose.Reporter) diagnose.Hooks {
		known := factsOf(r)
		return diagnose.Hooks{Recovery: func(v *recovery.Recovery) {
			if f := recoveryFinding(v); describe(r, v, &f) {
				server := cmp.Or(v.ServerBefore, v.Server)
				if isSet(v.LastReply) {
					excludeNode(&f, known, server, facts.Span{From: v.LastReply.Time, To: cmp.Or(v.Back.Time, r.Now())})
				}
				excludeUnmounted(&f, server, v)
				proveLosses(r, v, &f)
				tell(&f, known)
				r.Report(f)
			}
		}}
	}
}

// excludeUnmounted clears a node that has unmounted all of some targets, by its log.
func excludeUnmounted(f *diagnose.Finding, n lnet.NID, targets ...*recovery.Recovery) {
	if !slices.ContainsFunc(targets, func(v *recovery.Recovery) bool { return !v.Stop.IsLog() }) {
		exclude(f, atNode(n), targets[0].Stop, n.String()+" has unmounted "+targetName(targets[0])+", by its log")
	}
}

const maxGivenUp = 3 // lines about requests, in a finding

// proveLosses adds the lines of the clients' logs that say why they gave up the connections.
func proveLosses(r *diagnose.Reporter, v *recovery.Recovery, f *diagnose.Finding) {
	n := 0
	for _, c := range v.Clients {
		if l := r.WhyLost(c.Connection, c.Lost.Time); l != nil && n < maxGivenUp {
			f.ProveLine(l)
			if n++; l.XID != 0 {
				f.Requests = append(f.Requests, diagnose.Request{Server: c.Connection.Server, XID: l.XID})
			}
		}
	}
	if n > 0 {
		slices.SortStableFunc(f.Evidence, func(a, b diagnose.Evidence) int { return cmp.Compare(a.Time, b.Time) })
	}
}

// ofOutage returns the places where the cause may be that a target was gone.
func ofOutage(v *recovery.Recovery) []diagnose.Place {
	server := cmp.Or(v.ServerBefore, v.Server)
	target := atTarget(v.Target, server)
	if v.ServerBefore.Len == 0 && v.Target != "" { // it may have been elsewhere
		target.Node = lnet.NID{}
	}
	return []diagnose.Place{target, byAdmin, atNode(server)}
}

// recoveryFinding returns a finding with the subject and the times of a target that was lost.
func recoveryFinding(v *recovery.Recovery) diagnose.Finding {
	f := diagnose.Finding{
		Subject: diagnose.Subject{Target: v.Target, Detail: strconv.FormatInt(v.Begin(), 10)},
		First:   v.Begin(), Last: max(v.Back.Time, v.Completed.Time),
	}
	for _, c := range v.Clients {
		if at := c.Evicted.Time; at <= f.Last+longestRecovery {
			f.Last = max(f.Last, at)
		}
	}
	f.Server = cmp.Or(v.Server, v.ServerBefore)
	if v.Kind == recovery.Failover { // which may have died
		f.Node = v.ServerBefore
	}
	if len(v.Clients) == 1 {
		f.Client = v.Clients[0].Connection.Client
	}
	return f
}

// errorCounts returns counts of errors as in "3 ENOTCONN and 1 EIO".
func errorCounts(counts map[int32]int64) string {
	var list []string
	for _, status := range sortedErrors(counts) {
		list = append(list, fmt.Sprintf("%d %s", counts[status], errorName(status)))
	}
	return words(list)
}

// sortedErrors returns the errors, the most frequent first.
func sortedErrors(counts map[int32]int64) (list []int32) {
	for status := range counts {
		list = append(list, status)
	}
	slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(b, a)) })
	return list
}

// clientNIDs returns the nodes of clients, each once.
func clientNIDs(clients []*recovery.Client) (list []lnet.NID) {
	for _, c := range clients {
		list = withNew(list, c.Connection.Client, unlimited)
	}
	return list
}

// impactText returns a sentence about what applications saw, with a space before it;
// empty when they saw nothing.
func impactText(v *recovery.Recovery) string {
	sum := v.Impact()
	sum.Lacks = mayBeMore(v)
	if v.Kind == recovery.Failover && !isSet(v.Back) { // the other server, which was not captured, may have answered
		sum.Unanswered = 0
	}
	return impactOf(sum, isFinal(v))
}

// isFinal reports whether requests that were refused have failed: those of clients that were not evicted are sent again
// after the recovery.
func isFinal(v *recovery.Recovery) bool {
	return isSet(v.Back) && !v.Lacks && slices.ContainsFunc(v.Clients, func(c *recovery.Client) bool { return c.Outcome == recovery.ClientEvicted })
}

func impactOf(i recovery.Impact, final bool) (text string) {
	switch {
	case i.Waited == 1 && !i.Lacks:
		text = " A request waited " + duration(i.Longest) + " until the target served it."
	case i.Waited == 1:
		text = " At least 1 request waited " + duration(i.Longest) + " until the target served it."
	case i.Waited > 1:
		text = sentence(atLeast(i.Lacks)+plural(i.Waited, "request")) + " waited until the target served them, the longest " +
			duration(i.Longest) + "."
	}
	failed := int64(0)
	for _, n := range i.Errors {
		failed += n
	}
	verb := "failed"
	if !final {
		verb = "were refused"
	}
	switch {
	case len(i.Errors) > 1:
		text += " Requests " + verb + ": " + errorCounts(i.Errors) + "."
	case failed == 1 && !final:
		text += " 1 request was refused with " + errorName(sortedErrors(i.Errors)[0]) + "."
	case failed > 0:
		text += " " + plural(failed, "request") + " " + verb + " with " + errorName(sortedErrors(i.Errors)[0]) + "."
	}
	if i.Unanswered > 0 {
		text += " " + plural(i.Unanswered, "request") + " had no reply when the capture ended."
	}
	return text
}

var _ = add(diagnose.Rule{
	Code:     "recovery.unknown",
	Severity: diagnose.Warning,
	Noun:     "client that a server did not know any more",
	Summary:  "A server did not know a client any more: it had evicted it, or the target was restarted.",
	Meaning: "A client that connects again to a server which still has its connection keeps its handle. It gets another one where the server " +
		"evicted it meanwhile, and where the target was restarted. Flags and numbers in the reply to the connect show which of both it was. " +
		"The rule reports clients that got another handle where these were not captured, as with a small snaplen.",
	Limits: "Where a server said that it does not have the target, that is restart.target. Clients that connect anew, without the old handle, are not found.",
	Next:   "The console log of the server has the reason. For the next capture, keep 1024 bytes of each frame (tcpdump -s 1024).",
	Start: startRecoveries(func(r *diagnose.Reporter, v *recovery.Recovery, f *diagnose.Finding) bool {
		text := cutText(v)
		if v.Kind != recovery.Lost || text == "" {
			return false
		}
		if v.Target == "MGS" {
			f.Severity = diagnose.Note // as of evictions
		}
		clients := clientNIDs(v.Clients)
		who, there := targetName(v), ""
		if v.Server != v.ServerBefore && v.ServerBefore.Len > 0 {
			there = " on " + v.Server.String()
		}
		f.Text = fmt.Sprintf("%s did not know %s any more%s: %s evicted, or the target was restarted%s. The bytes that show which of both were not captured.",
			who, nodes(clients), there, theyWere(len(clients)), strings.Replace(there, " on", " or moved to", 1))
		f.First = min(f.First, max(v.LastReply.Time, r.First()))
		f.Brief = f.Text + " The console log of the server has the reason."
		suspect(f, ofOutage(v)...)
		for _, c := range v.Clients {
			f.Suspects = append(f.Suspects, atNode(c.Connection.Client), atHolder(c.Connection.Client), onPath(c.Connection.Client, v.Server))
		}
		f.Prove(v.LastReply, "the last reply before")
		for _, c := range v.Clients {
			f.Prove(c.Lost, "%s", signTexts[c.LostBy])
			f.Prove(c.Connected, "the reply to the connect of %s has another handle", c.Connection.Client)
		}
		return true
	}),
})

var recoveryLate = &diagnose.Threshold{Name: "after the first client", Value: 10, Unit: "s",
	Reason: "Clients that lost a target try every five seconds, so all are usually back after ten."}

var _ = add(diagnose.Rule{
	Code:     "recovery.late",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "delay of a recovery",
	Summary:  "Clients came late to a recovery, or not at all, and held up the others.",
	Meaning: "A restarted target takes new work when all clients that it had are back, or when the recovery window is over. A client that " +
		"comes late makes all others wait; one that does not come at all makes them wait for the whole window, and is evicted. " +
		"The rule reports the client that connected last where that was long after the first one, and clients that were not seen again.",
	Limits: "Clients that did not come back are only known in captures of the server. A client on the node of the server itself is not captured.",
	Next: "Look why this client came late: its console log, its list of server nodes, whether it was up. Imperative recovery tells " +
		"clients when a target is back: lctl get_param mgs.MGS.live.* shows whether it is enabled.",

	Thresholds: []*diagnose.Threshold{recoveryLate},
	Samples:    []string{"late_recovery.pcap.zst", "rolled_back.pcap.zst"},
	Start: startRecoveries(func(r *diagnose.Reporter, v *recovery.Recovery, f *diagnose.Finding) bool {
		if v.Kind != recovery.Restart && v.Kind != recovery.Failover || v.Target == "" {
			return false
		}
		last := lastClient(v)
		late := last != nil
		missing := missingClients(r, v)
		gone := len(missing) > 0
		if !late && !gone {
			return false
		}
		f.Text = "The recovery of " + v.Target + on(v.Server)
		if window, ok := v.Window(); ok {
			f.Text += " took " + duration(window) + "."
		} else {
			f.Text += " was held up."
		}
		if late {
			f.Client = last.Connection.Client
			f.Text += " " + f.Client.String() + " connected " + duration(last.Connected.Time-v.Back.Time) +
				" after the target was back, later than all others."
		}
		if gone {
			f.Text += " " + strconv.Itoa(len(missing)) + " of its clients did not come back: " + nodes(missing) + "."
		}
		for _, client := range missing {
			f.Suspects = append(f.Suspects, atNode(client), onPath(client, v.Server))
		}
		if late {
			f.Suspects = append(f.Suspects, atNode(f.Client), onPath(f.Client, v.Server), inLNet(f.Client, v.Server))
		}
		f.Prove(v.Back, "the target accepts the first connect")
		if late {
			f.Prove(last.Connected, "%s connects, the last one", last.Connection.Client)
			f.CompareTime(recoveryLate, last.Connected.Time-v.Back.Time)
		}
		f.Prove(v.Completed, "the recovery is over")
		return true
	}),
})

// lastClient returns the client for which a recovery waited, nil if there was none.
func lastClient(v *recovery.Recovery) *recovery.Client {
	if last := v.Last(); last != nil && last.Connected.Time-v.Back.Time >= recoveryLate.Nanoseconds() {
		return last
	}
	return nil
}

var _ = add(diagnose.Rule{
	Code:     "recovery.reconnect",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "lost connection",
	Summary:  "Clients lost the connection to a target that ran on, and connected again.",
	Meaning: "A client that gets no reply in time gives up the connection and connects again. The target was not restarted and still knew " +
		"the client, so nothing is lost, but requests waited. " +
		"Servers that are slower than they had promised, and networks that lose packets, do that.",
	Limits: "Reported where a request without a reply was captured. Whether the server or the network was at fault is not decided here. " +
		"Connects that were refused meanwhile are reported by rules about connects, and not here.",
	Next:    "lshark diagnose --only slow,tcp for the same time. lctl get_param *.*.timeouts on the client has the service times that it expected.",
	Samples: []string{"rolled_back.pcap.zst", "tcp_reset.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		l := &lostConnections{report: r}
		return diagnose.Hooks{Recovery: l.recovery, End: l.end}
	},
})

// lostConnections are connections to targets that were lost, and what else happened to
// targets.
type lostConnections struct {
	report         *diagnose.Reporter
	lost, restarts []*recovery.Recovery
}

func (l *lostConnections) recovery(v *recovery.Recovery) {
	switch {
	case v.Kind == recovery.Reconnect && v.GoneBy == recovery.SignUnanswered, v.GoneBy == recovery.SignLog &&
		(v.Kind == recovery.Reconnect || v.Kind == recovery.Lost):
		if len(l.lost) < maxRestarts {
			l.lost = append(l.lost, v)
		}
	case v.Kind.IsOutage() && len(l.restarts) < maxRestarts:
		l.restarts = append(l.restarts, v)
	}
}

func (l *lostConnections) end() {
	for _, v := range l.lost {
		refused := slices.ContainsFunc(v.Clients, func(c *recovery.Client) bool {
			return len(c.Refusals) > 0 || c.LostBy == recovery.SignRefused || v.GoneBy == recovery.SignLog && c.Outcome == recovery.ClientEvicted
		})
		if f := recoveryFinding(v); !refused {
			l.describe(v, &f)
			proveLosses(l.report, v, &f)
			l.report.Report(f)
		}
	}
}

// wasDown reports whether the server of a connection was seen to have been without one of its
// targets meanwhile.
func (l *lostConnections) wasDown(v *recovery.Recovery) bool {
	return slices.ContainsFunc(l.restarts, func(r *recovery.Recovery) bool {
		return (r.ServerBefore == v.Server || r.Server == v.Server) && r.Begin() <= v.Back.Time && (!isSet(r.Back) || r.Back.Time >= v.Begin())
	})
}

func (l *lostConnections) describe(v *recovery.Recovery, f *diagnose.Finding) {
	f.Count = int64(len(v.Clients))
	f.Text = nodes(clientNIDs(v.Clients)) + " lost the connection to " + targetName(v)
	server := cmp.Or(v.ServerBefore, v.Server)
	f.Server = server
	f.Text += onServer(v, server)
	if v.GoneBy != recovery.SignLog {
		f.Text += " (" + signTexts[v.GoneBy] + ")"
	}
	elsewhere := ""
	if server != v.Server && v.Server.Len > 0 {
		elsewhere = on(v.Server)
	}
	switch f.Text += " and "; {
	case !isSet(v.Back):
		f.Text += was(len(v.Clients)) + " not connected again by the end of the capture"
	case isSet(v.LastReply):
		f.Text += "connected again" + elsewhere + ", " + duration(v.Back.Time-v.LastReply.Time) + " after the last reply"
	case v.Gone.IsLog() && v.Gone.Time != v.Back.Time: // the console may have seconds only
		f.Text += "connected again" + elsewhere + " after " + duration(v.Back.Time-v.Gone.Time)
	default:
		f.Text += "connected again" + elsewhere
	}
	f.Text += "."
	if v.Kind == recovery.Reconnect && !l.wasDown(v) {
		f.Text += " The target ran on."
	}
	if v.Gone.IsLog() {
		f.Text += refusalsText(v)
		f.Next = "Look at the lines of the client's log before the first one, and at the server's log at that time: what had no reply, whether the server " +
			"was alive, whether the network worked (lctl ping from both sides)."
	}
	f.Text += impactText(v)
	target := atTarget(v.Target, server)
	for _, client := range clientNIDs(v.Clients) {
		f.Suspects = append(f.Suspects, onPath(client, server), inLNet(client, server))
	}
	f.Suspects = append(f.Suspects, atNode(server), diagnose.Place{Kind: diagnose.AtQueue, Node: server}, atThread(server), atStorage(v.Target, server), target)
	if elsewhere != "" {
		f.Suspects = append(f.Suspects, byAdmin)
	}
	f.Prove(v.LastReply, "the last reply before")
	f.Prove(v.Gone, "%s", signTexts[v.GoneBy])
	f.Prove(v.Back, "a connect is accepted again")
}

var _ = add(diagnose.Rule{
	Code:     "recovery.replay",
	Severity: diagnose.Error,
	Noun:     "target with failed replays",
	Summary:  "Requests or locks could not be replayed after a restart.",
	Meaning: "After a restart, clients replay the requests whose results the server had not yet written to disk, and give back the locks " +
		"that they hold. What is refused, or is not replayed although it should be, is lost: " +
		"applications were told that it was done. The rule reports errors of replays, and transactions that a client had the reply to, that " +
		"were not on disk, and that it did not replay.",
	Limits: "Transactions from before the capture are not known. Nothing is reported where a part of the replay was not captured. A " +
		"client that is evicted in the recovery replays nothing more; that is reported as an eviction.",
	Next: "lshark recovery -v shows what was replayed, with the transaction numbers. The server's console log names the requests that " +
		"failed. Applications must check what they wrote last.",
	Samples: []string{"rolled_back.pcap.zst"},
	Start: startRecoveries(func(_ *diagnose.Reporter, v *recovery.Recovery, f *diagnose.Finding) bool {
		requests, locks := v.Replayed()
		gap := v.NotReplayed()
		if len(requests.Errors) == 0 && len(locks.Errors) == 0 && gap.Count == 0 {
			return false
		}
		f.Text = "In the recovery of " + targetName(v) + onServer(v, v.Server)
		separator := " "
		if len(requests.Errors) > 0 {
			f.Text += separator + "replays of requests failed: " + errorCounts(requests.Errors)
			separator = "; "
		}
		if len(locks.Errors) > 0 {
			f.Text += separator + "replays of locks failed: " + errorCounts(locks.Errors)
			separator = "; "
		}
		if gap.Count > 0 {
			f.Text += separator + plural(gap.Count, "transaction") + " that the server may have lost were not replayed"
		}
		f.Text += "."
		suspect(f, atTarget(v.Target, v.Server), byAdmin, atStorage(v.Target, v.Server))
		f.Prove(v.Back, "the target accepts connects again")
		f.Prove(requests.First, "the first replayed request")
		f.Prove(locks.First, "the first replayed lock")
		f.Prove(gap.Seen, "a client has replayed all that it has")
		return true
	}),
})
