package rules

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/opcodes"
)

// troubles are the groups of waits, of silences and of slow requests that the rules of addTrouble report. They are found once, at the end of
// the capture, and those of waits and silences now and then in a live one.
type troubles struct {
	report  *diagnose.Reporter
	facts   *facts.Facts
	judge   suspects.Judge
	outages []*recovery.Recovery
	evicted []*evictions.Eviction
	groups  []*suspects.Group
	at      int64 // time of groups
}

func newTroubles(r *diagnose.Reporter) (*troubles, diagnose.Hooks) {
	t := &troubles{report: r, facts: facts.New()}
	t.judge = suspects.Judge{Facts: t.facts, NIDOf: func(a netip.Addr) lnet.NID { return hostNID(r.Paths(), a) }, OnlyLogs: t.report.OnlyLogs(), Unexplained: t.unexplained}
	h := t.facts.Hooks()
	h.Recovery = func(v *recovery.Recovery) {
		if len(t.outages) < maxRestarts && (v.Kind.IsOutage() || mgsClient(t.facts, v) != nil) {
			t.outages = append(t.outages, v)
		}
	}
	h.End = func() {
		slow := t.judge.Slow()
		suspects.Narrow(t.list(), slow)
		t.groups = append(t.groups, slow...)
	}
	h.Eviction = func(e *evictions.Eviction) {
		if len(t.evicted) < maxRestarts {
			t.evicted = append(t.evicted, e)
		}
	}
	return t, h
}

// addTrouble registers a rule about the groups of waits and silences that belongs takes; nil: those that no other rule takes.
func addTrouble(rule diagnose.Rule, belongs func(*suspects.Group) bool, describe func(*troubles, *suspects.Group, *diagnose.Finding)) bool {
	return addGroups(rule, troubleRule{false, belongs}, func(t *troubles, g *suspects.Group) diagnose.Finding {
		f := t.finding(g, rule.Severity)
		describe(t, g, &f)
		return f
	})
}

func addGroups(rule diagnose.Rule, of troubleRule, finding func(*troubles, *suspects.Group) diagnose.Finding) bool {
	troubleRules = append(troubleRules, of)
	number := len(troubleRules) - 1
	rule.Logs = true
	if rule.Severity == diagnose.Error {
		rule.Thresholds = append(rule.Thresholds, hangTime)
	}
	rule.Start = func(r *diagnose.Reporter) diagnose.Hooks {
		t := diagnose.Shared(r, newTroubles)
		report := func(until int64) {
			for _, g := range t.list() {
				if ruleOf(g) != number || lastOf(g) > until || t.isToldByEvictions(g) {
					continue
				}
				r.Report(finding(t, g))
			}
		}
		return diagnose.Hooks{Tick: func(now int64) { report(now - livePause) }, End: func() { report(math.MaxInt64) }}
	}
	return add(rule)
}

// isToldByEvictions reports whether all waits of a group are for replies to callbacks that led to evictions: the findings about the evictions tell of
// them.
func (t *troubles) isToldByEvictions(g *suspects.Group) bool {
	return !isSlow(g) && !slices.ContainsFunc(g.Troubles, func(x *suspects.Trouble) bool {
		return x.Wait == nil || !slices.ContainsFunc(t.evicted, func(e *evictions.Eviction) bool { return ledTo(x.Wait, e) })
	})
}

// ledTo reports whether a wait is for the reply to a callback, and the client was evicted since it did not come. Logs do not say which lock a
// callback was for.
func ledTo(w *facts.Wait, e *evictions.Eviction) bool {
	if w.Request.IsLog() {
		return e.Cause == evictions.LockCallback && e.Line != nil && w.Opcode == opcodes.LDLM_BL_CALLBACK && w.Client == e.Server && w.Server == e.Client &&
			w.From < e.Line.Time && e.Line.Time < w.To+int64(time.Second)
	}
	return slices.ContainsFunc(e.Locks, func(l evictions.IgnoredLock) bool { return l.Callback.Sent == w.Request && !isSet(l.Callback.Answered) })
}

// maxRequests is how many of its requests a finding has, by which lines of logs about them find their cause.
const maxRequests = 1 << 6

const longestRecovery = int64(900e9) // the default of recovery_time_hard

// troubleRule says which groups a rule is about.
type troubleRule struct {
	slow    bool                       // those of slow requests, not of waits and silences
	belongs func(*suspects.Group) bool // nil: all that no other rule takes
}

// troubleRules decide which rule a group belongs to: the first one that takes it.
var troubleRules []troubleRule

func ruleOf(g *suspects.Group) int {
	at := slices.IndexFunc(troubleRules, func(x troubleRule) bool {
		return x.slow == isSlow(g) && x.belongs != nil && g.Follows == nil && x.belongs(g)
	})
	if at < 0 {
		at = slices.IndexFunc(troubleRules, func(x troubleRule) bool { return x.slow == isSlow(g) && x.belongs == nil })
	}
	return at
}

// isSlow reports whether a group is of slow requests.
func isSlow(g *suspects.Group) bool { return g.Troubles[0].Slow != nil }

// livePause is how long nothing more of a group must have happened before it is reported in a live capture.
const livePause = int64(30e9)

// lastOf returns when something has happened last of what a group is about. That a request is given up is the last that its log tells.
func lastOf(g *suspects.Group) (last int64) {
	for _, t := range g.Troubles {
		if w := t.Wait; w != nil && w.Open && w.GaveUp != debuglog.NoReason {
			last = max(last, w.Request.Time)
		} else {
			last = max(last, t.Span.To)
		}
	}
	return last
}

// list returns the groups of all waits and silences up to the last message.
func (t *troubles) list() []*suspects.Group {
	if now := t.facts.Now(); t.at != now {
		t.groups, t.at = t.judge.Groups(), now
	}
	return t.groups
}

// unexplained returns what of a wait was not because its target was gone, nil where all was: rules about restarts report that.
func (t *troubles) unexplained(w *facts.Wait) *facts.Wait {
	for _, e := range t.evicted {
		at := e.Lost.Time
		if e.Line != nil {
			at = min(at, e.Line.Time)
		}
		if w.Open && opcodes.IsCallback(w.Opcode) && w.Server == e.Client && w.Client == e.Server && w.From < at && at < w.To {
			w = w.Until(at) // the server asks it for no lock any more
		}
	}
	for _, v := range t.outages {
		from, until := v.Begin(), v.Completed.Time
		if v.GoneBy == recovery.SignLog { // the client has given up a request just before
			from -= inFlight
		}
		if last := v.LastReply.Time; last != 0 {
			from = min(from, last)
		}
		if until == 0 && !v.Back.IsZero() {
			until = v.Back.Time + longestRecovery
		}
		switch {
		case !mayBeAbout(v, w) || until != 0 && w.From >= until || max(w.To, w.Again.Time) <= from:
		case w.IsPing(): // it is a sign that the target is gone
			return nil
		case w.WasSentAgain(v.Begin()) && from-w.From >= facts.MinWait: // the target was there, and gave no reply
			w = w.Until(from)
			w.AtLeast = !w.Open // the target is back before it ends
		default:
			return nil
		}
	}
	return w
}

// mayBeAbout reports whether a target that was lost is that of a wait. Where a name is not known, all of the server
// may be.
func mayBeAbout(v *recovery.Recovery, w *facts.Wait) bool {
	switch {
	case v.Target != "" && w.Target.Name != "":
		return v.Target == w.Target.Name
	case v.Target != "" && w.Target.Index != "" && !strings.HasSuffix(v.Target, "-"+w.Target.Index):
		return false
	}
	return v.Server == w.Server || v.ServerBefore == w.Server
}

// troubleSum is what the RPCs of a group have in common.
type troubleSum struct {
	waits    []*facts.Wait
	silences []*suspects.Trouble
	clients  []lnet.NID
	servers  []lnet.NID
	targets  []string
	named    []lnet.NID // servers of these
	unnamed  []lnet.NID // servers of targets without a name, and who was asked for locks
	jobs     jobList
	counts   operationCounts
	open     int   // number of waits without a reply
	lastOpen int64 // time when the last of these ended
	atLeast  bool  // some waited longer than is known
	hangs    bool  // one of these is not just a ping that its client gave up
	longest  *facts.Wait
}

func sumOf(g *suspects.Group) troubleSum {
	s := troubleSum{counts: make(operationCounts)}
	for _, t := range g.Troubles {
		w := t.Wait
		if w == nil {
			s.silences = append(s.silences, t)
			continue
		}
		s.waits = append(s.waits, w)
		s.counts[w.Opcode]++
		s.clients, s.servers = withNew(s.clients, w.Client, maxNames), withNew(s.servers, w.Server, maxNames)
		label := w.Target.Label()
		if opcodes.IsCallback(w.Opcode) || label == "" {
			s.unnamed = withNew(s.unnamed, w.Server, maxNames)
		} else if s.named = withNew(s.named, w.Server, maxNames); !slices.ContainsFunc(s.targets, func(name string) bool { return strings.HasSuffix(name, "-"+label) }) {
			s.targets = slices.DeleteFunc(s.targets, func(index string) bool { return strings.HasSuffix(label, "-"+index) }) // the same one
			s.targets = withNew(s.targets, label, maxNames)
		}
		s.jobs.add(w.Job)
		s.atLeast = s.atLeast || w.AtLeast || w.SentBefore
		if w.Open && !w.AtLeast {
			s.open++
			s.lastOpen = max(s.lastOpen, w.To)
			s.hangs = s.hangs || !w.IsPing() || w.GaveUp == debuglog.NoReason
		}
		if s.longest == nil || w.Length() > s.longest.Length() {
			s.longest = w
		}
	}
	return s
}

// finding returns a finding about a group, with what waited as its text. worst is the severity of the rule.
func (t *troubles) finding(g *suspects.Group, worst diagnose.Severity) diagnose.Finding {
	s := sumOf(g)
	f := diagnose.Finding{First: g.From, Last: g.To, Count: int64(len(s.waits) + len(s.silences)), Suspects: g.Suspects, Cleared: g.Cleared}
	f.Client, f.Server = only(s.clients), only(s.servers)
	if !slices.ContainsFunc(s.waits, func(w *facts.Wait) bool { return !opcodes.IsCallback(w.Opcode) }) { // which servers send
		f.Client, f.Server = f.Server, f.Client
	}
	if len(s.waits) > 0 {
		f.Target, f.TargetIndex = oneTarget(s.waits)
		nameTarget(&f)
		f.Job = only(s.jobs)
		f.Wait = s.longest.Length()
		f.Text = s.text(t.facts.Now())
		if w := s.longest; w.SentBefore {
			f.Prove(w.Request, "%s sends %s again, which it has sent before", w.Client, w.Operation)
		} else if w.GaveUp == debuglog.NoReason || w.Request.Time <= w.From { // the line of a request that was given up comes later
			f.Prove(w.Request, "%s sends %s", w.Client, w.Operation)
		} else {
			f.Prove(w.Request, "%s gives up %s, which it sent %s before", nameOf(w.Client, w.Request), w.Operation, duration(w.Request.Time-w.From))
			f.Prove(w.Again, "it is connected again")
		}
		if n := len(s.longest.Sends); n > 1 {
			f.Prove(s.longest.Before, "a reply to it")
			if again := s.longest.Sends[n-1].Point; !again.IsLog() { // logs say when, but not in which line
				f.Prove(again, "it sends it again")
			}
		}
		if len(s.longest.Early) > 0 {
			f.Prove(s.longest.Early[0], "%s asks for more time", s.longest.Server)
		}
		end := "the reply"
		if s.longest.Lock {
			end = "the lock is granted"
		}
		f.Prove(s.longest.Reply, "%s, %s after the request", end, duration(s.longest.Length()))
	}
	if a, b, ok := endsOf(g.Suspects); ok && (f.Client.Len == 0 || f.Server.Len == 0) {
		f.Client, f.Server = t.roles(&s, a, b)
	}
	for _, x := range s.silences {
		f.Node = x.To
		f.Prove(x.Silence.First, "%s sends bytes to %s again that were not acknowledged", x.From, x.To)
		f.Prove(x.Silence.Last, "the last of %d times", x.Silence.Again)
	}
	if n := onlyNode(g.Suspects); n.Len > 0 {
		f.Node = n
		switch {
		case f.Client.Len > 0 || f.Server.Len > 0:
		case slices.ContainsFunc(s.waits, func(w *facts.Wait) bool { return w.Client == f.Node && !opcodes.IsCallback(w.Opcode) }),
			!isServer(t.report, f.Node) && slices.ContainsFunc(s.silences, func(x *suspects.Trouble) bool { return isServer(t.report, x.From) }):
			f.Client = f.Node
		default:
			f.Server = f.Node
		}
	}
	for _, w := range s.waits {
		f.Requests = withNew(f.Requests, diagnose.Request{Server: w.Server, XID: w.XID, From: w.From, To: w.To}, maxRequests)
		for i := range w.Blocked {
			f.Locks = withNew(f.Locks, w.Blocked[i].Handle, maxNames)
		}
	}
	f.Severity = diagnose.Warning
	if s.hangs && worst == diagnose.Error {
		if f.CompareTime(hangTime, f.Wait); f.Wait >= hangTime.Nanoseconds() {
			f.Severity = diagnose.Error
		}
	}
	if f.Key = keyOf(g); g.Follows != nil {
		f.Follows = keyOf(g.Follows)
	}
	f.WouldTell = wouldTell(t.facts, g)
	return f
}

func keyOf(g *suspects.Group) string { return fmt.Sprint(g.Suspects, g.From, g.Follows != nil) }

// onlyNode returns the node that the cause is in, or the network to it.
func onlyNode(list []diagnose.Place) (n lnet.NID) {
	for _, p := range list {
		if p.IsBetween() || p.Kind != diagnose.AtNode && p.Kind != diagnose.AtPath || n.Len > 0 && p.Node != n {
			return lnet.NID{}
		}
		n = p.Node
	}
	return n
}

// endsOf returns the nodes between which the cause is, if it is between two.
func endsOf(list []diagnose.Place) (a, b lnet.NID, ok bool) {
	for _, p := range list {
		switch {
		case !p.IsBetween() && p.Node != a && p.Node != b, p.IsBetween() && ok && (p.Node != a || p.Peer != b):
			return a, b, false
		case p.IsBetween():
			a, b, ok = p.Node, p.Peer, true
		}
	}
	return a, b, ok
}

// roles returns which of two nodes is the client: it sends requests, or only the other one has targets, or it sends the bytes that are not acknowledged.
func (t *troubles) roles(s *troubleSum, a, b lnet.NID) (client, server lnet.NID) {
	asks := func(from, to lnet.NID) bool {
		return slices.ContainsFunc(s.waits, func(w *facts.Wait) bool {
			return w.Client == from && w.Server == to && !opcodes.IsCallback(w.Opcode)
		})
	}
	isClient := asks(a, b) && !asks(b, a)
	if !isClient && !asks(b, a) {
		if isClient = isServer(t.report, b); isClient == isServer(t.report, a) {
			isClient = slices.ContainsFunc(s.silences, func(x *suspects.Trouble) bool { return x.From == a })
		}
	}
	if isClient {
		return a, b
	}
	return b, a
}

var hangTime = &diagnose.Threshold{Name: "still waiting", Value: 10, Unit: "s", Reason: "an ordinary server answers earlier"}

func oneTarget(list []*facts.Wait) (name, index string) {
	first := list[0].Target
	for _, w := range list {
		if w.Target != first {
			return "", ""
		}
	}
	return first.Name, first.Index
}

// text describes what waited, when the input ended at a time.
func (s *troubleSum) text(end int64) string {
	to := nodes(s.servers)
	if len(s.targets) > 0 {
		names := slices.Clone(s.targets)
		for _, n := range s.unnamed {
			if !slices.Contains(s.named, n) {
				names = append(names, n.String())
			}
		}
		to = words(names)
	}
	upTo := "up to "
	if len(s.waits) == 1 {
		upTo = ""
	}
	text := fmt.Sprintf("%s of %s%s to %s (%s) waited %s%s", plural(len(s.waits), "RPC"), nodes(s.clients), jobsText(s.jobs), to, s.counts.text(operationText), upTo,
		duration(s.longest.Length()))
	if s.atLeast {
		text += " or longer"
	}
	switch {
	case s.open > 0 && s.lastOpen >= end:
		text += "; when the capture ended, " + ofThem(s.open, len(s.waits)) + " had no reply"
	case s.open > 0:
		text += "; " + ofThem(s.open, len(s.waits)) + " had no reply"
	}
	return text + "."
}

// wouldTell lists the captures and logs that would decide between the suspects of a group.
func wouldTell(f *facts.Facts, g *suspects.Group) (list []string) {
	if len(g.Suspects) < 2 {
		return nil
	}
	taken := f.TakenAt()
	capture := func(n lnet.NID) {
		if n.Len > 0 && !slices.Contains(taken, facts.HostOf(n)) {
			list = withNew(list, "capture of "+n.String(), maxNames)
		}
	}
	log := func(n lnet.NID) {
		if at := slices.IndexFunc(g.Suspects, func(p diagnose.Place) bool { return p.Kind == diagnose.AtNode && p.Node.Len > 0 }); n.Len == 0 && at >= 0 {
			n = g.Suspects[at].Node
		}
		if n.Len > 0 {
			if !f.HasLog(n, g.Span) {
				list = withNew(list, "log of "+n.String(), maxNames)
			}
		} else {
			list = withNew(list, "log of the server", maxNames)
		}
	}
	for _, p := range g.Suspects {
		switch p.Kind {
		case diagnose.AtPath, diagnose.AtLNet:
			capture(p.Node)
			capture(p.Peer)
		case diagnose.AtNode:
			capture(p.Node)
		case diagnose.AtQueue, diagnose.AtThread, diagnose.AtStorage, diagnose.AtTarget:
			log(p.Node)
		case diagnose.AtOtherServer, diagnose.AtHolder:
			for _, t := range g.Troubles {
				if t.Wait != nil {
					capture(t.Wait.Server)
				}
			}
		}
	}
	return list
}

// suspectsAre reports whether the suspects of a group are of some kinds only.
func suspectsAre(g *suspects.Group, kinds ...diagnose.PlaceKind) bool {
	return len(g.Suspects) > 0 && !slices.ContainsFunc(g.Suspects, func(p diagnose.Place) bool { return !slices.Contains(kinds, p.Kind) })
}

func onlySuspect(kind diagnose.PlaceKind) func(*suspects.Group) bool {
	return func(g *suspects.Group) bool { return len(g.Suspects) == 1 && g.Suspects[0].Kind == kind }
}

// excluded returns a sentence about what else it is not, by the places that a reader would think of first.
func excluded(g *suspects.Group, kinds ...diagnose.PlaceKind) string {
	var words []string
	for _, k := range kinds {
		for _, c := range g.Cleared {
			if c.Kind == k && len(words) < 2 {
				words = append(words, "It is not the "+c.Place.String()+": "+c.Text+".")
				break
			}
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ")
}
