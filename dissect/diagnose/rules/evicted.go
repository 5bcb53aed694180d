package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/opcodes"
)

// The texts that rules about evictions have in common.
const (
	evictionMeaning = "An evicted client loses its locks and what it has cached under them and not yet written; its applications get EIO " +
		"for what was in progress. "
	evictionLimits = "An eviction shows when the client connects again: the server evicted it some time before the message that the " +
		"finding names. "
)

// addEviction registers a rule about evictions with one cause. Where it joins, evictions of a client by several targets about
// the same time are one, and those of several clients by a target. describe adds what is known of it to a finding that has its subject and
// times.
func addEviction(cause evictions.Cause, joins bool, rule diagnose.Rule, describe func(jointEviction, *diagnose.Finding)) bool {
	rule.Severity, rule.Noun, rule.Logs = diagnose.Error, "eviction", true
	rule.Start = func(r *diagnose.Reporter) diagnose.Hooks {
		var groups []jointEviction // the last ones
		known := factsOf(r)
		return diagnose.Hooks{Eviction: func(e *evictions.Eviction) {
			if e.Cause != cause || e.Kind == "mgc" && e.Client == e.Server { // of itself
				return
			}
			at := slices.IndexFunc(groups, func(j jointEviction) bool { return joins && j.takes(e) })
			if at < 0 {
				if len(groups) == maxEvictions {
					groups = groups[1:]
				}
				at, groups = len(groups), append(groups, nil)
			}
			groups[at] = append(groups[at], e)
			list := groups[at]
			f := evictionFinding(list[0])
			if f.Count = int64(len(list)); joins {
				f.Key = f.Detail
			}
			refused := list[0].Refused
			for _, e := range list[1:] {
				if evictedFrom(e) != evictedFrom(list[0]) {
					f.Target, f.TargetIndex, f.Targets = "", "", list.targets()
				}
				if f.Client != e.Client {
					f.Client = lnet.NID{}
				}
				if f.Server != e.Server {
					f.Server = lnet.NID{}
				}
				f.First, f.Last = min(f.First, e.Lost.Time), max(f.Last, e.At.Time)
				refused.Add(&e.Refused)
			}
			f.Suspects = list.suspects()
			if list[0].ByLog {
				f.Text = logText(list.String(), list[0])
			} else {
				describe(list, &f)
			}
			for _, e := range list {
				if e.Cause == evictions.Silence && isSet(e.Served) {
					excludePath(&f, known, e.Client, e.Server, facts.Span{From: e.Served.Time, To: e.Lost.Time})
				}
			}
			f.Text += lossText(&refused)
			for _, e := range list {
				proveEviction(e, &f)
			}
			tell(&f, known)
			r.Report(f)
		}}
	}
	return add(rule)
}

// jointEviction are evictions of a client, or by a target, about the same time.
type jointEviction []*evictions.Eviction

const maxEvictions = 64 // at once, and groups of them

// takes reports whether an eviction belongs to others: all are of one client, or all by one
// target. Clients that were silent, or of which a log tells, have each a reason of their own; of what is
// captured more places are excluded.
func (j jointEviction) takes(e *evictions.Eviction) bool {
	client, target := true, evictedFrom(e).IsKnown() && e.Cause != evictions.Silence && !e.ByLog && !j[0].ByLog
	for _, o := range j {
		client = client && o.Client == e.Client && o.ByLog == e.ByLog
		target = target && evictedFrom(o) == evictedFrom(e)
	}
	return (client || target) && len(j) < maxEvictions && slices.ContainsFunc(j, func(o *evictions.Eviction) bool { return mayCoincide(o, e) })
}

// mayCoincide reports whether two evictions may have been at the same moment: a client finds out
// by its next pings, and other clients by theirs.
func mayCoincide(a, b *evictions.Eviction) bool {
	apart := int64(10e9)
	if a.Client != b.Client {
		apart *= 3
	}
	return (a.Kind == "mgc") == (b.Kind == "mgc") && a.Served.Time <= b.Lost.Time && b.Served.Time <= a.Lost.Time &&
		max(a.Lost.Time, b.Lost.Time)-min(a.Lost.Time, b.Lost.Time) <= apart
}

// String returns the begin of a sentence: "lustre-OST0000 evicted 192.0.2.4@tcp".
func (j jointEviction) String() string {
	who := clientText(j[0])
	if list := j.clients(); len(list) > 1 {
		who = nodes(list)
	}
	return words(j.targets()) + " evicted " + who
}

func (j jointEviction) targets() (names []string) {
	for _, e := range j {
		names = withNew(names, evictedFrom(e).String(), unlimited)
	}
	slices.Sort(names)
	return names
}

func (j jointEviction) clients() (list []lnet.NID) {
	for _, e := range j {
		list = withNew(list, e.Client, unlimited)
	}
	return list
}

// silence returns the shortest and the longest silence, and whether one began before the capture.
func (j jointEviction) silence() (shortest, longest int64, begunBefore bool) {
	shortest = j[0].Silence
	for _, e := range j {
		shortest, longest = min(shortest, e.Silence), max(longest, e.Silence)
		begunBefore = begunBefore || !isSet(e.Served)
	}
	return shortest, longest, begunBefore
}

// suspects returns the places where the cause of evictions may be. What several servers did not
// hear is no matter of the path to one of them.
func (j jointEviction) suspects() (list []diagnose.Place) {
	for i, e := range j {
		places := evictionSuspects(e)
		if both := diagnose.CommonPlaces(list, places); i > 0 && e.Cause == evictions.Silence && len(both) > 0 {
			list = both
			continue
		}
		for _, p := range places {
			list = withNew(list, p, maxNames)
		}
	}
	return list
}

// evictionSuspects returns the places where the cause of an eviction may be, by its kind. A server is a client of itself, too.
func evictionSuspects(e *evictions.Eviction) []diagnose.Place {
	return slices.DeleteFunc(suspectsByCause(e), func(p diagnose.Place) bool { return p.IsBetween() && p.Node == p.Peer })
}

func suspectsByCause(e *evictions.Eviction) []diagnose.Place {
	target := atTarget(evictedFrom(e).Label(), e.Server)
	client, path := atNode(e.Client), onPath(e.Client, e.Server)
	if e.Kind == "mgc" && e.Cause != evictions.Admin {
		return []diagnose.Place{target, byAdmin, client, path, inLNet(e.Client, e.Server)}
	}
	switch e.Cause {
	case evictions.Denied:
		return []diagnose.Place{atConfig(e.Client), target, byAdmin}
	case evictions.Admin:
		return []diagnose.Place{byAdmin}
	case evictions.Version:
		return []diagnose.Place{target, byAdmin, atStorage(target.Target, e.Server)}
	case evictions.Recovery:
		return []diagnose.Place{target, byAdmin, client, path}
	case evictions.LockCallback:
		if len(e.Locks) > 0 && isSet(e.Locks[0].Callback.Answered) {
			return []diagnose.Place{atHolder(e.Client)}
		}
		return []diagnose.Place{atHolder(e.Client), client, path, inLNet(e.Client, e.Server)}
	case evictions.Silence:
		return []diagnose.Place{client, path, inLNet(e.Client, e.Server)}
	}
	list := []diagnose.Place{byAdmin}
	if e.Recent != nil {
		list = append(list, atHolder(e.Client))
	}
	if e.IsEarly || e.IsLossy { // a callback, which it may have missed, or a restart that was not captured
		list = append(withNew(list, atHolder(e.Client), unlimited), target)
	}
	if e.IsLossy || !isSet(e.Served) { // it may have been silent
		list = append(list, client, path)
	}
	if len(list) > 1 {
		list = append(list, inLNet(e.Client, e.Server))
	}
	if e.IsLossy {
		list = append(list, notCaptured)
	}
	return list
}

// evictionFinding returns a finding with the subject and the times of an eviction.
func evictionFinding(e *evictions.Eviction) diagnose.Finding {
	f := diagnose.Finding{
		Subject: evictedFrom(e).subject(),
		First:   e.Lost.Time, Last: e.At.Time,
	}
	f.Client, f.Server, f.Detail = e.Client, e.Server, e.At.File+strconv.FormatInt(cmp.Or(e.At.Frame, e.At.Time), 10)
	if e.Kind == "mgc" || e.Target == "MGS" { // which loses nothing but the locks on its configuration
		f.Severity, f.Noun = diagnose.Note, "client that had to connect to the MGS anew"
		if e.Cause == evictions.LockCallback {
			f.Noun = "client that the MGS evicted"
		}
	}
	if e.IsOfEarlierMount {
		f.Severity = diagnose.Note
	}
	if e.Line != nil { // the client finds out later, and may have been silent for long
		f.First = min(f.First, e.Line.Time-e.Line.Service)
	}
	return f
}

// clientText returns the node of the client, or what a log has in place of it.
func clientText(e *evictions.Eviction) string {
	switch {
	case e.Client != (lnet.NID{}):
		return e.Client.String()
	case e.Connection.ClientUUID != "":
		return "the client " + e.Connection.ClientUUID
	}
	return "the client of the log"
}

// evictedFrom returns the target that evicted a client.
func evictedFrom(e *evictions.Eviction) targetKey {
	return namedTarget(e.Target, e.Connection.TargetIndex, e.Server)
}

// lossText returns a sentence about the requests that the server refused, with a space
// before it; empty when there are none.
func lossText(f *track.Refusals) string {
	if f.Count == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(" It refused " + plural(f.Count, "request"))
	switch {
	case f.Writes == f.Count:
		b.WriteString(" to write data")
	case f.Writes > 0:
		b.WriteString(", " + strconv.FormatInt(f.Writes, 10) + " of them to write data")
	case f.Count == 1:
		b.WriteString(" (" + operationText(f.FirstCode) + ")")
	default:
		b.WriteString(", first " + operationText(f.FirstCode))
	}
	if f.Job != "" {
		b.WriteString(", of job " + f.Job)
	}
	b.WriteString(": applications got an error for them.")
	return b.String()
}

// logText returns what the logs say about an eviction. who is the begin of the sentence.
func logText(who string, e *evictions.Eviction) string {
	switch {
	case e.Line == nil && e.Cause == evictions.Recovery:
		return who + ", after the target had not been there for a while."
	case e.Line == nil && e.Kind == "mgc":
		return clientText(e) + " connected anew to the MGS, which did not know it any more, or to which it had given up the connection itself. It reads the configuration again."
	case e.Line == nil:
		return who + ". The log of the client does not say why; that of the server may."
	}
	because := map[debuglog.Reason]string{
		debuglog.ByAdmin:        "an administrator asked for it",
		debuglog.ByLockCallback: "it did not give back a lock in time",
		debuglog.BySilence:      "nothing was heard from it for long",
		debuglog.ByRecovery:     "it had not come back, or not finished, when the recovery of the target ended",
	}[e.Line.Reason]
	if ast := e.Line.State; ast != "" {
		because = "it did not answer a " + ast + " callback, or with an error"
	}
	text := who + " because " + because + ", by the log of the server."
	if e.IsOfEarlierMount {
		text += " That was an earlier mount of this node: another one is served all along."
	}
	return text
}

// proveEviction adds the messages that show an eviction, and the line of the server's log.
func proveEviction(e *evictions.Eviction, f *diagnose.Finding) {
	f.ProveLine(e.Line)
	if e.HasLostBy {
		f.Prove(e.Lost, "the server does not know the client any more: it refuses %s", operationText(e.LostBy))
	}
	if e.Refused.Count > 0 && e.Refused.First.Frame != e.Lost.Frame {
		f.Prove(e.Refused.First, "it refuses %s", operationText(e.Refused.FirstCode))
	}
	switch {
	case e.At.IsLog() && e.Line != nil && e.At == e.Line.Point():
	case e.At.IsLog():
		f.Prove(e.At, "the client finds out that it was evicted")
	case e.Status == 0:
		f.Prove(e.At, "the reply to the client's connect shows that it was evicted")
	}
}

// instanceText returns how the number of a target's starts has changed, in
// parentheses and with a space before, empty when that is unknown.
func instanceText(before, now uint32) string {
	if before == 0 || now == 0 || before == now {
		return ""
	}
	return " (instance " + strconv.Itoa(int(before)) + ", then " + strconv.Itoa(int(now)) + ")"
}

// atLeast returns words for a number of which some may not have been captured, with a space after them.
func atLeast(lacks bool) string {
	if lacks {
		return "at least "
	}
	return ""
}

// isSet reports whether a point is a message.
func isSet(p track.Point) bool { return p.Frame != 0 }

var _ = add(diagnose.Rule{
	Code:     "evicted.lock_callback",
	Logs:     true,
	Severity: diagnose.Error,
	Noun:     "eviction",
	Summary:  "A server evicted a client that did not give back a lock.",
	Meaning: "A server asks for a lock with a blocking callback when another client needs it. The client must answer, write back what it " +
		"has cached under the lock, and cancel it. " +
		"If it does not in time, the server evicts it. " + evictionMeaning +
		"The rule looks for evicted clients with a blocking callback that was not answered, or was answered but not followed by a cancel, " +
		"while the target ran on.",
	Limits: evictionLimits + "Who waited for the lock is only known where its request is in the capture.",
	Next: "Find out why the client did not give the lock back: its console log at the time of the callback, whether it was reachable " +
		"(lshark diagnose --only tcp), whether its node was out of memory or suspended. " +
		"If many clients are evicted under load, compare ldlm_enqueue_min and at_max with how long writing back takes.",
	Thresholds: []*diagnose.Threshold{callbackPending},
	Samples:    []string{"evicted.pcap.zst"},
	Start:      startEvictedLockCallback,
})

var callbackPending = &diagnose.Threshold{Name: "callback pending", Value: float64(evictions.MinIgnored) / 1e9, Unit: "s",
	Reason: "Servers wait longer than that before they evict, even with the shortest timeouts. Where clients ping more often, the time between two pings is enough."}

func startEvictedLockCallback(r *diagnose.Reporter) diagnose.Hooks {
	known := factsOf(r)
	var list []*evictions.Eviction
	return diagnose.Hooks{Eviction: func(x *evictions.Eviction) {
		if x.Cause == evictions.LockCallback {
			r.Report(callbackFinding(known, x))
			if len(list) < maxRestarts {
				list = append(list, x)
			}
		}
	}, End: func() { // all clients that waited for the locks have been seen
		for _, x := range list {
			r.Report(callbackFinding(known, x))
		}
	}}
}

// waitersFor returns the waits for a lock.
func waitersFor(known *facts.Facts, handle uint64) []*facts.Wait {
	return slices.DeleteFunc(known.Waits(), func(w *facts.Wait) bool {
		return !slices.ContainsFunc(w.Blocked, func(b locks.Blocker) bool { return b.Handle == handle && handle != 0 })
	})
}

func callbackFinding(known *facts.Facts, x *evictions.Eviction) diagnose.Finding {
	f := evictionFinding(x)
	f.Suspects = evictionSuspects(x)
	if x.ByLog {
		f.Text = logText(jointEviction{x}.String(), x) + lossText(&x.Refused)
		proveEviction(x, &f)
		return f
	}
	first := &x.Locks[0]
	f.First = first.Callback.Sent.Time
	kept := facts.Span{From: f.First, To: x.Lost.Time}
	if !isSet(first.Callback.Answered) {
		excludePath(&f, known, x.Client, x.Server, kept)
		if isSet(x.Served) && x.Served.Time-f.First > x.Lost.Time-x.Served.Time { // for most of the time
			const answered = "the server answered another request of it, long after the callback"
			exclude(&f, atNode(x.Client), x.Served, answered)
			exclude(&f, onPath(x.Client, x.Server), x.Served, answered)
		}
	} else if mayBeCutOff(known, x, kept) {
		f.Suspects = append(f.Suspects, onPath(x.Client, x.Server), inLNet(x.Client, x.Server))
	}
	var b strings.Builder
	b.WriteString(jointEviction{x}.String() + ", which ")
	if isSet(first.Callback.Answered) {
		b.WriteString("answered the callback for its " + lockText(first.Lock) + ", but did not give the lock back")
	} else {
		b.WriteString("did not answer the callback for its " + lockText(first.Lock))
	}
	until := x.Lost.Time
	if x.Line != nil && x.Line.Time > first.Callback.Sent.Time {
		until = min(until, x.Line.Time)
	}
	b.WriteString(" within " + duration(until-first.Callback.Sent.Time) + jobText(first.Job))
	if more := len(x.Locks) - 1 + x.Dropped; more > 0 {
		b.WriteString("; it did not give back " + plural(more, "other lock") + " either")
	}
	b.WriteString(".")
	if w := writesBack(known, x, kept); w != nil {
		b.WriteString(" Its " + w.Operation.String() + " had no reply for " + duration(w.Length()) + ": it may not have been able to write back.")
		for _, p := range []diagnose.Place{onPath(x.Client, x.Server), inLNet(x.Client, x.Server), {Kind: diagnose.AtQueue, Node: x.Server},
			atThread(x.Server), atStorage(evictedFrom(x).Label(), x.Server)} {
			f.Suspects = withNew(f.Suspects, p, unlimited)
		}
		f.Prove(w.Request, "it sends %s", w.Operation)
	}
	f.Text = b.String() + waitText(known, x) + lossText(&x.Refused)
	f.CompareTime(callbackPending, first.End.Point.Time-first.Callback.Sent.Time)
	for i := range x.Locks {
		f.Locks = append(f.Locks, x.Locks[i].Handle)
	}
	for i := range x.Locks {
		l := &x.Locks[i]
		for _, w := range waitersFor(known, l.Handle) {
			f.Prove(w.Request, "%s asks for a lock that is in conflict", w.Client)
		}
		f.Prove(l.Callback.Sent, "callback for the %s", lockText(l.Lock))
		f.Prove(l.Callback.Answered, "the client answers it")
		if i == maxProvenLocks {
			break
		}
	}
	proveEviction(x, &f)
	tell(&f, known)
	return f
}

// writesBack returns a write of an evicted client to the same target that waited for most of a span, in which it kept a lock: it gives the lock back when
// all data under it are written.
func writesBack(known *facts.Facts, e *evictions.Eviction, s facts.Span) *facts.Wait {
	for _, w := range known.Waits() {
		sameTarget := w.Target.Label() == evictedFrom(e).Label() || !w.Target.IsKnown()
		if w.Opcode == opcodes.OST_WRITE && w.Client == e.Client && w.Server == e.Server && sameTarget && min(w.To, s.To)-max(w.From, s.From) > s.Length()/2 {
			return w
		}
	}
	return nil
}

// mayBeCutOff reports whether what an evicted client sent within a span, or a reply to it, may not have come: bytes are missing or were sent again, or
// the client connected again before a request was refused, as it does without a reply.
func mayBeCutOff(known *facts.Facts, e *evictions.Eviction, s facts.Span) bool {
	client, server := facts.HostOf(e.Client), facts.HostOf(e.Server)
	return !e.HasLostBy || known.LacksIn(client, server, s) || known.DisturbedIn(client, server, s)
}

// maxProvenLocks leaves room for the evidence of the eviction itself.
const maxProvenLocks = 1

// waitText returns a sentence about who waited for the locks, with a space before it;
// empty when that is unknown.
func waitText(known *facts.Facts, x *evictions.Eviction) string {
	var who []lnet.NID
	var jobs jobList
	var longest int64
	for i := range x.Locks {
		for _, w := range waitersFor(known, x.Locks[i].Handle) {
			longest = max(longest, w.Length())
			who = withNew(who, w.Client, unlimited)
			jobs.add(w.Job)
		}
	}
	if len(who) == 0 {
		return ""
	}
	return " " + nodes(who) + jobText(only(jobs)) + " waited for it for " + duration(longest) + "."
}

var _ = addEviction(evictions.Silence, true, diagnose.Rule{
	Code:    "evicted.silence",
	Summary: "A server evicted a client from which it had heard nothing for long.",
	Meaning: "An idle client pings each of its targets, so that the server knows that it is alive. A server evicts a client from which " +
		"nothing came for several ping intervals, six by default. " + evictionMeaning +
		"The rule looks for evicted clients that got no reply from the target for that long before they found out, and that no callback or " +
		"restart explains.",
	Limits: evictionLimits + "It reports nothing where parts of the time in question were not captured. Somebody may have evicted the " +
		"silent client by hand.",
	Next: "Find out where the client was: suspended, crashed, hung, or cut off from the network (lshark diagnose --only tcp; lctl ping " +
		"from both sides). " +
		"Other clients that were silent at the same time point to a switch, or to the server's link.",
	Thresholds: []*diagnose.Threshold{leastSilence, silentPings},
	Samples:    []string{"evicted_ping.pcap.zst"},
}, func(j jointEviction, f *diagnose.Finding) {
	silence, _, begunBefore := j.silence()
	if f.Prove(j[0].Served, "the last reply that the client got before"); j[0].Kind == "mgc" {
		f.Text = j.String() + ": it did not know " + them(len(j.clients())) + " any more after " + atLeastTime(begunBefore, silence) +
			" without a reply. It was restarted meanwhile, or had heard nothing from " + them(len(j.clients())) + " for long."
		return
	}
	for _, e := range j {
		f.First = min(f.First, e.Lost.Time-e.Silence)
	}
	f.Text = j.String() + " after " + they(len(j)) + " had heard nothing from it for long: the client got no reply for " +
		atLeastTime(begunBefore, silence) + " before it found out"
	e := j[0]
	f.CompareTime(leastSilence, e.Silence)
	if e.Interval != 0 {
		f.Text += ", though it pings about every " + duration(e.Interval)
		f.Compare(silentPings, float64(e.Silence)/float64(e.Interval))
	}
	f.Text += "."
})

var (
	leastSilence = &diagnose.Threshold{Name: "silence", Value: float64(evictions.MinSilence) / 1e9, Unit: "s",
		Reason: "Servers evict after six pings by default, which are at least five seconds apart. Where they are closer, the time of five pings is enough."}
	silentPings = &diagnose.Threshold{Name: "silence in ping intervals", Value: evictions.MinSilentPings, Unit: "pings",
		Reason: "The number after which servers evict can be set, but not below this."}
)

var _ = addEviction(evictions.Recovery, false, diagnose.Rule{
	Code:    "evicted.recovery",
	Summary: "A client was evicted because it did not recover in time from the restart of a target.",
	Meaning: "A target that is started again waits for the clients that it had: each connects, and replays what the server may have lost. " +
		"Clients that do not finish before the recovery ends are evicted. " + evictionMeaning +
		"The rule looks for evicted clients whose target was restarted meanwhile: it grants another instance than before, it was not there " +
		"when the client tried, or the client had begun to recover. " +
		"The MGS has no recovery: clients that it does not know any more are evicted, which costs them nothing.",
	Limits: evictionLimits + "Why a client was late is not always in the capture. A target that is mounted with abort_recov has no " +
		"recovery at all.",
	Next: "lshark recovery shows who came back when. Compare the recovery window of the target (recovery_time_soft, recovery_time_hard) " +
		"with how long its failover takes, and look why this client came late: " +
		"its console log, its list of server nodes, its network.",
	Samples: []string{"missed_recovery.pcap.zst", "no_recovery.pcap.zst"},
}, func(j jointEviction, f *diagnose.Finding) {
	e := j[0]
	restarted := evictedFrom(e).String() + " was restarted" + instanceText(e.Before, e.Instance)
	switch {
	case e.Kind == "mgc":
		f.Text = restarted + ", and " + e.Client.String() + " connected to it anew."
	case isSet(e.Recovering):
		f.Text = restarted + ". " + e.Client.String() + " connected during the recovery, but did not finish it, and was evicted " +
			duration(e.At.Time-e.Recovering.Time) + " later."
	case isSet(e.Absent) && e.At.Time-e.Absent.Time < shortestWindow.Nanoseconds():
		f.Text = restarted + ". " + e.Client.String() + " connected " + atMostTime(e.IsLossy, e.At.Time-e.Absent.Time) +
			" after the server had said that it does not have the target, found no recovery, and was evicted."
		f.Next = "Find out how the target was started: umount -f, mount -o abort_recov, a script of the HA software; the console log of its " +
			"server shows it. Applications of the client must check what they wrote last."
	default:
		f.Text = restarted + ". " + e.Client.String()
		if isSet(e.Served) {
			f.Text += ", which had its last reply " + duration(e.At.Time-e.Served.Time) + " before,"
		}
		f.Text += " found no recovery (it was over, or there was none), and was evicted."
	}
	f.Prove(e.Served, "the last reply that the client got before")
	f.Prove(e.Absent, "the server does not have the target")
	f.Prove(e.Recovering, "the target is in recovery")
})

var _ = addEviction(evictions.Version, true, diagnose.Rule{
	Code:    "evicted.version",
	Summary: "A client was evicted because what it replayed after a restart did not fit what is on disk.",
	Meaning: "After a restart, each replayed request has the versions of the objects that it changes. If one of these has been changed " +
		"without it, because another client did not come back to replay its part, the server refuses the replay with EOVERFLOW, and the " +
		"client loses the rest. " + evictionMeaning +
		"The rule looks for evicted clients with such a refusal since they lost the target.",
	Limits: evictionLimits,
	Next: "lshark recovery shows which client did not come back: its lost changes are what the others depended on. Applications of this " +
		"client must check what they wrote since the last commit.",
	Samples: []string{"rolled_back.pcap.zst"},
}, func(j jointEviction, f *diagnose.Finding) {
	mismatches := 0
	for _, e := range j {
		mismatches += e.Mismatches
	}
	f.Text = j.String() + " in recovery: " + plural(mismatches, "replayed request") + " did not fit the versions of the objects on " +
		"disk (EOVERFLOW), because changes on which they depend were lost."
	f.Prove(j[0].Recovering, "the target is in recovery")
	f.Prove(j[0].Mismatch, "a replayed request is refused with EOVERFLOW")
})

var _ = addEviction(evictions.Denied, false, diagnose.Rule{
	Code:    "evicted.denied",
	Summary: "A client lost a target because the server does not accept it any more.",
	Meaning: "A client that connects again, and is refused with EACCES or EROFS, gives up the target: for its applications that is an eviction. " + evictionMeaning +
		"The rule looks for such refusals of clients that were connected before.",
	Limits: "What the server was told is not in the capture: a changed nodemap, a changed security flavor and a read-only target look alike.",
	Next: "Look at the server's console log, and at what was changed before: lctl get_param nodemap.*, the flavors in lctl get_param " +
		"*.*.srpc_info, and whether the target is mounted read-only.",
}, func(j jointEviction, f *diagnose.Finding) {
	e := j[0]
	f.Text = evictedFrom(e).String() + " does not accept " + e.Client.String() + " any more: it refused to connect it again with " +
		errorName(e.Status) + ", " + errnoText(e.Status) + ". The client has given up the target."
	f.Prove(e.At, "the connect is refused with %s", errorName(e.Status))
})

var _ = addEviction(evictions.Admin, false, diagnose.Rule{
	Code:    "evicted.admin",
	Summary: "An administrator evicted a client.",
	Meaning: "An administrator can evict a client, with lctl set_param *.*.evict_client=UUID or nid:NID. " + evictionMeaning +
		"Nothing but the log of the server shows that, by a line with the words \"administrative request\": the rule needs this log, beside " +
		"the capture (--log) or alone.",
	Limits: "Who did it, and why, is not in the log.",
	Next: "Ask those who may do it. If nobody did, look at what watches the file system: scripts that evict clients which a scheduler " +
		"has given up.",
}, nil)

var _ = addEviction(evictions.Unknown, true, diagnose.Rule{
	Code:    "evicted.unknown",
	Summary: "A server evicted a client, and the capture does not show why.",
	Meaning: "The client had to connect anew: the server did not know it any more, although the target ran on as far as the capture shows. " + evictionMeaning +
		"The rule reports evictions for which no other rule found a cause: no callback was ignored for long, the client was not silent for long, and " +
		"no restart was seen. " +
		"For a connection to the MGS it is a note, because nothing is lost with it. An administrator who evicts a client (lctl set_param " +
		"*.*.evict_client=UUID) leaves no other trace on the network.",
	Limits:  evictionLimits + "The cause may have been before the capture began, or in a part that was not captured.",
	Next:    "Look at the server's console log at that time: it has the reason for each eviction.",
	Samples: []string{"evicted_by_hand.pcap.zst", "recovery.pcap.zst", "rolled_back.pcap.zst"},
}, func(j jointEviction, f *diagnose.Finding) {
	e := j[0]
	f.Prove(e.Served, "the last reply that the client got before")
	if e.Kind == "mgc" {
		f.Text = e.Server.String() + " did not know the connection of " + nodes(j.clients()) + " to the MGS any more: the MGS was restarted, " +
			"or evicted it. It reads the configuration again."
		if n := len(j.clients()); n > 1 {
			f.Text = e.Server.String() + " did not know the connections of " + nodes(j.clients()) + " to the MGS any more: the MGS was " +
				"restarted, or evicted them. They read the configuration again."
		}
		return
	}
	f.Text = j.String() + "."
	shortest, longest, begunBefore := j.silence()
	switch {
	case slices.ContainsFunc(j, func(e *evictions.Eviction) bool { return e.IsLossy }):
		f.Unexplained = " The capture lacks bytes that were sent between both, in which the cause may be."
		return
	case begunBefore:
		f.Unexplained = " The capture begins too late to show why."
		return
	}
	noCallback := "no callback was ignored"
	if at := slices.IndexFunc(j, func(e *evictions.Eviction) bool { return e.Recent != nil }); at >= 0 {
		noCallback += " for long"
		f.Prove(j[at].Recent.Callback.Sent, "a callback for a lock, which the client had not given back by then")
	}
	f.Unexplained = " The capture does not show why: " + noCallback + ", and no restart was seen"
	switch {
	case shortest == 0:
		f.Unexplained += "."
		return
	case len(j.clients()) > 1:
		f.Unexplained += " since each had its last reply, at most " + roundedUp(longest) + " before."
	case len(j) > 1:
		f.Unexplained += " since the client had its last reply from each of them, at most " + roundedUp(longest) + " before."
	default:
		f.Unexplained += " since the client had its last reply, " + duration(shortest) + " before."
	}
	f.Unexplained += sentence(they(len(j.clients()))) + " may have been evicted by hand"
	if slices.ContainsFunc(j, func(e *evictions.Eviction) bool { return e.IsEarly }) {
		f.Unexplained += ", or for a callback or a recovery from before the capture"
	}
	f.Brief = f.Text + f.Unexplained + ": the console log of the server has the reason."
	f.Unexplained += "."
})
