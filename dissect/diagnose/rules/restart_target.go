package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:     "restart.target",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "restarted target",
	Summary:  "A target was restarted, on the same server or on another one.",
	Meaning: "While a target is gone, requests to it wait. When it is back, its clients connect again and replay what the server may have " +
		"lost, and the recovery ends when all have done so, or when its time is over. " +
		"The rule reports when a target was gone and back, what its clients met meanwhile, who came back, and how long requests had to wait. " +
		"That a target was restarted is proven by a server in recovery that does not know the connection of a client, by another instance " +
		"number, or by a server that said that it does not have the target.",
	Limits: "A client notices that a target is gone when it sends the next request, so that the target may have been gone for longer. How " +
		"many clients the target has is only known in captures of its server.",
	Next: "lshark recovery -v shows the steps of each client. Was the restart intended? If not, the console log of the server before " +
		"it, and that of the HA software (pacemaker), have the reason.",
	Samples: []string{"crashed_server.pcap.zst", "failback.pcap.zst", "failover.pcap.zst", "late_recovery.pcap.zst",
		"late_recovery_client.pcap.zst", "missed_recovery.pcap.zst", "no_answer.pcap.zst", "no_recovery.pcap.zst", "recovery.pcap.zst",
		"rolled_back.pcap.zst"},
	Thresholds: []*diagnose.Threshold{unreachableTime},
	Start:      startRecoveries(describeRestart),
})

func describeRestart(r *diagnose.Reporter, v *recovery.Recovery, f *diagnose.Finding) bool {
	switch v.Kind {
	case recovery.Restart:
		f.Text = targetName(v) + " " + was(1+v.Unnamed) + " restarted"
		if wasBefore(v) || isSet(v.TookPart) {
			f.Text = targetName(v) + " had been restarted"
		}
		f.Text += onServer(v, v.Server)
	case recovery.Reconnect, recovery.Eviction, recovery.Lost:
		return describeMGS(r, v, f)
	case recovery.Failover:
		f.Text = targetName(v) + " moved from " + v.ServerBefore.String() + " to " + v.Server.String()
	default:
		return false
	}
	f.Text += instanceText(v.InstanceBefore, v.Instance)
	if isSet(v.TookPart) {
		f.Text += " before " + nodes(clientNIDs(v.Clients)) + " connected in " + its(1+v.Unnamed) + " recovery; when is not in the capture"
		f.First = min(f.First, max(v.LastReply.Time, r.First()))
	} else if wasBefore(v) {
		f.Text += " before " + nodes(clientNIDs(v.Clients)) + " connected again; when is not in the capture"
	} else {
		f.Text += timesText(v)
	}
	if _, known := v.Downtime(); !known && isSet(v.LastReply) && isSet(v.Back) { // it may have been gone at any time between them
		f.First = min(f.First, v.LastReply.Time)
	}
	waits := impactText(v)
	if v.Target == "MGS" {
		waits = mountsWait
	}
	f.Text += "." + refusalsText(v) + clientsText(r, v) + waits + cutText(v)
	look := " Look who restarted it, or at the console of its server before it was gone."
	if v.Kind == recovery.Failover {
		look = " Look who moved it (the HA software has a log), or at the console of " + v.ServerBefore.String() + " before it was gone."
	}
	f.Brief = diagnose.Sentences(f.Text, 1) + waits + evictedText(v) + look
	f.Prove(v.LastReply, "the last reply of the target before")
	sign := "a sign that it is gone"
	if isSet(v.Starting) && v.Starting.Time < v.Gone.Time {
		sign = "a client finds out that it was gone"
	}
	f.Prove(v.Gone, "%s: %s", sign, goneText(v))
	f.Prove(v.Starting, "it is being started")
	f.Prove(v.Back, "it accepts a connect again")
	f.Prove(v.TookPart, "a client is let into the recovery, or replays")
	f.Prove(v.Announced, "the MGS announces that it was restarted")
	if v.Completed != v.Back {
		f.Prove(v.Completed, "its recovery is over")
	}
	slices.SortStableFunc(f.Evidence, func(a, b diagnose.Evidence) int { return cmp.Compare(a.Time, b.Time) })
	suspect(f, ofOutage(v)...)
	return true
}

const mountsWait = " Mounted file systems go on without it; mounts and changes of the configuration have to wait."

// describeMGS describes that the MGS was gone, as a capture shows it.
func describeMGS(r *diagnose.Reporter, v *recovery.Recovery, f *diagnose.Finding) bool {
	client := mgsClient(factsOf(r), v)
	if client == nil {
		return false
	}
	who := clientNIDs(v.Clients)
	f.Count = 1
	f.Text = "The MGS on " + v.Server.String() + " was gone for at most " + roundedUp(v.Back.Time-v.LastReply.Time) + ", though its node was up: it gave " +
		nodes(who) + " no reply, and did not know " + them(len(who)) + " any more when " + they(len(who)) + " connected again." + mountsWait
	f.Brief = f.Text + " Look who restarted the MGS."
	f.CompareTime(unreachableTime, v.Back.Time-v.LastReply.Time)
	suspect(f, ofOutage(v)...)
	f.Prove(v.LastReply, "the last reply of the MGS before")
	f.Prove(v.Gone, "a sign that it is gone: %s", goneText(v))
	f.Prove(client.Connected, "%s connects again, and the MGS does not know it any more", client.Connection.Client)
	return true
}

// mgsClient returns a client that proves that the MGS was gone, nil if none does. The MGS has no recovery: its clients had no reply and
// it did not know them any more, though its node answered them all the time.
func mgsClient(known *facts.Facts, v *recovery.Recovery) *recovery.Client {
	if v.Target != "MGS" || v.Kind.IsOutage() || v.GoneBy == recovery.SignNotConnected || !isSet(v.LastReply) || !isSet(v.Back) ||
		v.Back.Time-v.LastReply.Time < unreachableTime.Nanoseconds() {
		return nil
	}
	at := slices.IndexFunc(v.Clients, func(c *recovery.Client) bool { return c.Outcome == recovery.ClientEvicted && isSet(c.Connected) })
	if at < 0 {
		return nil
	}
	c := v.Clients[at]
	if _, ok := pathWorked(known, facts.HostOf(c.Connection.Client), facts.HostOf(v.Server), facts.Span{From: v.LastReply.Time, To: c.Connected.Time}); !ok {
		return nil
	}
	return c
}

// targetName returns the name of a target that was lost, or what is known instead.
func targetName(v *recovery.Recovery) string {
	server := v.ServerBefore
	if server == (lnet.NID{}) {
		server = v.Server
	}
	switch {
	case v.Target != "":
		return v.Target
	case v.Unnamed > 0:
		return "one or more targets of " + server.String()
	}
	return "a target of " + server.String()
}

// onServer returns words for a server of the target, nothing where its name is not known:
// targetName names the server then.
func onServer(v *recovery.Recovery, server lnet.NID) string {
	if v.Target == "" {
		return ""
	}
	return on(server)
}

// cutText returns a sentence about the clients of which it was not captured how it ended, with a space
// before it.
func cutText(v *recovery.Recovery) string {
	var clients []lnet.NID
	for _, c := range v.Clients {
		if c.IsCut {
			clients = withNew(clients, c.Connection.Client, unlimited)
		}
	}
	if len(clients) == 0 {
		return ""
	}
	return " Whether " + nodes(clients) + " recovered or " + was(len(clients)) + " evicted was not captured."
}

// wasBefore reports whether a target was restarted some time before the first sign of that.
func wasBefore(v *recovery.Recovery) bool {
	refused := slices.ContainsFunc(v.Clients, func(c *recovery.Client) bool { return len(c.Refusals) > 0 || c.Unanswered > 0 })
	return v.Kind == recovery.Restart && !isSet(v.LastReply) && !isSet(v.Starting) && !refused &&
		(v.GoneBy == recovery.SignNotConnected || v.GoneBy == recovery.SignReconnect)
}

// timesText returns how long clients were without a target, after a colon.
func timesText(v *recovery.Recovery) (text string) {
	who := firstBack(v)
	if down, ok := v.Downtime(); ok {
		isExact := isSet(v.LastReply) && !v.Gone.IsLog() || v.Gone.IsLog() && v.GoneBy == recovery.SignStopping // clients find out some time after that
		text = ": " + who + " was connected again after " + atLeastTime(v.IsLossy || !isExact, down)
	} else if down, ok := v.DowntimeLimit(); ok {
		text = ": " + who + " was connected again less than " + roundedUp(down) + " after its last reply"
	}
	window, ok := v.Window()
	if !ok {
		return text
	}
	if text == "" {
		text = ": its recovery was over after " + duration(window)
	} else {
		text += ", and the recovery was over " + duration(window) + " later"
	}
	if v.Counted.NoneRecovered() {
		return text + ", without a client that had recovered"
	}
	if last := lastClient(v); last != nil {
		text += ", as the target waited for " + last.Connection.Client.String()
	}
	return text
}

// firstBack returns the client that came back first: the one that is known to have, where others may have been sooner.
func firstBack(v *recovery.Recovery) string {
	list := clientNIDs(v.Clients)
	if len(list) == 1 {
		return nodes(list)
	}
	if _, all := v.Known(); all && !v.MayBeSooner {
		return "the first client"
	}
	for _, c := range v.Clients {
		if isSet(v.Back) && c.Connected == v.Back {
			return c.Connection.Client.String()
		}
	}
	if v.Back.IsLog() { // of the server
		return "the first client"
	}
	return "the first client in the capture"
}

// goneText returns what showed first that a target is gone.
func goneText(v *recovery.Recovery) string {
	if v.GoneBy == recovery.SignStopping && v.Gone.IsLog() {
		return "its server unmounts it"
	}
	return signTexts[v.GoneBy]
}

// signTexts say what shows that a target is gone.
var signTexts = map[recovery.Sign]string{
	recovery.NoSign:           "a client connects again",
	recovery.SignReconnect:    "a client connects again",
	recovery.SignNotConnected: "the server does not know the client any more",
	recovery.SignRefused:      "the server does not have the target",
	recovery.SignUnanswered:   "a request without a reply",
	recovery.SignStopping:     "it disconnects from other targets, as it does when it is stopped",
	recovery.SignLog:          "a client loses the connection",
}

// mayBeMore reports whether there may be more of what is counted: bytes were not captured, or a part is known by logs, which do not have all requests.
func mayBeMore(v *recovery.Recovery) bool {
	return v.Lacks || v.OnlyLogged || v.Gone.IsLog() || v.Back.IsLog()
}

// refusalsText returns a sentence about the connects that were refused, with a space
// before it.
func refusalsText(v *recovery.Recovery) string {
	counts := make(map[int32]int64)
	total, unanswered := int64(0), 0
	for _, c := range v.Clients {
		unanswered += c.Unanswered
		for status, n := range c.Refused() {
			counts[status] += n
			total += n
		}
	}
	with := errorCounts(counts)
	if len(counts) == 1 {
		with = errorName(sortedErrors(counts)[0])
	}
	text := ""
	switch {
	case total == 1 && mayBeMore(v):
		text = " Meanwhile at least 1 connect was refused with " + with + "."
	case total == 1:
		text = " Meanwhile a connect was refused with " + with + "."
	case total > 1:
		text = " Meanwhile " + atLeast(mayBeMore(v)) + plural(total, "connect") + " were refused with " + with + "."
	}
	if unanswered > 0 {
		text += sentence(atLeast(mayBeMore(v))+plural(unanswered, "connect")) + " got no reply."
	}
	return text
}

// clientsText returns a sentence about the clients, with a space before it.
func clientsText(r *diagnose.Reporter, v *recovery.Recovery) (text string) {
	back := 0
	var nids []lnet.NID
	for _, c := range v.Clients {
		came := c.Outcome == recovery.ClientRecovered || c.Outcome == recovery.ClientRecovering || c.Outcome == recovery.ClientReconnected ||
			c.Outcome == recovery.ClientEvicted && isSet(c.Connected) && c.Connected.Time < c.Evicted.Time
		if came && c.Type != "lwp" && c.Type != "mgc" {
			back++
			nids = withNew(nids, c.Connection.Client, unlimited)
		}
	}
	if v.Unnamed > 0 { // each may have lost several targets
		back = len(nids)
	}
	switch n, ok := v.Known(); {
	case v.Counted.IsOver && v.Counted.Recovered > 0:
		text = " By the log of its server, " + strconv.Itoa(v.Counted.Recovered) + " of " + plural(n, "client") + " recovered."
	case back == 0, !ok && back == 1, isSet(v.TookPart):
	case ok && n >= back && v.Counted.Clients == 0: // those on the node of the server, and idle ones, are in no capture
		text = sentence(atLeast(v.Lacks && n > back)+strconv.Itoa(back)) + " of " + plural(n, "client") + " in the capture came back"
		if n > back && !hadTime(r, v) {
			text += " by its end"
		}
		text += "."
	default:
		text = sentence(atLeast(v.Lacks)+plural(back, "client")) + " came back."
	}
	var replayed []string
	requests, locks := v.Replayed()
	if requests.Count > 0 {
		replayed = append(replayed, plural(requests.Count, "request"))
	}
	if locks.Count > 0 {
		replayed = append(replayed, plural(locks.Count, "lock"))
	}
	if len(replayed) > 0 && back > 0 {
		text += sentence(atLeast(mayBeMore(v))+words(replayed)) + " " + was(requests.Count+locks.Count) + " replayed."
	}
	text += evictedText(v)
	if missing := missingClients(r, v); len(missing) > 0 {
		text += " Not seen again: " + nodes(missing) + "."
	}
	return text
}

// evictedText returns a sentence about the clients that were evicted, and the servers among
// them, with a space before it.
func evictedText(v *recovery.Recovery) string {
	var clients, late []lnet.NID
	servers := 0
	inTime := false
	for _, c := range v.Clients {
		inTime = inTime || c.Connected.Time < c.Evicted.Time
		switch {
		case c.Outcome != recovery.ClientEvicted, c.Type == "mgc": // which loses nothing
		case c.Type != "client" && c.Type != "":
			servers++
		case isSet(v.Completed) && c.Connected.Time > v.Completed.Time:
			late = withNew(late, c.Connection.Client, unlimited)
		default:
			clients = withNew(clients, c.Connection.Client, unlimited)
		}
	}
	text := nodes(clients)
	if servers > 0 {
		text = strings.TrimPrefix(text+" and "+plural(servers, "connection")+" of servers", " and ")
	}
	if len(late) > 0 {
		text = strings.TrimPrefix(text+", and "+nodes(late)+", which connected when the recovery was over", ", and ")
	}
	if text == "" {
		return ""
	}
	text = " It evicted " + text
	if isSet(v.Completed) || servers > 0 || inTime {
		return text + "."
	}
	return text + ": there was no recovery when it connected (it was over, or there was none)."
}

// missingClients returns the nodes of the clients that did not come back, although the capture
// shows all and went on for long enough.
func missingClients(r *diagnose.Reporter, v *recovery.Recovery) (list []lnet.NID) {
	if _, atServer := v.Known(); !atServer || !hadTime(r, v) {
		return nil
	}
	for _, c := range v.Clients {
		if c.Outcome == recovery.ClientMissing {
			list = withNew(list, c.Connection.Client, unlimited)
		}
	}
	return list
}

// hadTime reports whether the capture goes on for so long that all clients should be back.
func hadTime(r *diagnose.Reporter, v *recovery.Recovery) bool {
	return isSet(v.Completed) || r.Now()-v.Back.Time >= recoveryLate.Nanoseconds()
}

var shortestWindow = &diagnose.Threshold{Name: "from the last sign that the target was absent", Value: 30, Unit: "s",
	Reason: "a target waits for the clients that it knows for longer, also with recovery_time_soft at its least, unless the recovery is aborted"}

var _ = add(diagnose.Rule{
	Code:     "restart.no_recovery",
	Logs:     true,
	Severity: diagnose.Error,
	Noun:     "restart without a recovery",
	Summary:  "A target came back without a recovery: it evicted all clients, also the first to connect.",
	Meaning: "A target that was restarted waits for the clients that it had. One that was unmounted with -f, was mounted with abort_recov, " +
		"or lost its list of clients (last_rcvd) knows none, and evicts all that come: what they had cached and not yet written is lost. " +
		"The rule looks for restarts after which no client was let into a recovery, and the first one was evicted so soon after the target " +
		"was still absent that no recovery can have ended before.",
	Limits: "Where the capture does not show that the target was absent shortly before, a client may have come after the end of a " +
		"recovery: that is evicted.recovery.",
	Next: "Find out who restarted the target, and how: umount -f, mount -o abort_recov, a script of the HA software. The console log " +
		"of the server has \"evicting\" or \"denying\" lines. Applications of all clients must check what they wrote last.",
	Thresholds: []*diagnose.Threshold{shortestWindow},
	Samples:    []string{"no_recovery.pcap.zst"},
	Start: startRecoveries(func(_ *diagnose.Reporter, v *recovery.Recovery, f *diagnose.Finding) bool {
		evicted, ok := withoutRecovery(v)
		if !ok {
			return false
		}
		first := " "
		if len(evicted) > 1 {
			first = ", the first "
		}
		f.Text = targetName(v) + " was restarted on " + v.Server.String() + instanceText(v.InstanceBefore, v.Instance) +
			" without a recovery: it evicted " + nodes(clientNIDs(evicted)) + first + atMostTime(v.Lacks, v.Back.Time-lastAbsent(v)) +
			" after the server had said that it does not have the target." + refusalsText(v) + impactText(v)
		f.Brief = targetName(v) + " was restarted on " + v.Server.String() + " without a recovery: it evicted " + nodes(clientNIDs(evicted)) +
			" at once" + lostText(evicted) + ". Look who restarted it, and how (umount -f, abort_recov), not at the clients."
		f.Prove(v.LastReply, "the last reply of the target before")
		f.Prove(v.Gone, "a sign that it is gone: %s", goneText(v))
		for _, c := range evicted {
			f.Prove(c.Evicted, "%s connects, and is evicted", c.Connection.Client)
		}
		f.CompareTime(shortestWindow, evicted[0].Evicted.Time-lastAbsent(v))
		suspect(f, ofOutage(v)...)
		return true
	}),
})

// lostText says what clients lose that are evicted. Connections of other servers have nothing that is not written.
func lostText(evicted []*recovery.Client) string {
	if slices.ContainsFunc(evicted, func(c *recovery.Client) bool { return c.Type == "client" || c.Type == "" }) {
		return ", and what clients had not yet written is lost"
	}
	return ""
}

// withoutRecovery returns the clients that a restarted target evicted, if it let none into
// a recovery although it was absent shortly before.
func withoutRecovery(v *recovery.Recovery) (evicted []*recovery.Client, ok bool) {
	if v.Kind != recovery.Restart && v.Kind != recovery.Failover || isSet(v.Completed) {
		return nil, false
	}
	for _, c := range v.Clients {
		switch {
		case c.Type == "mgc" || c.Type == "lwp":
		case c.Outcome == recovery.ClientEvicted && isSet(c.Evicted):
			evicted = append(evicted, c)
		case c.Outcome == recovery.ClientRecovered || c.Outcome == recovery.ClientRecovering || c.Outcome == recovery.ClientReconnected ||
			c.Outcome == recovery.ClientUnknown:
			return nil, false
		}
	}
	absent := lastAbsent(v)
	return evicted, len(evicted) > 0 && absent != 0 && evicted[0].Evicted.Time-absent < shortestWindow.Nanoseconds()
}

// lastAbsent returns when the server said last that it does not have the target, 0 if it
// never did.
func lastAbsent(v *recovery.Recovery) (at int64) {
	for _, c := range v.Clients {
		for i := range c.Refusals {
			if r := &c.Refusals[i]; r.Status == opcodes.ENODEV && (r.Last.Time < v.Back.Time || !isSet(v.Back)) {
				at = max(at, r.Last.Time)
			}
		}
	}
	return at
}

var _ = add(diagnose.Rule{
	Code:     "restart.rolled_back",
	Logs:     true,
	Severity: diagnose.Error,
	Noun:     "rolled-back target",
	Summary:  "A target came back with an older state of its disk.",
	Meaning: "A target counts its starts, and never backwards. One that comes back with a lower number than before runs on an older copy " +
		"of its disk: a snapshot that was rolled back, a backup, or the wrong half of a mirror. " +
		"What was committed since is gone: clients that replay changes fail (ENOENT, ESTALE, EOVERFLOW), and are evicted.",
	Limits: "A target that was rolled back and started so often that its number is higher than before is not found.",
	Next: "Find out who rolled back or restored the disk of the target (zpool history, snapshots, the storage array), and whether the " +
		"newer state still exists. Stop using the file system until that is known; other targets and the clients have newer data: lctl " +
		"lfsck_start afterwards.",
	Samples: []string{"rolled_back.pcap.zst"},
	Start: startRecoveries(func(_ *diagnose.Reporter, v *recovery.Recovery, f *diagnose.Finding) bool {
		if !isRolledBack(v) {
			return false
		}
		f.Text = fmt.Sprintf("%s%s came back with an older state of its disk (started %d times before, and %d times now): what it had "+
			"committed since is gone.", targetName(v), onServer(v, v.Server), v.InstanceBefore, v.Instance)
		requests, _ := v.Replayed()
		if len(requests.Errors) > 0 {
			f.Text += " Of " + plural(requests.Count, "replayed request") + " some failed: " + errorCounts(requests.Errors) + "."
		}
		f.Text += evictedText(v)
		if isSet(v.LastReply) {
			f.First = min(f.First, v.LastReply.Time)
		}
		f.Brief = diagnose.Sentences(f.Text, 1) + " Look who rolled back or restored its disk, not at the clients."
		f.Prove(v.LastReply, "the last reply of the target before")
		f.Prove(v.Back, "it accepts a connect again, with the lower number")
		f.Prove(requests.First, "the first replayed request")
		server := cmp.Or(v.ServerBefore, v.Server)
		suspect(f, atTarget(v.Target, server), byAdmin, atStorage(v.Target, server), atNode(server))
		return true
	}),
})

// isRolledBack reports whether a target has been started less often than before.
func isRolledBack(v *recovery.Recovery) bool {
	return v.InstanceBefore > v.Instance && v.Instance != 0 && (v.Kind == recovery.Restart || v.Kind == recovery.Failover)
}

var unreachableTime = &diagnose.Threshold{Name: "without an answer", Value: 10, Unit: "s",
	Reason: "a client that lost its connections connects again in less, if the server is well"}

var _ = add(diagnose.Rule{
	Code:     "restart.unreachable",
	Logs:     true,
	Severity: diagnose.Error,
	Noun:     "target that did not come back",
	Summary:  "A target that clients used was stopped, or did not answer any more, and was not seen again.",
	Meaning: "Clients lost a target: requests and then connects to it were not answered until the end of the capture, as its server is down, " +
		"hangs, or is cut off; or its server said that it does not have the target any more. Applications wait until it is back. " +
		"Requests whose replies the capture may have missed do not count.",
	Limits: "What happened to the server is not in the capture.",
	Next: "Is the server up (ping, lctl ping NID from a client)? Its console log; the HA software, if the target should have moved to " +
		"another server.",
	Thresholds: []*diagnose.Threshold{unreachableTime, connectSoon},
	Start: startRecoveries(func(r *diagnose.Reporter, v *recovery.Recovery, f *diagnose.Finding) bool {
		wasStopped := v.Kind == recovery.Stopped && isSet(v.LastReply)
		if v.Kind != recovery.Unreachable && !wasStopped || v.ServerBefore == (lnet.NID{}) { // of a second server, nothing is known
			return false
		}
		if !wasStopped && r.Now()-v.Begin() < unreachableTime.Nanoseconds() {
			return false
		}
		f.Text = targetName(v) + onServer(v, v.ServerBefore)
		if wasStopped {
			f.Text += " " + was(1+v.Unnamed) + " stopped. "
			if f.Last = lastAbsent(v); f.Last-f.First < connectSoon.Nanoseconds() {
				f.Severity = diagnose.Warning
			}
			f.CompareTime(connectSoon, f.Last-f.First)
		} else {
			f.Text += " did not answer any more. "
			f.CompareTime(unreachableTime, r.Now()-v.Begin())
		}
		f.Text += nodes(clientNIDs(v.Clients)) + " lost " + them(1+v.Unnamed)
		if mayBeBack(v) {
			f.Severity = diagnose.Warning
			f.Text += "; whether " + they(len(clientNIDs(v.Clients))) + " connected again is not known, as the capture lacks messages." + refusalsText(v)
		} else {
			f.Text += " and " + was(len(clientNIDs(v.Clients))) + " not connected again by the end of the capture." + refusalsText(v)
		}
		if wasStopped {
			f.Brief = f.Text + " Look who stopped it, and where it should run now (the HA software has a log)."
			f.Next = "Was that intended? The console log of the server before it, and that of the HA software (pacemaker), have the reason. lctl " +
				"get_param *.*.import on a client shows which servers it tries."
		}
		f.Text += impactText(v)
		if suspect(f, ofOutage(v)...); !wasStopped {
			for _, client := range clientNIDs(v.Clients) {
				f.Suspects = append(f.Suspects, onPath(client, v.ServerBefore))
			}
		}
		f.Prove(v.LastReply, "its last reply")
		if !slices.ContainsFunc(v.Clients, func(c *recovery.Client) bool { return c.Lost == v.Gone }) {
			f.Prove(v.Gone, "%s", goneText(v))
		}
		for _, c := range v.Clients {
			f.Prove(c.Lost, "%s loses the target: %s", c.Connection.Client, signTexts[c.LostBy])
		}
		return true
	}),
})

// mayBeBack reports whether messages are missing in which a client may have connected again.
func mayBeBack(v *recovery.Recovery) bool {
	return slices.ContainsFunc(v.Clients, func(c *recovery.Client) bool { return c.Outcome == recovery.ClientUnknown })
}

var _ = add(diagnose.Rule{
	Code:     "restart.together",
	Logs:     true,
	Severity: diagnose.Error,
	Noun:     "restart of several targets",
	Summary:  "Several targets of a server were restarted about the same time.",
	Meaning: "Targets that are gone at the same time were restarted by one hand or script, moved together, or lie on one pool of disks. " +
		"The rule reports restarts of targets on the same server, each of which was gone before another one was back. The findings about each " +
		"target follow from it.",
	Limits: "A client notices that a target is gone when it sends the next request: one may have been back on its server when the next one " +
		"was stopped. " +
		"Where one target came back with an older state of its disk and another one is not known to, that is restart.rolled_back.",
	Next: "lshark recovery -v shows the steps of each client. Was the restart intended? If not, the console log of the server before " +
		"it, and that of the HA software (pacemaker), have the reason.",
	Samples: []string{"crashed_server.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		var list []*recovery.Recovery
		known, loaded := factsOf(r), fifo.NewMap[lnet.NID, track.LogLine](maxTargets) // the last time on each node
		return diagnose.Hooks{Recovery: func(v *recovery.Recovery) {
			if (v.Kind == recovery.Restart || v.Kind == recovery.Failover) && v.Target != "" && len(list) < maxRestarts {
				list = append(list, v)
			}
		}, Line: func(l *track.LogLine) {
			if l.Kind == debuglog.Loaded && l.Node.Len > 0 {
				fifo.Put(loaded, l.Node, *l)
			}
		}, End: func() {
			slices.SortStableFunc(list, func(a, b *recovery.Recovery) int { return cmp.Compare(a.Begin(), b.Begin()) })
			for len(list) > 0 {
				var group, rest []*recovery.Recovery
				for _, v := range list {
					if len(group) == 0 || overlaps(group, v) {
						group = append(group, v)
					} else {
						rest = append(rest, v)
					}
				}
				if f := restartedTogether(group); f != nil {
					server := cmp.Or(group[0].ServerBefore, group[0].Server)
					if l, ok := fifo.Get(loaded, server); ok && l.Time > f.First && l.Time < f.Last {
						f.Text += " Lustre was loaded anew on " + server.String() + " meanwhile: it was booted, or somebody has unloaded the modules before."
						f.Brief = f.Text + " Look at the console of the server before the first sign, and at its BMC or hypervisor."
						f.ProveLine(&l)
						suspect(f, atNode(server), byAdmin)
					} else {
						excludeNode(f, known, server, facts.Span{From: f.First, To: f.Last})
						excludeUnmounted(f, server, group...)
					}
					r.Report(*f)
				}
				list = rest
			}
		}}
	},
})

// overlaps reports whether a target was gone on the same server as one of a list, at the same time.
func overlaps(list []*recovery.Recovery, v *recovery.Recovery) bool {
	return slices.ContainsFunc(list, func(o *recovery.Recovery) bool {
		from := o.ServerBefore == v.ServerBefore || o.ServerBefore.Len == 0 || v.ServerBefore.Len == 0
		return o.Target != v.Target && o.Kind == v.Kind && o.Server == v.Server && from && v.Begin() < o.Back.Time && o.Begin() < v.Back.Time
	})
}

// restartedTogether describes targets that were gone at the same time, nil if it is one.
func restartedTogether(targets []*recovery.Recovery) *diagnose.Finding {
	unrecovered, rolledBack := 0, 0
	for _, v := range targets {
		if _, ok := withoutRecovery(v); ok {
			unrecovered++
		}
		if isRolledBack(v) {
			rolledBack++
		}
	}
	n, server := len(targets), targets[0].Server
	if n < 2 || rolledBack > 0 && rolledBack < n {
		return nil
	}
	f := &diagnose.Finding{Subject: diagnose.Subject{Server: server, Detail: strconv.FormatInt(targets[0].Begin(), 10)},
		Severity: diagnose.Warning,
		First:    targets[0].Begin()}
	sum := sumRestarts(targets)
	f.Last, f.Targets = max(sum.last.Time, sum.recovered.Time), sum.names
	how, look := " were restarted"+on(server)+" about the same time", "Look who restarted them, or at the console of their server "+
		"before they were gone."
	switch {
	case rolledBack == n:
		f.Severity = diagnose.Error
		how, look = on(server)+" came back with older states of their disks, and what they had committed since is gone", "Look who rolled back or restored the disks, not at the clients."
	case unrecovered == n:
		f.Severity = diagnose.Error
		how += ", without a recovery"
		look = "Look who restarted them, and how (umount -f, abort_recov), not at the clients."
	case sum.moved: // as all others in the list
		f.Node = targets[0].ServerBefore
		how = " moved from " + targets[0].ServerBefore.String() + " to " + server.String() + " about the same time"
	}
	f.Text = words(sum.names) + how + ": all were back " + duration(sum.last.Time-f.First) + " after the first sign"
	if isSet(sum.recovered) {
		f.Text += ", and clients had recovered after " + duration(sum.recovered.Time-f.First)
	}
	f.Text += "." + impactOf(sum.impact, false)
	f.Brief = f.Text + " " + look
	suspect(f, atTarget("", server), byAdmin, atNode(cmp.Or(targets[0].ServerBefore, server)))
	f.Prove(targets[0].Gone, "the first sign that %s is gone: %s", targets[0].Target, goneText(targets[0]))
	for _, v := range targets {
		f.Prove(v.Back, "%s accepts a connect again", v.Target)
	}
	f.Prove(sum.recovered, "clients of the last target have recovered")
	return f
}

// restartSum sums up restarts of targets.
type restartSum struct {
	names                  []string    // in order
	unnamed                bool        // there are others
	lastReply              track.Point // of the targets before
	first, last, recovered track.Point // the first and the last connect that was accepted; when the last one had recovered
	impact                 recovery.Impact
	moved                  bool // a target is on another server
}

func sumRestarts(list []*recovery.Recovery) (s restartSum) {
	for _, v := range list {
		if v.Target != "" {
			s.names = append(s.names, v.Target)
		} else {
			s.unnamed = true
		}
		if v.LastReply.Time > s.lastReply.Time {
			s.lastReply = v.LastReply
		}
		if !isSet(s.first) || v.Back.Time < s.first.Time {
			s.first = v.Back
		}
		if v.Back.Time > s.last.Time {
			s.last = v.Back
		}
		if v.Completed.Time > s.recovered.Time {
			s.recovered = v.Completed
		}
		s.moved = s.moved || v.Kind == recovery.Failover
		one := v.Impact()
		s.impact.Lacks = s.impact.Lacks || one.Lacks
		s.impact.Waited += one.Waited
		s.impact.Unanswered += one.Unanswered
		s.impact.Longest = max(s.impact.Longest, one.Longest)
	}
	slices.Sort(s.names)
	return s
}
