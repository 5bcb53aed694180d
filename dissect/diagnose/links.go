package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
)

// causeOrder has the codes, or beginnings of codes, of findings that may be the cause of others: each
// may be the cause of those below it, and of those that are not in the list.
var causeOrder = []string{
	"node.fault",
	"node.injected",
	"node.restarted",
	"node.duplicate_address",
	"path.cut node.silent",
	"rdma.no_answer",
	"restart.together",
	"restart.rolled_back",
	"restart.no_recovery",
	"restart.target",
	"restart.unreachable target.stopped connect.not_up",
	"io.device io.error target.barrier",
	"lnet.reply_dropped",
	"lnet.lost rpc.reply_lost target.hung slow.target slow.queue slow.stuck slow.network tcp.round_trip tcp.retransmission rdma tcp.refused tcp.reset space.full",
	"gss.refused connect.denied connect.version node.not_on_wire",
	"evicted.lock_callback",
	"evicted",
	"lock.stuck",
	"recovery.late",
	"lnet.failed",
	"slow.wait slow.changed lock.wait",
	"mount.failed connect.unanswered",
}

// rank returns where a code is in causeOrder.
func rank(code string) int {
	at := slices.IndexFunc(causeOrder, func(list string) bool { return hasCode(list, code) })
	if at < 0 {
		return len(causeOrder)
	}
	return at
}

// evidenceOnly are findings that are no stories of their own where they follow from another one.
const evidenceOnly = "tcp.reset tcp.refused recovery.reconnect connect.unanswered slow.service slow.thread"

// symptoms are findings that may be the cause of evidence, and of what a log says of it, only.
const symptoms = "slow.wait slow.changed lock.wait mount.failed"

// aftermath is how many nanoseconds after the end of a cause its effects may begin: clients
// try again for a while, and find out what happened with their next request.
const aftermath = int64(30e9)

// link finds the cause of each finding: the first one in causeOrder whose suspects are what the finding is about, and
// that happened at the same time.
func link(list []*Finding) {
	for _, f := range list {
		f.rank = rank(f.Rule.Code)
	}
	causes := slices.DeleteFunc(slices.Clone(list), func(f *Finding) bool { return f.IsBackground() || f.rank == len(causeOrder) })
	slices.SortStableFunc(causes, func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.First, b.First))
	})
	for _, f := range list {
		f.Cause, f.Severity = nil, f.alone
	}
	for _, f := range list {
		if f.Rule.Noun != "" {
			f.Cause = f.findCause(causes)
		}
		f.Text = f.known
		switch {
		case f.Cause == nil:
			f.Text += f.Unexplained
		case hasCode(evidenceOnly, f.Rule.Code), hasCode("connect", f.Rule.Code) && f.isSaidByCause():
			f.Severity = Note
		}
	}
	for _, f := range list {
		f.Cleared = f.excluded
		for c := f.Cause; c != nil; c = c.Cause { // what the cause may be in is not excluded for what follows from it
			f.Cleared = slices.DeleteFunc(slices.Clone(f.Cleared), func(x Clearance) bool { return slices.ContainsFunc(c.Suspects, x.Place.isSame) })
		}
	}
}

// isSame reports whether two places are the same, as far as both say where they are.
func (p Place) isSame(q Place) bool {
	return p.Kind == q.Kind && (p.Node == q.Node || p.Node.Len == 0 || q.Node.Len == 0) && (p.Target == q.Target || p.Target == "" || q.Target == "") &&
		p.Peer == q.Peer
}

// findCause returns the cause of a finding, nil if there is none. A note and a symptom are causes of what is evidence only.
func (f *Finding) findCause(causes []*Finding) *Finding {
	if at := slices.IndexFunc(causes, func(c *Finding) bool { return sharesRequests(c, f) && f.Last >= c.First }); at >= 0 {
		return causes[at]
	}
	var cause *Finding
	for _, c := range causes {
		isCause := c.rank < f.rank && (c.alone > Note && !hasCode(symptoms, c.Rule.Code) || hasCode(evidenceOnly, f.Rule.Code))
		if isCause && (cause == nil || c.Rule.Code == cause.Rule.Code && f.isNearer(c, cause)) && c.explains(f) && f.happensWith(c) {
			cause = c
		}
	}
	if cause != nil {
		return cause
	}
	var sight *Finding // of several, the last one that had begun
	for _, c := range causes {
		if c != f && f.isAnotherSightOf(c) && !c.follows(f) && (sight == nil || c.First <= f.First && c.First > sight.First) {
			sight = c
		}
	}
	return sight
}

// isNearer reports whether a finding is rather of the time of a cause than of that of an earlier one: a target may be restarted twice.
func (f *Finding) isNearer(c, before *Finding) bool {
	return c.First-f.First < max(f.First-before.Last, 1)
}

func (f *Finding) follows(other *Finding) bool {
	for c := f; c != nil; c = c.Cause {
		if c == other {
			return true
		}
	}
	return false
}

// isAnotherSightOf reports whether a finding of the same rank, or of one above, is of the same story.
func (f *Finding) isAnotherSightOf(c *Finding) bool {
	switch {
	case f.Follows != "" && f.Follows == c.Key:
		return true
	case f.Rule.Code == "tcp.round_trip" && c.Rule == f.Rule: // from several hosts
		return isAt(f.Node, c.Node)
	case f.Rule.Code == "tcp.retransmission" && hasCode("tcp.round_trip slow.network", c.Rule.Code), f.Rule.Code == "slow.network" && c.Rule.Code == "tcp.round_trip":
		return c.alone >= f.alone && f.overlaps(c) && c.explains(f)
	case f.Rule.Code == "restart.target" && c.Rule.Code == "restart.rolled_back": // of another target of the same machine
		return isAt(f.Server, c.Server) && f.First < c.Last && c.First < f.Last
	case f.isLongestOf(c):
		return true
	case hasCode("io.device io.error", f.Rule.Code) && c.Rule.Code == "io.error": // by logs, which have names of targets: the worse one leads, or the first one
		isFirst := f.Rule != c.Rule || cmp.Or(cmp.Compare(c.alone, f.alone), cmp.Compare(f.First, c.First)) > 0
		return isFirst && (f.isAboutTarget(c) || c.isAboutTarget(f)) && f.overlaps(c)
	case f.Rule.Code == "io.device" && c.Rule == f.Rule: // by the log of a client
		return c.isAboutTarget(f) && c.Client.Len == 0 && f.Client.Len > 0 && f.overlaps(c)
	case f.Rule.Code == "mount.reported" && c.Rule.Code == "mount.failed": // by the log of the client
		return isAt(f.Client, c.Client) && (f.Server.Len == 0 || f.Server == c.Server) && f.Last >= c.First && f.happensWith(c)
	case f.Rule.Code == "restart.unreachable" && c.Rule.Code == "tcp.reset" && c.Brief != "": // both hosts went on
		return c.touchesPair(f) && f.happensWith(c)
	}
	return false
}

// isLongestOf reports whether a finding is about the longest waits of requests that were slow.
func (f *Finding) isLongestOf(c *Finding) bool {
	return hasCode("slow.wait slow.queue lock.wait target.hung", f.Rule.Code) && hasCode("slow.changed slow.target slow.network", c.Rule.Code) && f.overlaps(c) &&
		len(c.Suspects) == len(f.Suspects) && !slices.ContainsFunc(f.Suspects, func(p Place) bool { return !slices.ContainsFunc(c.Suspects, p.isSame) }) &&
		(c.Client == f.Client || c.Client.Len == 0) && (c.Server == f.Server || c.Server.Len == 0)
}

// overlaps reports whether two findings have a time in common.
func (f *Finding) overlaps(c *Finding) bool { return f.First <= c.Last && c.First <= f.Last }

// isAboutTarget reports whether two findings are about the same target, of which one may have the index only.
func (c *Finding) isAboutTarget(f *Finding) bool {
	if c.Target == "" {
		return false
	}
	return f.Target == c.Target || f.TargetIndex != "" && (c.Server.Len == 0 || f.Server == c.Server) && strings.HasSuffix(c.Target, "-"+f.TargetIndex)
}

// hasCode reports whether a code is in a list, or begins with one of its words and a dot.
func hasCode(list, code string) bool {
	for word := range strings.FieldsSeq(list) {
		if rest, ok := strings.CutPrefix(code, word); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}

// happensWith reports whether an effect began while its cause lasted, or soon after. Of a client or target that was
// gone, what it missed shows when it is back: it may have begun before.
func (f *Finding) happensWith(c *Finding) bool {
	const before = int64(5e9)                   // the first sign of the cause may be a later message
	if hasCode("target.stopped", f.Rule.Code) { // clients find out later
		return f.First <= c.Last && f.Last >= c.First-aftermath
	}
	if f.Rule.Code == "mount.reported" && f.Last < c.First && f.Last > c.First-before {
		return true // each try of a client that asks for its configuration has a line
	}
	if f.Last < c.First || f.First > c.Last+aftermath {
		return false
	}
	if hasCode("restart", c.Rule.Code) && hasCode("tcp", f.Rule.Code) {
		return f.First <= c.Last // a host that was restarted resets connections before its targets are back
	}
	if hasCode("evicted recovery connect lock restart node", f.Rule.Code) {
		return true
	}
	if f.Last > c.Last+aftermath && f.Wait < f.Last-f.First && hasCode("slow io metadata", f.Rule.Code) {
		return false // these sum up what happened again and again: there is more than this cause explains
	}
	if hasCode("evicted", c.Rule.Code) && hasCode("slow lock.wait", f.Rule.Code) {
		return f.First <= c.Last && (c.Rule.Code != "evicted.lock_callback" || f.Client != c.Client || f.Client.Len == 0) // until the eviction freed it
	}
	return f.First >= c.First-before
}

// isAt reports whether a finding is about a node.
func isAt(n, server lnet.NID) bool { return n.Len > 0 && n == server }

// explains reports whether a finding is about what the cause of another one is in: the same lock, a place that both
// suspect, or the target, node or nodes of all places that the cause may be in.
func (c *Finding) explains(f *Finding) bool {
	if hasCode("restart.together node.restarted", c.Rule.Code) && hasCode("evicted.silence", f.Rule.Code) && isAt(f.Client, c.Server) {
		return true // it was the server that was gone
	}
	if hasCode("tcp rdma", c.Rule.Code) && f.Rule.Code == "slow.changed" && slices.ContainsFunc(f.Suspects, func(p Place) bool {
		return p.Kind > AtLNet && !slices.ContainsFunc(c.Suspects, p.isSame)
	}) {
		return false // a network that is slow, too, need not be the reason
	}
	if f.isElsewhere() || hasCode("restart", c.Rule.Code) && hasCode(whileRunning, f.Rule.Code) && f.Target != "MGS" ||
		hasCode("evicted", c.Rule.Code) && hasCode(targetDown, f.Rule.Code) {
		return false
	}
	if sharesLock(c, f) || c.isOfTarget() && c.touchesTarget(f) {
		return true
	}
	isElsewhere := f.Server.Len > 0 && c.Server.Len > 0 && f.Server != c.Server // what a client is configured for is another server
	for _, p := range c.Suspects {
		if p.Kind == AtConfig && (!hasCode("mount", f.Rule.Code) || isElsewhere) {
			continue
		}
		if (p.Kind != AtNode || !c.isOfTarget() || hasCode("tcp", f.Rule.Code)) && p.isLocated() && slices.ContainsFunc(f.Suspects, func(q Place) bool {
			return q.isLocated() && (p.isSame(q) || p.Kind == AtThread && q.Kind == AtHolder && p.Node == q.Node)
		}) {
			return true
		}
	}
	if hasCode(judged, f.Rule.Code) && len(f.Suspects) > 0 && !hasCode(outages, c.Rule.Code) {
		return false // two faults at once are two stories
	}
	if c.isOfTarget() || hasCode("restart", f.Rule.Code) { // a restart follows from what its own suspects have only
		return false
	}
	located := 0
	for _, p := range c.Suspects {
		if !p.isLocated() {
			continue
		}
		located++
		if !p.touches(f) || p.Kind == AtConfig && isElsewhere {
			return false
		}
	}
	return located > 0
}

// judged are findings whose suspects have all that they may follow from, except for outages.
const (
	judged  = "slow lock.wait target.hung"
	outages = "node path restart evicted"
)

// whileRunning are evictions by a target that ran on.
const whileRunning = "evicted.unknown evicted.silence evicted.lock_callback"

// targetDown are refused connects to a target that does not run, or not yet, whoever the client is.
const targetDown = "connect.not_up connect.starting connect.recovering"

// isElsewhere reports whether the cause of a finding is known to be in none of the places of others, as that of an eviction by hand.
func (f *Finding) isElsewhere() bool {
	return len(f.Suspects) > 0 && !slices.ContainsFunc(f.Suspects, func(p Place) bool { return p.isLocated() })
}

// isOfTarget reports whether the cause is in a target, or in what serves it.
func (c *Finding) isOfTarget() bool {
	return slices.ContainsFunc(c.Suspects, func(p Place) bool { return p.Kind == AtTarget || p.Kind == AtStorage || p.Kind == AtThread })
}

// touchesTarget reports whether a finding is about the target of a cause, or about one without a name on its server.
func (c *Finding) touchesTarget(f *Finding) bool {
	switch {
	case f.Target == "MGS": // each file system has its own; it is stopped with the other targets of a node
		return isAt(f.Server, c.Server) && (c.Target == "MGS" || hasCode("restart", c.Rule.Code) && hasCode("evicted recovery.reconnect", f.Rule.Code))
	case f.Target != "" && (f.Target == c.Target || slices.Contains(c.Targets, f.Target)):
		return true
	case f.Target != "":
		unnamed := c.Target == "" && c.Targets == nil && c.TargetIndex == ""
		return unnamed && isAt(f.Server, c.Server) && hasCode(ofConnections, f.Rule.Code)
	case f.TargetIndex != "":
		return f.TargetIndex == c.TargetIndex && f.Server == c.Server || c.isAboutTarget(f)
	case len(f.Targets) > 0:
		return !slices.ContainsFunc(f.Targets, func(name string) bool { return name != c.Target && !slices.Contains(c.Targets, name) })
	}
	return isAt(f.Server, c.Server) && hasCode(ofConnections, f.Rule.Code)
}

// ofConnections are findings that may be about a target of a server of which the name is not known.
const ofConnections = "connect recovery restart evicted node.not_on_wire slow.thread"

func (c *Finding) touchesPair(f *Finding) bool {
	return slices.ContainsFunc(c.Suspects, func(p Place) bool { return p.Kind == AtPath && p.touches(f) })
}

// isLocated reports whether a place is one of which others can be found.
func (p Place) isLocated() bool {
	switch p.Kind {
	case AtApplication, AtAdmin, AtLoad, AtCapture:
		return false
	case AtHolder, AtOtherServer, AtConfig:
		return p.Node.Len > 0
	case AtPath, AtLNet: // whose other end is not known, others are not found
		return p.IsBetween()
	}
	return p.Node.Len > 0 || p.Target != ""
}

// touches reports whether a finding is about the node or the nodes of a place. It may be about all clients of a
// server. What a client is not allowed to do is the cause of mounts that fail, and of nothing else.
func (p Place) touches(f *Finding) bool {
	if p.Kind == AtConfig && !hasCode("mount", f.Rule.Code) {
		return false
	}
	if p.IsBetween() {
		ends := []lnet.NID{p.Node, p.Peer}
		return slices.Contains(ends, f.Server) && (f.Client.Len == 0 || f.Client != f.Server && slices.Contains(ends, f.Client))
	}
	return isAt(f.Node, p.Node) || isAt(f.Client, p.Node) || isAt(f.Server, p.Node)
}

// sharesRequests reports whether evidence is about requests that waited for a cause only.
func sharesRequests(c, f *Finding) bool {
	const near = int64(1e9)
	return len(f.Requests) > 0 && hasCode(evidenceOnly, f.Rule.Code) && !slices.ContainsFunc(f.Requests, func(r Request) bool {
		return !slices.ContainsFunc(c.Requests, func(o Request) bool {
			return o.Server == r.Server && (r.XID != 0 && o.XID == r.XID || r.XID == 0 && r.From < r.To && max(o.From-r.From, r.From-o.From, o.To-r.To, r.To-o.To) < near)
		})
	})
}

// sharesLock reports whether both are about a lock of the same server.
func sharesLock(a, b *Finding) bool {
	if a.Server != b.Server && (a.Target == "" || a.Target != b.Target) {
		return false
	}
	return slices.ContainsFunc(a.Locks, func(handle uint64) bool { return handle != 0 && slices.Contains(b.Locks, handle) })
}
